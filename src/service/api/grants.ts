import { findUser } from '../store/account-store.ts'
import type { Connection, Database } from '../store/database.ts'
import { findPermissions, grant } from '../store/grant-store.ts'
import { numberOfImage } from '../store/image-store.ts'
import type { GrantKind, Permissions } from '../store/tables.ts'
import type { Actor } from './authenticate.ts'
import { notFound, RequestError } from './request-error.ts'

/** Kinds of objects that grants name, in the order the interface lists them. */
export const GRANT_KINDS = ['database', 'domain', 'image', 'instance', 'monitor', 'loadbalancer', 'script', 'volume'] as const

/** What a restricted user may be allowed besides what is granted object by object. */
export const GLOBAL_GRANTS = [
  'add_databases',
  'add_domains',
  'add_firewalls',
  'add_images',
  'add_instances',
  'add_monitors',
  'add_loadbalancers',
  'add_scripts',
  'add_volumes',
  'cancel_account',
  'monitor_subscription',
] as const

export type GlobalGrant = (typeof GLOBAL_GRANTS)[number]

/** What is needed of the object that a path parameter names. */
interface RequiredObject {
  readonly kind: GrantKind
  readonly parameter: string
  readonly permissions: Permissions
  /** The number that a text names the object by; null where the text names none that grants are of. */
  readonly numberOf?: (text: string) => number | null
}

/** What an operation needs of a restricted user, all of it. Unrestricted users may do everything with what is their account's. */
export interface RequiredGrants {
  readonly object?: RequiredObject
  readonly global?: GlobalGrant
  /** Nothing will do: the operation is for unrestricted users. */
  readonly unrestricted?: true
}

const domain = (permissions: Permissions) => ({ kind: 'domain', parameter: 'domainId', permissions }) as const

export const READ_DOMAIN: RequiredGrants = { object: domain('read_only') }
export const WRITE_DOMAIN: RequiredGrants = { object: domain('read_write') }

const image = (permissions: Permissions) => ({ kind: 'image', parameter: 'imageId', permissions, numberOf: numberOfImage }) as const

export const READ_IMAGE: RequiredGrants = { object: image('read_only') }
export const WRITE_IMAGE: RequiredGrants = { object: image('read_write') }

const script = (permissions: Permissions) => ({ kind: 'script', parameter: 'scriptId', permissions }) as const

export const READ_SCRIPT: RequiredGrants = { object: script('read_only') }
export const WRITE_SCRIPT: RequiredGrants = { object: script('read_write') }

const instance = (permissions: Permissions) => ({ kind: 'instance', parameter: 'instanceId', permissions }) as const

export const READ_INSTANCE: RequiredGrants = { object: instance('read_only') }
export const WRITE_INSTANCE: RequiredGrants = { object: instance('read_write') }

/**
 * Throws 403 where the actor is restricted and lacks what is needed, 404 where the object is none of the account's. A text that names no
 * object which grants are of is for the operation to judge.
 */
export async function checkGrants(
  database: Database,
  actor: Actor,
  needs: RequiredGrants,
  ids: Readonly<Record<string, number>>,
): Promise<void> {
  if (!actor.restricted) return
  if (needs.unrestricted) throw unauthorized()
  const { object, global } = needs
  await database.read(async (connection) => {
    const id = object && ids[object.parameter]
    if (object && id !== undefined) {
      const permissions = await findPermissions(connection, actor, object.kind, id)
      if (permissions === undefined) throw notFound()
      if (permissions !== 'read_write' && permissions !== object.permissions) throw unauthorized()
    }
    if (global && !globalGrantsOf(await findUser(connection, actor.userId)).has(global)) throw unauthorized()
  })
}

/** A restricted user may do everything with what it creates. */
export async function grantToCreator(connection: Connection, actor: Actor, kind: GrantKind, id: number): Promise<void> {
  if (actor.restricted) await grant(connection, actor.userId, kind, id, 'read_write')
}

export const globalGrantsOf = (user: { readonly global_grants: string }): ReadonlySet<GlobalGrant> =>
  new Set(JSON.parse(user.global_grants) as GlobalGrant[])

export const unauthorized = (): RequestError => new RequestError(403, [{ field: null, reason: 'Unauthorized' }])
