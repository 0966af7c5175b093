import type { Diagnostic } from '../../src/base/diagnostic.ts'
import type { DomainName } from '../../src/dns/domain-name.ts'
import type { ResourceRecord } from '../../src/dns/record.ts'
import type { Ttl } from '../../src/dns/ttl.ts'
import type { Change, Plan, RecordChange, ZonePlan } from '../../src/plan/plan.ts'
import { countCalls } from '../../src/plan/plan-difference.ts'

/** `www.example.com. 300 A 192.0.2.1`; `-` for the zone's default TTL. */
export function recordOf(line: string): ResourceRecord {
  const [, name = '', ttl = '', type = '', data = ''] = /^(\S+) (\S+) (\S+) (.*)$/s.exec(line) ?? []
  return { name: name as DomainName, ttl: ttl === '-' ? null : (Number(ttl) as Ttl), type, data }
}

/** A change from the existing to the desired record, each as a line or null. */
export function changeOf(existingLine: string | null, desiredLine: string | null, more: Partial<RecordChange> = {}): RecordChange {
  const existing = existingLine === null ? null : recordOf(existingLine)
  const desired = desiredLine === null ? null : recordOf(desiredLine)
  const subject = desired ?? existing
  if (subject === null) throw new Error('a change of nothing')
  return {
    action: existing === null ? 'create' : desired === null ? 'delete' : 'update',
    subject: 'record',
    name: subject.name,
    type: subject.type,
    id: existing === null ? null : 7,
    existing,
    desired,
    fields: existing && desired ? (['name', 'ttl', 'data'] as const).filter((field) => existing[field] !== desired[field]) : [],
    call: 0,
    after: [],
    ...more,
  }
}

export function zoneOf(given: readonly Change[], more: Partial<ZonePlan> = {}): ZonePlan {
  const changes = given.map((change, call): Change => ({ ...change, call }))
  const kept = 10
  const gone = changes.filter(({ subject, existing }) => subject === 'record' && existing !== null).length
  const come = changes.filter(({ subject, desired }) => subject === 'record' && desired !== null).length
  return {
    zone: 'example.com.' as DomainName,
    target: 'cloud',
    exists: true,
    fingerprint: `sha256:${'0'.repeat(64)}`,
    records: { existing: kept + gone, desired: kept + come, unchanged: kept, unmanaged: 0, limit: 12_000 },
    changes,
    calls: countCalls(changes),
    refusals: [],
    rendered: 'match',
    diagnostics: [],
    ...more,
  }
}

export const planOf = (zones: readonly ZonePlan[], diagnostics: readonly Diagnostic[] = []): Plan => {
  return { created: '2026-01-02T03:04:05.000Z', tool: 'zonewright 0.1.0', zones, diagnostics }
}

/** Text that tries to control a terminal, forge lines, end code blocks, inject markup, mention users and command a runner. */
export const HOSTILE = [
  '\u001b[31mred\u001b]0;title\u0007',
  'two\nlines\r::error::forged',
  '::error file=x::forged',
  '##[error]forged',
  '\u202egnp.exe\u2066\u200f',
  '```\n</code></details><script>alert(1)</script>\n@everyone #1',
  '````````` <img src=x onerror=alert(1)> &lt;',
  'ends in \ud83d',
  '\u009b2J\u0085',
]
