/** The tables of single users. */
import type { Generated, Selectable } from 'kysely'

/** The data of single users. Secrets that must be read again are encrypted (see `secrets.ts`). */
export interface ProfileTables {
  readonly apps: AppsTable
  readonly trusted_devices: TrustedDevicesTable
  readonly logins: LoginsTable
  readonly ssh_keys: SshKeysTable
  readonly security_answers: SecurityAnswersTable
  readonly second_factors: SecondFactorsTable
  readonly phone_codes: PhoneCodesTable
  readonly preferences: PreferencesTable
}

/** An OAuth client that the user has authorised. Deleting it deletes its tokens. */
export interface AppsTable {
  id: Generated<number>
  user_id: number
  /** Identifies the OAuth client across users. */
  client: string
  label: string
  scopes: string
  website: string
  thumbnail_url: string | null
  created: string
  /** Null for access that does not expire. */
  expiry: string | null
}

/** A device that does not need the second factor. */
export interface TrustedDevicesTable {
  id: Generated<number>
  user_id: number
  created: string
  expiry: string
  last_authenticated: string
  last_remote_addr: string
  user_agent: string
}

export interface LoginsTable {
  id: Generated<number>
  user_id: number
  datetime: string
  ip: string
  /** Whether the user was restricted at the time. */
  restricted: number
  status: 'successful' | 'failed'
  username: string
  /** Identifies logins that are recorded once per day; null for seeded logins. */
  occasion: string | null
}

export interface SshKeysTable {
  id: Generated<number>
  user_id: number
  label: string
  ssh_key: string
  created: string
}

export interface SecurityAnswersTable {
  user_id: number
  question_id: number
  /** Encrypted. */
  response: string
}

export interface SecondFactorsTable {
  user_id: number
  /** The confirmed secret, encrypted; empty before confirmation. */
  secret: Generated<string>
  /** The unconfirmed secret, encrypted; empty for none. */
  pending: Generated<string>
  pending_expiry: Generated<string>
  /** The time step of the last accepted code (RFC 6238 section 5.2). Codes of this or an earlier step are rejected. */
  last_step: Generated<number>
  /** SHA-256 of the scratch code; empty after its use. */
  scratch_hash: Generated<string>
  /** Wrong codes since `failures_since`. */
  failures: Generated<number>
  failures_since: Generated<string>
}

/** A user verifies one phone number at a time. The row outlives its code as long as its messages count for the rate limit. */
export interface PhoneCodesTable {
  user_id: number
  /** E.164. */
  phone_number: string
  /** Encrypted; empty after its use. */
  code: string
  expiry: string
  failures: number
  /** Messages since `sent_since`. */
  sent: number
  sent_since: string
}

export interface PreferencesTable {
  user_id: number
  /** The OAuth client that the token belongs to; empty for personal access tokens. */
  client: string
  /** JSON. */
  body: string
}

export type AppRow = Selectable<AppsTable>
export type SecondFactorRow = Selectable<SecondFactorsTable>
export type PhoneCodeRow = Selectable<PhoneCodesTable>
