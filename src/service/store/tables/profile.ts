import type { Generated, Selectable } from 'kysely'

/** What belongs to one user alone. What must be read again, and nobody else may know, is sealed (see `secrets.ts`). */
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

/** An OAuth client that the user lets act. Its tokens go with it. */
export interface AppsTable {
  id: Generated<number>
  user_id: number
  /** What the OAuth client is known by, whoever authorises it. */
  client: string
  label: string
  scopes: string
  website: string
  thumbnail_url: string | null
  created: string
  /** Null for an access that lasts until it is taken away. */
  expiry: string | null
}

/** A session in which no second factor is asked for. */
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
  /** Whether the user was restricted then. */
  restricted: number
  status: 'successful' | 'failed'
  username: string
  /** What of a day is recorded once only; null for what is not of the service's own recording. */
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
  /** Sealed. */
  response: string
}

export interface SecondFactorsTable {
  user_id: number
  /** The secret that codes are of, sealed; empty before one has been confirmed. */
  secret: Generated<string>
  /** A secret that waits for its confirmation, sealed; empty for none. */
  pending: Generated<string>
  pending_expiry: Generated<string>
  /** The time step of the last code that was taken (RFC 6238 section 5.2): none of it or before is taken again. */
  last_step: Generated<number>
  /** SHA-256 of the scratch code; empty once it has been used. */
  scratch_hash: Generated<string>
  /** Wrong codes since `failures_since`. */
  failures: Generated<number>
  failures_since: Generated<string>
}

/** One number at a time is verified. The row outlives its code for as long as its messages count. */
export interface PhoneCodesTable {
  user_id: number
  /** E.164. */
  phone_number: string
  /** Sealed; empty for a code that is used up. */
  code: string
  expiry: string
  failures: number
  /** Messages since `sent_since`. */
  sent: number
  sent_since: string
}

export interface PreferencesTable {
  user_id: number
  /** The OAuth client of the acting token; empty for personal access tokens. */
  client: string
  /** JSON. */
  body: string
}

export type AppRow = Selectable<AppsTable>
export type SecondFactorRow = Selectable<SecondFactorsTable>
export type PhoneCodeRow = Selectable<PhoneCodesTable>
