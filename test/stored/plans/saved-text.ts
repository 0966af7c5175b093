import { noSecrets } from '../../../src/base/secret-guard.ts'
import type { ExistingZone } from '../../../src/dns/zone.ts'
import type { ZonePlan } from '../../../src/plan/plan.ts'
import { checksumOf, signatureOf } from '../../../src/stored/plans/plan-json.ts'
import { savedPlanText } from '../../../src/stored/plans/saved-plan-text.ts'
import { ORIGIN, planOf } from '../../support/plan.ts'
import { desiredZone, existingZone } from '../../support/records.ts'

export const TARGET = { name: 'cloud', type: 'cloud', address: 'https://dns.example.net/v4' }

/** The text of a plan file with these zones. */
export const savedText = (zones: readonly { plan: ZonePlan; existing: ExistingZone | null }[], key: string | null = null): string =>
  savedPlanText(
    { created: '2026-01-02T03:04:05.000Z', tool: 'zonewright 0.1.0', zones, diagnostics: [], targets: [TARGET] },
    key,
    noSecrets(),
  )

const EXISTING = `
  @ MX 10 mail
  @ MX 20 backup
  mail A 192.0.2.1
  backup A 192.0.2.2
  www 300 A 192.0.2.3
  old CNAME www
  text TXT "a \\"quoted\\" text" "and another"`

const DESIRED = `
  @ MX 10 mail
  mail A 192.0.2.1
  www 3600 A 192.0.2.4
  www 3600 A 192.0.2.5
  old A 192.0.2.6
  text TXT "b"
  new AAAA 2001:db8::1`

/** A plan with creations, updates, deletions and order edges; the existing zone has an extra setting. */
export function samplePlan(): { plan: ZonePlan; existing: ExistingZone } {
  const existing = { ...existingZone(ORIGIN, EXISTING), settings: { type: 'master', soa_email: 'other@example.com', tags: ['a'] } } as const
  const plan = planOf('', '', { existing, desired: desiredZone(ORIGIN, DESIRED), allow: new Set(['updates']) })
  return { plan, existing }
}

// biome-ignore lint/suspicious/noExplicitAny: tests corrupt documents in ways that no type allows
export type Corruption = (document: any) => unknown

/** Changes a plan file and recomputes its checksum, and with a key its signature. */
export function resealed(text: string, corrupt: Corruption, key: string | null = null): string {
  const document = JSON.parse(text)
  const corrupted = (corrupt(document) ?? document) as object
  const signed = key === null ? corrupted : { ...corrupted, signature: signatureOf(corrupted, key) }
  return JSON.stringify({ ...signed, checksum: checksumOf(signed) })
}

/** Puts a value at a path such as `zones.0.target`. */
export const put =
  (path: string, value: unknown): Corruption =>
  (document) => {
    const steps = path.split('.')
    const last = steps.pop() as string
    const parent = steps.reduce((at, step) => at[step], document)
    parent[last] = value
  }
