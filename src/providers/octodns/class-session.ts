/** The requests to a provider class of octoDNS. */
import type { DomainName } from '../../dns/domain-name.ts'
import { relativeName } from '../../dns/domain-name.ts'
import type { Ask, LoggedMessage } from '../bridge-session.ts'
import { ProviderError } from '../provider.ts'
import { type ClassZone, readClassRecords, UnreadableRecord } from './read-records.ts'

/** One RRset to store, as the class takes it; `data` is null for one to delete. */
export interface ClassChange {
  readonly name: DomainName
  readonly type: string
  readonly data: object | null
}

export interface ClassRules {
  /** The provider's name in the config. */
  readonly provider: string
  readonly className: string
  readonly servesApexNs: boolean
  /** Removes secrets from texts for messages. */
  readonly redact: (text: string) => string
}

export type LoggedZone = ClassZone & { readonly logs: readonly LoggedMessage[] }

export async function readClassZone(ask: Ask, zone: DomainName, rules: ClassRules): Promise<LoggedZone> {
  const { ok, items, logs } = await ask(`reading ${zone}`, { op: 'read', zone }, { key: 'records' })
  try {
    return { exists: ok['exists'] === true, ...readClassRecords(items, zone, rules), logs }
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error
    throw new ProviderError('provider-garbled', `${rules.provider}: reading ${zone}: ${rules.className} returned ${error.message}`)
  }
}

/** Changes a zone that was read in the same turn. */
export async function applyClassChanges(ask: Ask, zone: DomainName, changes: readonly ClassChange[]): Promise<readonly LoggedMessage[]> {
  const named = changes.map(({ name, type, data }) => ({ name: relativeName(name, zone), type, data }))
  return (await ask(`updating ${zone}`, { op: 'apply', zone, changes: named }, { changes: true })).logs
}
