import GRANTS from '../../../../schemas/service/grants.json' with { type: 'json' }
import PROFILE from '../../../../schemas/service/profile.json' with { type: 'json' }
import PROFILE_UPDATE from '../../../../schemas/service/profile-update.json' with { type: 'json' }
import { findUser, hasOtherAdministrator, lockUserRow, type UserRow, updateUser } from '../../store/account-store.ts'
import { ENTITIES, type Granted, listGranted } from '../../store/grant-store.ts'
import type { GrantKind } from '../../store/tables.ts'
import { removeSecondFactor } from '../../store/user-secret-store.ts'
import { GLOBAL_GRANTS, GRANT_KINDS, globalGrantsOf } from '../grants.ts'
import { invalid } from '../request-error.ts'
import { defineRoute } from '../route.ts'
import { type ProfileBody, profileToUpdate } from './profile-input.ts'

const get = defineRoute({
  method: 'GET',
  path: '/profile',
  summary: 'Read the profile of the acting user',
  scope: null,
  needs: null,
  response: PROFILE,
  handle: async ({ actor }, { database }) => profileOf(await database.read((connection) => findUser(connection, actor.userId))),
})

const update = defineRoute<ProfileBody>({
  method: 'PUT',
  path: '/profile',
  summary: 'Update the profile of the acting user',
  scope: 'account:read_write',
  needs: null,
  body: PROFILE_UPDATE,
  response: PROFILE,
  handle: ({ actor, body }, { database }) =>
    database.write(async (connection) => {
      await lockUserRow(connection, actor.userId)
      const existing = await findUser(connection, actor.userId)
      const changes = profileToUpdate(existing, body)
      const resigns = existing.restricted === 0 && changes.restricted === 1
      if (resigns && !(await hasOtherAdministrator(connection, actor.accountId, actor.userId))) {
        throw invalid({ field: 'restricted', reason: 'The account needs a user without restrictions.' })
      }
      if (body.two_factor_auth === false) await removeSecondFactor(connection, actor.userId)
      return profileOf(await updateUser(connection, actor.userId, changes))
    }),
})

const grants = defineRoute({
  method: 'GET',
  path: '/profile/grants',
  summary: 'List what is granted to the acting user',
  scope: null,
  needs: null,
  response: GRANTS,
  nothing: 'The user is unrestricted.',
  handle: async ({ actor }, { database }) => {
    if (!actor.restricted) return undefined
    return database.read(async (connection) => {
      const user = await findUser(connection, actor.userId)
      const given = globalGrantsOf(user)
      const granted: Partial<Record<GrantKind, readonly Granted[]>> = {}
      for (const kind of Object.keys(ENTITIES) as GrantKind[]) granted[kind] = await listGranted(connection, actor.userId, kind)
      return {
        global: {
          account_access: user.account_access || null,
          ...Object.fromEntries(GLOBAL_GRANTS.map((name) => [name, given.has(name)])),
        },
        ...Object.fromEntries(GRANT_KINDS.map((kind) => [kind, []])),
        ...granted,
      }
    })
  },
})

export const PROFILE_ROUTES = [get, update, grants] as const

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

/** As of an account that has earned none. */
const NO_REFERRALS = { code: '', url: '', total: 0, completed: 0, pending: 0, credit: 0 } as const
