import type { DomainName } from './domain-name.ts'
import type { Ttl } from './ttl.ts'
import type { ZoneSettings } from './zone.ts'

/** Words of a person, kept with what they are about. */
export interface ZoneComment {
  /** The owner it is about; null for a setting, and for the definition as a whole. */
  readonly name: DomainName | null
  /** One or more lines, without the sign that begins a comment. A number sign at the start of a line doubles that. */
  readonly text: string
  /** The RRset of the owner; with `data` that record of it. */
  readonly rrset?: { readonly type: string; readonly ttl: Ttl | null; readonly data?: string | undefined } | undefined
  readonly setting?: keyof ZoneSettings | undefined
  /** On lines of its own above where it is not said; `apart` with a blank line below; `behind` on the same line; `below`; at the `end` of all. */
  readonly place?: 'above' | 'apart' | 'behind' | 'below' | 'end' | undefined
}
