/** Records that a provider class of octoDNS has read, in the terms of plans. */
import { isError, type SourcePosition } from '../../base/diagnostic.ts'
import { listed } from '../../base/english.ts'
import { compareText, excerpt } from '../../base/text.ts'
import { collectDiagnostics, newParseState } from '../../definition/parse/parse-state.ts'
import { readRecord } from '../../definition/parse/read-record.ts'
import { OCTODNS_TYPES } from '../../definition/print/octodns-value.ts'
import type { YamlNode, YamlScalar } from '../../definition/yaml/yaml-node.ts'
import { type DomainName, isAtOrBelow, parseDomainName } from '../../dns/domain-name.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import type { UnplannedRecord } from '../../dns/zone.ts'
import { compareRrsets } from '../../plan/changesets.ts'
import type { Message } from '../bridge-process.ts'

/** A zone as a class reads it. */
export interface ClassZone {
  readonly exists: boolean
  readonly records: readonly ResourceRecord[]
  readonly unplanned: readonly UnplannedRecord[]
}

/** Thrown for a record that no class of octoDNS reads. The message has words that follow "returned". */
export class UnreadableRecord extends Error {}

/** The names of `octodns:` that Zonewright keeps when it changes a record: they only say which checks octoDNS leaves out. */
const KEPT_SETTINGS: ReadonlySet<string> = new Set(['lenient'])

/** Maximum nesting of a value, and names of settings in a message. */
const MAX_DEPTH = 8
const MAX_LISTED = 3

const AT: SourcePosition = { file: '', line: 1, column: 1 }

/** The RRsets of a zone. `servesApexNs`: whether the apex NS records belong to the provider; `redact` removes secrets from texts for messages. */
export function readClassRecords(
  described: readonly unknown[],
  zone: DomainName,
  { servesApexNs, redact }: { readonly servesApexNs: boolean; readonly redact: (text: string) => string },
): Omit<ClassZone, 'exists'> {
  const records: ResourceRecord[] = []
  const unplanned: UnplannedRecord[] = []
  for (const one of described) {
    const { name, type, values, ...rrset } = shapeOf(one, zone, redact)
    if (servesApexNs && type === 'NS' && name === zone) continue
    const read = recordsOf({ name, type, values, ...rrset }, zone)
    if (typeof read !== 'string') records.push(...read)
    else
      unplanned.push({ name, type, data: excerpt(redact(values.map(plainText).join(', ')), 500), reason: redact(read), holdsRrset: true })
  }
  return { records, unplanned: unplanned.sort((a, b) => compareRrsets(a, b) || compareText(a.data, b.data)) }
}

interface DescribedRrset {
  readonly name: DomainName
  readonly type: string
  readonly ttl: unknown
  readonly values: readonly unknown[]
  /** The values as a node of a definition. */
  readonly node: YamlNode
  readonly settings: readonly string[]
  readonly isDynamic: boolean
  readonly problem: string | null
}

function shapeOf(value: unknown, zone: DomainName, redact: (text: string) => string): DescribedRrset {
  const { name, type, ttl, values, settings, dynamic, problem } = (value ?? {}) as Message
  if (typeof name !== 'string' || typeof type !== 'string' || !Array.isArray(values) || !Array.isArray(settings))
    throw new UnreadableRecord('a record without name, type or values')
  const owner = name === '' ? { ok: true as const, value: zone } : parseDomainName(name, zone)
  if (!owner.ok) throw new UnreadableRecord(`a record named ${JSON.stringify(excerpt(name, 300))}: ${owner.message}`)
  if (!isAtOrBelow(owner.value, zone)) throw new UnreadableRecord(`the record ${owner.value}, which is outside the zone`)
  return {
    name: owner.value,
    type: excerpt(type, 100),
    ttl,
    values,
    node: nodeOf(values, 0),
    settings: settings.map(String).filter((one) => !KEPT_SETTINGS.has(one)),
    isDynamic: dynamic === true,
    problem: typeof problem === 'string' ? redact(problem) : null,
  }
}

/** The records of an RRset, or why plans cannot contain it, in words that follow its name. */
function recordsOf({ name, type, ttl, node, settings, isDynamic, problem }: DescribedRrset, zone: DomainName): ResourceRecord[] | string {
  if (isDynamic) return 'answers differently by place or health (dynamic or geo of octoDNS)'
  if (!OCTODNS_TYPES.has(type)) return 'has a type that only octoDNS has'
  if (settings.length > 0) return `has settings of octoDNS (${listed(settings, MAX_LISTED)})`
  if (problem !== null) return `cannot be read by octoDNS (${excerpt(problem, 200)})`
  const problems = collectDiagnostics()
  const state = newParseState('octodns', zone, null, problems)
  const entries = [
    { key: quoted('type'), value: quoted(type) },
    { key: quoted('ttl'), value: nodeOf(ttl, 0) },
    { key: quoted('values'), value: node },
  ]
  readRecord({ kind: 'mapping', at: AT, entries }, { name, label: name, at: AT }, state)
  const error = problems.diagnostics.find(isError)
  if (error !== undefined) return `has data that no definition can have (${error.message.replace(/^[^:]*: /, '')})`
  return state.records.map(({ ttl: seconds, data }) => ({ name, type, ttl: seconds, data }))
}

const quoted = (text: string): YamlScalar => ({ kind: 'scalar', at: AT, text, plain: false })

/** A value of JSON as a node of a definition. */
function nodeOf(value: unknown, depth: number): YamlNode {
  if (depth > MAX_DEPTH) throw new UnreadableRecord('a value that is nested too deeply')
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return { kind: 'sequence', at: AT, items: value.map((item) => nodeOf(item, depth + 1)) }
  if (typeof value === 'object' && value !== null)
    return {
      kind: 'mapping',
      at: AT,
      entries: Object.entries(value).map(([key, below]) => ({ key: quoted(key), value: nodeOf(below, depth + 1) })),
    }
  return { kind: 'scalar', at: AT, text: String(value ?? ''), plain: true }
}

const plainText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
