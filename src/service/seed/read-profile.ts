import type { Updateable } from 'kysely'
import { isTimeZone } from '../api/profile/profile-input.ts'
import { readSshKey, SSH_KEY_PROBLEM } from '../api/profile/ssh-key.ts'
import type { ShellAuthMethod, UsersTable } from '../store/tables.ts'
import type { Tell } from './places.ts'

export interface ProfileEntry {
  readonly email_notifications?: boolean
  readonly timezone?: string
  readonly shell_auth_method?: ShellAuthMethod
  readonly authorized_keys?: readonly string[] | null
  readonly authentication_type?: 'password' | 'github'
  readonly ip_whitelist_enabled?: boolean
  readonly verified_phone_number?: string
}

/** The columns of a user that a seed gives values. */
export function readProfile(entry: ProfileEntry, tell: Tell): Updateable<UsersTable> {
  const { email_notifications, ip_whitelist_enabled, authorized_keys, ...texts } = entry
  if (texts.timezone !== undefined && !isTimeZone(texts.timezone)) tell(['timezone'], 'timezone is not valid')
  const keys = (authorized_keys ?? []).map((text, index) => {
    const key = readSshKey(text)
    if (key === null) tell(['authorized_keys', index], SSH_KEY_PROBLEM)
    return key
  })
  return {
    ...texts,
    ...(keys.length > 0 ? { authorized_keys: JSON.stringify(keys) } : {}),
    ...(email_notifications === undefined ? {} : { email_notifications: Number(email_notifications) }),
    ...(ip_whitelist_enabled === undefined ? {} : { ip_whitelist_enabled: Number(ip_whitelist_enabled) }),
  }
}
