/** The profile of the user: settings, grants and preferences. */
import GRANTS from '../../../../schemas/service/grants.json' with { type: 'json' }
import PREFERENCES from '../../../../schemas/service/preferences.json' with { type: 'json' }
import PROFILE from '../../../../schemas/service/profile.json' with { type: 'json' }
import PROFILE_UPDATE from '../../../../schemas/service/profile-update.json' with { type: 'json' }
import { clientOf } from '../../store/access-store.ts'
import {
  findPreferences,
  findUser,
  hasOtherUnrestrictedUser,
  lockUserRow,
  savePreferences,
  type UserRow,
  updateUser,
} from '../../store/account-store.ts'
import type { Connection } from '../../store/database.ts'
import { GRANT_TABLES, type Granted, listGranted } from '../../store/grant-store.ts'
import type { GrantKind } from '../../store/tables.ts'
import { removeSecondFactor } from '../../store/user-secret-store.ts'
import { ALIAS_GRANTS, ALIAS_PROFILE_FIELDS, withAliases } from '../alias-names.ts'
import { GLOBAL_GRANTS, globalGrantsOf, REPORTED_KINDS } from '../grants.ts'
import { badRequest, type RequestError } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Route } from '../route.ts'
import { type ProfileBody, profileToUpdate } from './profile-input.ts'

/** The operations on what belongs to the user alone. */
export const USER_PROFILE = resource({ path: '/profile', family: 'account', schema: PROFILE })

export const PROFILE_ROUTES: readonly Route[] = [
  USER_PROFILE.action(
    'GET',
    '/profile',
    'Read the profile of the user',
    async ({ actor }, { database }) => profileOf(await database.read((connection) => findUser(connection, actor.userId))),
    { scope: null, response: PROFILE },
  ),
  USER_PROFILE.action<ProfileBody>(
    'PUT',
    '/profile',
    'Update the profile of the user',
    ({ actor, body }, { database }) =>
      database.write(async (connection) => {
        await lockUserRow(connection, actor.userId)
        const existing = await findUser(connection, actor.userId)
        const changes = profileToUpdate(existing, body)
        const becomesRestricted = existing.restricted === 0 && changes.restricted === 1
        if (becomesRestricted && !(await hasOtherUnrestrictedUser(connection, actor.accountId, actor.userId))) {
          throw badRequest({
            field: 'restricted',
            reason: 'You are the only unrestricted user of the account. Make another user unrestricted first.',
          })
        }
        // The secret is in another table, so `profileToUpdate` does not handle it.
        if (body.two_factor_auth === false) await removeSecondFactor(connection, actor.userId)
        return profileOf(await updateUser(connection, actor.userId, changes))
      }),
    { body: PROFILE_UPDATE, response: PROFILE, errors: ['403'] },
  ),
  USER_PROFILE.action(
    'GET',
    '/profile/grants',
    'List the grants of the user',
    async ({ actor }, { database }) => (actor.restricted ? database.read((connection) => grantsOf(connection, actor.userId)) : undefined),
    { scope: null, response: GRANTS, noContent: 'the user is unrestricted' },
  ),
  USER_PROFILE.action(
    'GET',
    '/profile/preferences',
    'Read the preferences of the user for the OAuth client of the token',
    async ({ actor }, { database }) => {
      const json = await database.read(async (connection) =>
        findPreferences(connection, actor.userId, await clientOf(connection, actor.appId)),
      )
      return json === null ? {} : JSON.parse(json)
    },
    { response: PREFERENCES },
  ),
  USER_PROFILE.action<object>(
    'PUT',
    '/profile/preferences',
    'Replace all preferences of the user for the OAuth client of the token',
    async ({ actor, body }, { database }) => {
      const json = serializePreferences(body)
      await database.write(async (connection) => savePreferences(connection, actor.userId, await clientOf(connection, actor.appId), json))
      return JSON.parse(json)
    },
    { body: PREFERENCES, response: PREFERENCES },
  ),
]

function profileOf(user: UserRow): object {
  const { id, username, email, timezone, authentication_type, shell_auth_method } = user
  const keys = JSON.parse(user.authorized_keys) as string[]
  const profile = {
    uid: id,
    username,
    email,
    email_notifications: user.email_notifications !== 0,
    timezone,
    authentication_type,
    restricted: user.restricted !== 0,
    two_factor_auth: user.two_factor_auth !== 0,
    ip_whitelist_enabled: user.ip_whitelist_enabled !== 0,
    shell_auth_method,
    authorized_keys: keys.length === 0 ? null : keys,
    verified_phone_number: user.verified_phone_number || null,
    referrals: NO_REFERRALS,
  }
  return withAliases(profile, ALIAS_PROFILE_FIELDS)
}

/** The referrals of an account that has earned none. */
const NO_REFERRALS = { code: '', url: '', total: 0, completed: 0, pending: 0, credit: 0 } as const

/** The grants of a restricted user: global ones, and permissions on the objects of each kind. */
async function grantsOf(connection: Connection, userId: number): Promise<object> {
  const user = await findUser(connection, userId)
  const globalGrants = globalGrantsOf(user)
  const global = {
    account_access: user.account_access || null,
    ...Object.fromEntries(GLOBAL_GRANTS.map((name) => [name, globalGrants.has(name)])),
  }
  const objects: Partial<Record<(typeof REPORTED_KINDS)[number], readonly Granted[]>> = {}
  for (const kind of REPORTED_KINDS) objects[kind] = isGrantKind(kind) ? await listGranted(connection, userId, kind) : []
  return withAliases({ global: withAliases(global, ALIAS_GRANTS), ...objects }, ALIAS_GRANTS)
}

const isGrantKind = (kind: string): kind is GrantKind => Object.hasOwn(GRANT_TABLES, kind)

/** Maximum length of the preferences for a client in characters, as JSON without white space. */
const MAX_PREFERENCE_CHARACTERS = 65_535

/** Maximum nesting depth: deeper JSON could overflow the stack when it is serialized. */
const MAX_PREFERENCE_DEPTH = 100

/** Serializes preferences. Throws 400 if they are too long or too deep, or contain a number that JSON cannot represent. */
function serializePreferences(preferences: object): string {
  checkDepthAndNumbers(preferences)
  const json = JSON.stringify(preferences)
  if (codePointCount(json) > MAX_PREFERENCE_CHARACTERS)
    throw invalidPreferences(`Preferences can have at most ${MAX_PREFERENCE_CHARACTERS} characters`)
  return json
}

/** The number of Unicode code points; `length` counts UTF-16 code units. */
function codePointCount(text: string): number {
  let characters = 0
  for (const _ of text) characters += 1
  return characters
}

function checkDepthAndNumbers(preferences: object): void {
  let level: unknown[] = [preferences]
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_PREFERENCE_DEPTH) throw invalidPreferences(`Preferences can be nested at most ${MAX_PREFERENCE_DEPTH} levels deep`)
    const next: unknown[] = []
    for (const value of level) {
      for (const inner of Object.values(value as object)) {
        if (typeof inner === 'object' && inner !== null) next.push(inner)
        // JSON.parse reads 1e999 as Infinity, which JSON.stringify would write as null.
        else if (typeof inner === 'number' && !Number.isFinite(inner))
          throw invalidPreferences('Preferences contain a number that JSON cannot represent')
      }
    }
    level = next
  }
}

const invalidPreferences = (reason: string): RequestError => badRequest({ field: null, reason })
