/** The grants of restricted users: declarations of the required ones, and their check. */
import { findUser } from '../store/account-store.ts'
import type { Connection, Database } from '../store/database.ts'
import { findPermissions, type GlobalGrant, grant } from '../store/grant-store.ts'
import { numberOfImage } from '../store/image-store.ts'
import type { GrantKind, Permissions } from '../store/tables.ts'
import type { Actor } from './authenticate.ts'
import { notFound, RequestError } from './request-error.ts'

/** The kinds in a list of grants, in the order of the API. The service has no databases and no monitors, so their lists are always empty. */
export const REPORTED_KINDS = ['database', 'domain', 'image', 'instance', 'monitor', 'loadbalancer', 'script', 'volume'] as const

/** The object that a path parameter names. */
export interface GrantedObject {
  readonly kind: GrantKind
  readonly parameter: string
  /** Converts a text id to the number that grants use; null if grants do not apply to the object. */
  readonly numberOf?: (text: string) => number | null
}

/** The grants that a restricted user needs for an operation, all of them. Unrestricted users may do everything in their account. */
export interface RequiredGrants {
  readonly object?: GrantedObject & { readonly permissions: Permissions }
  readonly global?: GlobalGrant
  /** Only unrestricted users may use the operation. */
  readonly unrestricted?: true
}

export const GRANTED_DOMAIN: GrantedObject = { kind: 'domain', parameter: 'domainId' }
export const GRANTED_IMAGE: GrantedObject = { kind: 'image', parameter: 'imageId', numberOf: numberOfImage }
export const GRANTED_INSTANCE: GrantedObject = { kind: 'instance', parameter: 'instanceId' }

/**
 * Throws 403 if a restricted actor lacks a required grant, and 404 if the object does not belong to the account. Objects without grants, such as
 * public images, are left to the operation.
 */
export async function checkGrants(
  database: Database,
  actor: Actor,
  required: RequiredGrants,
  ids: Readonly<Record<string, number>>,
): Promise<void> {
  if (!actor.restricted) return
  if (required.unrestricted) throw forbidden()
  const { object, global } = required
  await database.read(async (connection) => {
    const id = object && ids[object.parameter]
    if (object && id !== undefined) {
      const permissions = await findPermissions(connection, actor, object.kind, id)
      if (permissions === undefined) throw notFound()
      if (permissions !== 'read_write' && permissions !== object.permissions) throw forbidden()
    }
    if (global && !globalGrantsOf(await findUser(connection, actor.userId)).has(global)) throw forbidden()
  })
}

/** Gives a restricted user full access to an object it has created. */
export async function grantToCreator(connection: Connection, actor: Actor, kind: GrantKind, id: number): Promise<void> {
  if (actor.restricted) await grant(connection, actor.userId, kind, id, 'read_write')
}

export const globalGrantsOf = (user: { readonly global_grants: string }): ReadonlySet<GlobalGrant> =>
  new Set(JSON.parse(user.global_grants) as GlobalGrant[])

export const forbidden = (): RequestError => new RequestError(403, [{ field: null, reason: 'Unauthorized' }])
