/** Parses the body of a profile update. */
import type { Updateable } from 'kysely'
import type { UserRow } from '../../store/account-store.ts'
import type { ShellAuthMethod, UsersTable } from '../../store/tables.ts'
import { parseEmail } from '../domains/name-input.ts'
import { forbidden } from '../grants.ts'
import { badRequest, type RequestProblem } from '../request-error.ts'
import { parseSshKey, SSH_KEY_PROBLEM } from './ssh-key.ts'

/** The body of an update request that its schema has accepted. */
export interface ProfileBody {
  readonly email?: string
  readonly email_notifications?: boolean
  readonly timezone?: string
  readonly restricted?: boolean
  readonly two_factor_auth?: boolean
  readonly ip_whitelist_enabled?: boolean
  readonly shell_auth_method?: ShellAuthMethod
  /** The clients' name; see `ALIAS_PROFILE_FIELDS`. */
  readonly lish_auth_method?: ShellAuthMethod
  readonly authorized_keys?: readonly string[] | null
}

/**
 * Returns the columns that an update changes: only the named fields, so concurrent updates do not undo each other. The second factor is handled
 * elsewhere. Throws 400 with every error, and 403 if a restricted user tries to lift the restriction.
 */
export function profileToUpdate(existing: UserRow, body: ProfileBody): Updateable<UsersTable> {
  if (body.restricted === false && existing.restricted !== 0) throw forbidden()
  const { timezone, authorized_keys } = body
  // A client that sends back what it has read sends both names, and has changed the one it knows.
  const method = [body.shell_auth_method, body.lish_auth_method].find(
    (value) => value !== undefined && value !== existing.shell_auth_method,
  )
  const email = body.email === undefined ? undefined : parseEmail(body.email)
  const problems: RequestProblem[] = []
  if (email === null) problems.push({ field: 'email', reason: 'email is not valid' })
  if (timezone !== undefined && !isTimeZone(timezone)) problems.push({ field: 'timezone', reason: 'timezone is not valid' })
  if (body.ip_whitelist_enabled && existing.ip_whitelist_enabled === 0)
    problems.push({ field: 'ip_whitelist_enabled', reason: 'ip_whitelist_enabled cannot be enabled' })
  if (body.two_factor_auth && existing.two_factor_auth === 0) {
    problems.push({ field: 'two_factor_auth', reason: 'Two-factor authentication can only be enabled with a code of the second factor.' })
  }
  const keys = authorized_keys?.map(parseSshKey)
  if (keys?.includes(null)) {
    problems.push({ field: 'authorized_keys', reason: SSH_KEY_PROBLEM })
  }
  if (problems.length > 0) throw badRequest(...problems)
  return {
    ...(email ? { email } : {}),
    ...(timezone === undefined ? {} : { timezone }),
    ...(method === undefined ? {} : { shell_auth_method: method }),
    ...(keys ? { authorized_keys: JSON.stringify(keys) } : {}),
    ...flag('email_notifications', body.email_notifications),
    ...flag('restricted', body.restricted),
    ...flag('ip_whitelist_enabled', body.ip_whitelist_enabled),
  }
}

const flag = (name: 'email_notifications' | 'restricted' | 'ip_whitelist_enabled', value: boolean | undefined): Updateable<UsersTable> =>
  value === undefined ? {} : { [name]: Number(value) }

/** Whether a text is a name of the IANA time zone database. */
export function isTimeZone(name: string): boolean {
  // Offsets such as +01:00 are not names.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
