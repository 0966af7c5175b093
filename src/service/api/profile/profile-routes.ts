/** The profile of the user (settings, grants and preferences), and the account, which clients of the hosting service read before others. */
import type { Updateable } from 'kysely'
import ACCOUNT from '../../../../schemas/service/account.json' with { type: 'json' }
import AVAILABILITY from '../../../../schemas/service/account-availability.json' with { type: 'json' }
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
import { GLOBAL_GRANTS, GRANT_TABLES, type Granted, listGranted } from '../../store/grant-store.ts'
import type { GrantKind, ShellAuthMethod, UsersTable } from '../../store/tables.ts'
import { removeSecondFactor } from '../../store/user-secret-store.ts'
import { ALIAS_GRANTS, ALIAS_PROFILE_FIELDS, withAliases } from '../alias-names.ts'
import { catalogueRoutes } from '../catalogue/catalogue-routes.ts'
import { parseEmail } from '../domains/name-input.ts'
import { forbidden, globalGrantsOf, REPORTED_KINDS } from '../grants.ts'
import { badRequest, type RequestError, type RequestProblem } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Route } from '../route.ts'
import { parseSshKey, SSH_KEY_PROBLEM } from './ssh-key-routes.ts'

/** The body of an update request that its schema has accepted. */
interface ProfileBody {
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
function profileToUpdate(existing: UserRow, body: ProfileBody): Updateable<UsersTable> {
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

/** Nobody pays for this service, so it asks for no address. */
const WITHOUT_BILLING = {
  ...{ company: '', first_name: '', last_name: '', address_1: '', address_2: '', city: '', state: '', zip: '', country: '' },
  ...{ phone: '', tax_id: '', balance: 0, balance_uninvoiced: 0, active_promotions: [], credit_card: { last_four: null, expiry: null } },
}

/** The Account section of the API. */
export const ACCOUNT_ROUTES: readonly Route[] = [
  resource({ path: '/account', family: 'account', schema: ACCOUNT }).action(
    'GET',
    '/account',
    'Read the account',
    async ({ actor }, { database, regions }) => {
      const { email, created } = await database.read(async (connection) => {
        const account = connection.selectFrom('accounts').select('created').where('id', '=', actor.accountId)
        return { email: (await findUser(connection, actor.userId)).email, ...(await account.executeTakeFirstOrThrow()) }
      })
      const capabilities = [...new Set(regions.flatMap((region) => region.capabilities))]
      return { ...WITHOUT_BILLING, email, active_since: created, capabilities }
    },
    { response: ACCOUNT },
  ),
  ...catalogueRoutes({
    path: '/account/availability',
    parameter: 'regionId',
    list: 'List what the account can use in each region',
    get: 'Read what the account can use in a region',
    scope: 'account:read_only',
    schema: AVAILABILITY,
    items: ({ regions }) => regions,
    view: ({ id, capabilities }) => ({ region: id, available: capabilities, unavailable: [] }),
  }),
]
