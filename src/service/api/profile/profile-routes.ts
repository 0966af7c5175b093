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
import { GRANT_TABLES, type Granted, listGranted } from '../../store/grant-store.ts'
import type { GrantKind } from '../../store/tables.ts'
import { removeSecondFactor } from '../../store/user-secret-store.ts'
import { GLOBAL_GRANTS, globalGrantsOf, REPORTED_KINDS } from '../grants.ts'
import { badRequest } from '../request-error.ts'
import { defineRoute, type Route } from '../route.ts'
import { type ProfileBody, profileToUpdate } from './profile-input.ts'

const getProfile = defineRoute({
  method: 'GET',
  path: '/profile',
  summary: 'Read the profile of the acting user',
  scope: null,
  grants: null,
  response: PROFILE,
  handle: async ({ actor }, { database }) => profileOf(await database.read((connection) => findUser(connection, actor.userId))),
})

const updateProfile = defineRoute<ProfileBody>({
  method: 'PUT',
  path: '/profile',
  summary: 'Update the profile of the acting user',
  scope: 'account:read_write',
  grants: null,
  body: PROFILE_UPDATE,
  response: PROFILE,
  handle: ({ actor, body }, { database }) =>
    database.write(async (connection) => {
      await lockUserRow(connection, actor.userId)
      const existing = await findUser(connection, actor.userId)
      const changes = profileToUpdate(existing, body)
      const losesAdministrator = existing.restricted === 0 && changes.restricted === 1
      if (losesAdministrator && !(await hasOtherUnrestrictedUser(connection, actor.accountId, actor.userId))) {
        throw badRequest({ field: 'restricted', reason: 'The account needs an unrestricted user.' })
      }
      if (body.two_factor_auth === false) await removeSecondFactor(connection, actor.userId)
      return profileOf(await updateUser(connection, actor.userId, changes))
    }),
})

const getGrants = defineRoute({
  method: 'GET',
  path: '/profile/grants',
  summary: 'List the grants of the acting user',
  scope: null,
  grants: null,
  response: GRANTS,
  noContent: 'The user is unrestricted.',
  handle: async ({ actor }, { database }) => {
    if (!actor.restricted) return undefined
    return database.read(async (connection) => {
      const user = await findUser(connection, actor.userId)
      const given = globalGrantsOf(user)
      const granted: Partial<Record<GrantKind, readonly Granted[]>> = {}
      for (const kind of Object.keys(GRANT_TABLES) as GrantKind[]) granted[kind] = await listGranted(connection, actor.userId, kind)
      return {
        global: {
          account_access: user.account_access || null,
          ...Object.fromEntries(GLOBAL_GRANTS.map((name) => [name, given.has(name)])),
        },
        ...Object.fromEntries(REPORTED_KINDS.map((kind) => [kind, []])),
        ...granted,
      }
    })
  },
})

function profileOf(user: UserRow): object {
  const { id, username, email, timezone, authentication_type, shell_auth_method } = user
  const keys = JSON.parse(user.authorized_keys) as string[]
  return {
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
}

/** The referrals of an account that has earned none. */
const NO_REFERRALS = { code: '', url: '', total: 0, completed: 0, pending: 0, credit: 0 } as const

const getPreferences = defineRoute({
  method: 'GET',
  path: '/profile/preferences',
  summary: 'Read the preferences stored for the client of the acting token',
  scope: 'account:read_only',
  grants: null,
  response: PREFERENCES,
  handle: async ({ actor }, { database }) => {
    const text = await database.read(async (connection) =>
      findPreferences(connection, actor.userId, await clientOf(connection, actor.appId)),
    )
    return text === null ? {} : JSON.parse(text)
  },
})

const updatePreferences = defineRoute<object>({
  method: 'PUT',
  path: '/profile/preferences',
  summary: 'Replace all preferences stored for the client of the acting token',
  scope: 'account:read_write',
  grants: null,
  body: PREFERENCES,
  response: PREFERENCES,
  handle: async ({ actor, body }, { database }) => {
    const text = preferencesText(body)
    await database.write(async (connection) => savePreferences(connection, actor.userId, await clientOf(connection, actor.appId), text))
    return JSON.parse(text)
  },
})

export const PROFILE_ROUTES: readonly Route[] = [getProfile, updateProfile, getGrants, getPreferences, updatePreferences]

/** Maximum length of all preferences in characters, as JSON without white space. */
const MAX_PREFERENCES = 65_535

/** Maximum nesting depth: deeper JSON could overflow the stack when it is serialized. */
const MAX_DEPTH = 100

/** Serializes preferences. Throws 400 if they are too long or too deep, or contain a number that JSON cannot represent. */
function preferencesText(preferences: object): string {
  checkValues(preferences)
  const text = JSON.stringify(preferences)
  if (charactersOf(text) > MAX_PREFERENCES) throw refused(`Preferences can have at most ${MAX_PREFERENCES} characters`)
  return text
}

/** Counts Unicode characters, of which some are two units of a string. */
function charactersOf(text: string): number {
  let characters = 0
  for (const _ of text) characters += 1
  return characters
}

function checkValues(preferences: object): void {
  let level: unknown[] = [preferences]
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw refused(`Preferences can be nested at most ${MAX_DEPTH} levels deep`)
    const next: unknown[] = []
    for (const value of level) {
      for (const inner of Object.values(value as object)) {
        if (typeof inner === 'object' && inner !== null) next.push(inner)
        else if (typeof inner === 'number' && !Number.isFinite(inner)) throw refused('Preferences contain a number that is too large')
      }
    }
    level = next
  }
}

const refused = (reason: string) => badRequest({ field: null, reason })
