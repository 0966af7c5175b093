import type { Updateable } from 'kysely'
import { parseEmail, parseZoneName } from '../api/domains/name-input.ts'
import { GLOBAL_GRANTS } from '../api/grants.ts'
import { isTimeZone } from '../api/profile/profile-input.ts'
import { parseSshKey, SSH_KEY_PROBLEM } from '../api/profile/ssh-key.ts'
import { isScopeList } from '../api/scopes.ts'
import type { GrantKind, Permissions, ShellAuthMethod, UsersTable } from '../store/tables.ts'
import type { SeedEntries, SeedGrant, SeedToken, SeedUser } from './seed.ts'
import { below, parseTimestamps, type ReportProblem } from './seed-problems.ts'

/** A user that the schema has accepted, without the keys of its parts. */
export interface UserEntry {
  readonly username: string
  readonly email: string
  readonly restricted?: boolean
  readonly tokens?: readonly TokenEntry[]
  readonly grants?: Grants
  readonly profile?: ProfileEntry
}

interface TokenEntry {
  readonly token: string
  readonly label?: string
  readonly scopes?: string
  readonly expiry?: string | null
}

type Grants = { readonly global?: Readonly<Record<string, boolean | Permissions | null>> } & {
  readonly [Kind in GrantKind]?: readonly { readonly domain?: string; readonly label?: string; readonly permissions: Permissions }[]
}

export function readUser(entry: UserEntry, objects: readonly SeedEntries[], report: ReportProblem): SeedUser {
  const { username, email, restricted = false, tokens = [], grants, profile = {} } = entry
  const address = parseEmail(email)
  if (address === null) report(['email'], 'not an email address')
  if (grants && !restricted) report(['grants'], 'an unrestricted user needs no grants')
  const { global = {}, ...byKind } = grants ?? {}
  const { account_access: access, ...flags } = global
  return {
    username,
    email: address ?? email,
    restricted,
    tokens: tokens.map((token, index) => readToken(token, (path, message) => report(['tokens', index, ...path], message))),
    accountAccess: (access ?? '') as '' | Permissions,
    globalGrants: GLOBAL_GRANTS.filter((name) => flags[name] === true),
    grants: Object.entries(byKind).flatMap(([kind, list]) =>
      list.map(({ domain, label = '', permissions }, index): SeedGrant => {
        const name = domain === undefined ? label : nameOf(domain, (message) => report(['grants', kind, index, 'domain'], message))
        return { kind: kind as GrantKind, label: name, permissions }
      }),
    ),
    profile: readProfile(profile, below(['profile'], report)),
    objects,
  }
}

/** The stored form of a domain name. */
function nameOf(domain: string, report: (message: string) => void): string {
  const name = parseZoneName(domain)
  if (name === null) report('not a domain name')
  return name === null ? domain : name.slice(0, -1)
}

function readToken(entry: TokenEntry, report: ReportProblem): SeedToken {
  const { token, label = 'seed', scopes = '*' } = entry
  if (!isScopeList(scopes)) report(['scopes'], 'not a list of scopes')
  return { token, label, scopes, expiry: parseTimestamps(entry, ['expiry'], report).expiry ?? null }
}

interface ProfileEntry {
  readonly email_notifications?: boolean
  readonly timezone?: string
  readonly shell_auth_method?: ShellAuthMethod
  readonly authorized_keys?: readonly string[] | null
  readonly authentication_type?: 'password' | 'github'
  readonly ip_whitelist_enabled?: boolean
  readonly verified_phone_number?: string
}

/** The columns of a user that a seed sets. */
function readProfile(entry: ProfileEntry, report: ReportProblem): Updateable<UsersTable> {
  const { email_notifications, ip_whitelist_enabled, authorized_keys, ...texts } = entry
  if (texts.timezone !== undefined && !isTimeZone(texts.timezone)) report(['timezone'], 'timezone is not valid')
  const keys = (authorized_keys ?? []).map((text, index) => {
    const key = parseSshKey(text)
    if (key === null) report(['authorized_keys', index], SSH_KEY_PROBLEM)
    return key
  })
  return {
    ...texts,
    ...(keys.length > 0 ? { authorized_keys: JSON.stringify(keys) } : {}),
    ...(email_notifications === undefined ? {} : { email_notifications: Number(email_notifications) }),
    ...(ip_whitelist_enabled === undefined ? {} : { ip_whitelist_enabled: Number(ip_whitelist_enabled) }),
  }
}
