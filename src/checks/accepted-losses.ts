/** The losses that `--lossy` accepts, and the records without which others may do more. */
import { parseTxtRdata } from '../dns/character-string.ts'
import type { ResourceRecord } from '../dns/record.ts'
import { isPolicyText } from './rules/value-rules.ts'

/**
 * The losses that `--lossy` accepts: none, all, or those with these names. All, or the name `''`, are those without which nobody may do more.
 */
export type AcceptedLosses = boolean | ReadonlySet<string>

export const acceptsAll = (accepted: AcceptedLosses): boolean => (typeof accepted === 'boolean' ? accepted : accepted.has(''))

/** Whether a loss with this name is accepted. One that restricts others must be named. */
export const acceptsLoss = (accepted: AcceptedLosses, name: string, restricts: boolean): boolean =>
  (typeof accepted !== 'boolean' && accepted.has(name)) || (acceptsAll(accepted) && !restricts)

/** Whether others may do more without the record: issue certificates (RFC 8659), or send mail in the name of the owner. */
export function isRestriction({ name, type, data }: Pick<ResourceRecord, 'name' | 'type' | 'data'>): boolean {
  const octets = type === 'TXT' && data.startsWith('"') ? parseTxtRdata(data) : null
  return type === 'CAA' || (octets !== null && isPolicyText(name, Buffer.from(octets).toString('latin1')))
}
