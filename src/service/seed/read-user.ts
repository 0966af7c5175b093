import { readDomain, readEmail } from '../api/domains/host-name.ts'
import { GLOBAL_GRANTS } from '../api/grants.ts'
import { areScopes } from '../api/scopes.ts'
import type { GrantKind, Permissions } from '../store/tables.ts'
import { below, type Tell } from './places.ts'
import { readMoments } from './read-moments.ts'
import { type ProfileEntry, readProfile } from './read-profile.ts'
import type { SeedGrant, SeedToken, SeedUser } from './seed.ts'
import type { SeedEntries } from './seed-part.ts'

/** A user as the schema lets it through, without the keys of its parts. */
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

export function readUser(entry: UserEntry, belongings: readonly SeedEntries[], tell: Tell): SeedUser {
  const { username, email, restricted = false, tokens = [], grants, profile = {} } = entry
  const address = readEmail(email)
  if (address === null) tell(['email'], 'this is no email address')
  if (grants && !restricted) tell(['grants'], 'an unrestricted user may do everything and has no grants')
  const { global = {}, ...byKind } = grants ?? {}
  const { account_access: access, ...flags } = global
  return {
    username,
    email: address ?? email,
    restricted,
    tokens: tokens.map((token, index) => readToken(token, (path, message) => tell(['tokens', index, ...path], message))),
    accountAccess: (access ?? '') as '' | Permissions,
    globalGrants: GLOBAL_GRANTS.filter((name) => flags[name] === true),
    grants: Object.entries(byKind).flatMap(([kind, list]) =>
      list.map(({ domain, label = '', permissions }, index): SeedGrant => {
        const name = domain === undefined ? label : nameOf(domain, (message) => tell(['grants', kind, index, 'domain'], message))
        return { kind: kind as GrantKind, label: name, permissions }
      }),
    ),
    profile: readProfile(profile, below(['profile'], tell)),
    belongings,
  }
}

/** The name of a domain as the service keeps it. */
function nameOf(domain: string, tell: (message: string) => void): string {
  const name = readDomain(domain)
  if (name === null) tell('this is no name of a domain')
  return name === null ? domain : name.slice(0, -1)
}

function readToken(entry: TokenEntry, tell: Tell): SeedToken {
  const { token, label = 'seed', scopes = '*' } = entry
  if (!areScopes(scopes)) tell(['scopes'], 'these are no scopes of a token')
  return { token, label, scopes, expiry: readMoments(entry, ['expiry'], tell).expiry ?? null }
}
