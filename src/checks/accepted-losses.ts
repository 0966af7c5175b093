/** Which losses `--lossy` accepts, and which records restrict other people. */
import { parseTxtRdata } from '../dns/character-string.ts'
import type { ResourceRecord } from '../dns/record.ts'
import { isPolicyText } from './rules/value-rules.ts'

/** The losses that `--lossy` accepts: none, all, or the named ones. All, or the name `''`, does not include restrictions. */
export type AcceptedLosses = boolean | ReadonlySet<string>

export const acceptsAll = (accepted: AcceptedLosses): boolean => (typeof accepted === 'boolean' ? accepted : accepted.has(''))

/** Whether the loss with this name is accepted. The loss of a restriction must be named. */
export const acceptsLoss = (accepted: AcceptedLosses, name: string, restricts: boolean): boolean =>
  (typeof accepted !== 'boolean' && accepted.has(name)) || (acceptsAll(accepted) && !restricts)

/** Whether the record restricts who may issue certificates (RFC 8659) or send mail from the name. */
export function isRestriction({ name, type, data }: Pick<ResourceRecord, 'name' | 'type' | 'data'>): boolean {
  const octets = type === 'TXT' && data.startsWith('"') ? parseTxtRdata(data) : null
  return type === 'CAA' || (octets !== null && isPolicyText(name, Buffer.from(octets).toString('latin1')))
}
