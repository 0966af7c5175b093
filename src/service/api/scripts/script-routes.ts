/** The operations on provisioning scripts. */
import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import SCRIPT from '../../../../schemas/service/script.json' with { type: 'json' }
import SCRIPT_CREATE from '../../../../schemas/service/script-create.json' with { type: 'json' }
import SCRIPT_UPDATE from '../../../../schemas/service/script-update.json' with { type: 'json' }
import type { Connection } from '../../store/database.ts'
import type { Viewer } from '../../store/grant-store.ts'
import { findImage, type SharedImages } from '../../store/image-store.ts'
import {
  ANY_IMAGE,
  deleteScript,
  findScript,
  insertScript,
  listScripts,
  lockScriptRow,
  SCRIPT_FILTER_FIELDS,
  type ScriptContent,
  type StoredScript,
  updateScript,
} from '../../store/script-store.ts'
import type { Actor } from '../authenticate.ts'
import { checkQuota } from '../check-quota.ts'
import { forbidden, grantToCreator, READ_SCRIPT, WRITE_SCRIPT } from '../grants.ts'
import { pageOf, pageSchema } from '../paging.ts'
import { badRequest, collectProblems, notFound, type RequestProblem } from '../request-error.ts'
import { defineOpenRoute, defineRoute, type Route } from '../route.ts'
import { parseUserDefinedFields } from './user-defined-fields.ts'

/** The body of a script request that its schema has accepted. */
type ScriptBody = Partial<ScriptContent>

const DEFAULTS = { description: '', is_public: false, rev_note: '' } as const

/** Returns the script that a create asks for. Throws 400 with every error. The schema requires the fields with defaults here. */
const scriptToCreate = (
  connection: Connection,
  viewer: Viewer,
  { label = '', images = [], script = '', ...body }: ScriptBody,
  shared: SharedImages,
): Promise<ScriptContent> => validateScript(connection, viewer, { ...DEFAULTS, label, images, script, ...settingsOf(body) }, images, shared)

/** Returns the existing script with the changes of an update. Throws 400: alone if a public script would become private, otherwise with every error. */
async function scriptToUpdate(
  connection: Connection,
  viewer: Viewer,
  existing: ScriptContent,
  body: ScriptBody,
  shared: SharedImages,
): Promise<ScriptContent> {
  if (existing.is_public && body.is_public === false) {
    throw badRequest({ field: 'is_public', reason: 'A public script cannot be made private again.' })
  }
  const { label, description, images, is_public, rev_note, script } = existing
  // Only added images must exist: clients may send back ids of images that have been deleted.
  const added = (body.images ?? []).filter((image) => !images.includes(image))
  return validateScript(connection, viewer, { label, description, images, is_public, rev_note, script, ...settingsOf(body) }, added, shared)
}

/** The settings of a body, without undefined and ignored fields. */
function settingsOf(body: ScriptBody): ScriptBody {
  const { label, description, images, is_public, rev_note, script } = body
  const given = { label, description, images, is_public, rev_note, script }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** Returns the content with distinct images. Throws 400 with every error. Of the images, only `addedImages` must exist. */
async function validateScript(
  connection: Connection,
  viewer: Viewer,
  content: ScriptContent,
  addedImages: readonly string[],
  shared: SharedImages,
): Promise<ScriptContent> {
  const problems: RequestProblem[] = [...collectProblems(() => parseUserDefinedFields(content.script))]
  for (const image of new Set(addedImages)) {
    if (image === ANY_IMAGE || shared.has(image) || (await findImage(connection, viewer.accountId, image)) !== null) continue
    problems.push({ field: 'images', reason: `${image.slice(0, 100)} is not an image` })
  }
  if (problems.length > 0) throw badRequest(...problems)
  return { ...content, images: [...new Set(content.images)] }
}

const list = defineOpenRoute({
  method: 'GET',
  path: '/compute/scripts',
  summary: 'List the public scripts and those of the account',
  scope: 'scripts:read_only',
  grants: null,
  filter: SCRIPT_FILTER_FIELDS,
  response: pageSchema(SCRIPT),
  handle: async ({ actor, query }, { database }) => {
    const { items, total } = await database.read((connection) => listScripts(connection, actor, query))
    return pageOf(query, { total, items: items.map(responseOf) })
  },
})

const create = defineRoute<ScriptBody>({
  method: 'POST',
  path: '/compute/scripts',
  summary: 'Create a script',
  scope: 'scripts:read_write',
  grants: { global: 'add_scripts' },
  body: SCRIPT_CREATE,
  response: SCRIPT,
  handle: async ({ actor, body }, { database, images, quotas, now }) =>
    database.write(async (connection) => {
      await checkQuota(connection, actor, 'scripts', quotas)
      const content = await scriptToCreate(connection, actor, body, images)
      const id = await insertScript(connection, actor, content, now())
      await grantToCreator(connection, actor, 'script', id)
      return responseOf(await find(connection, actor, id))
    }),
})

const get = defineRoute({
  method: 'GET',
  path: '/compute/scripts/{scriptId}',
  summary: 'Read a script',
  scope: 'scripts:read_only',
  grants: READ_SCRIPT,
  response: SCRIPT,
  handle: async ({ actor, ids }, { database }) => responseOf(await database.read((connection) => find(connection, actor, ids['scriptId']))),
})

const update = defineRoute<ScriptBody>({
  method: 'PUT',
  path: '/compute/scripts/{scriptId}',
  summary: 'Update a script',
  scope: 'scripts:read_write',
  grants: WRITE_SCRIPT,
  body: SCRIPT_UPDATE,
  response: SCRIPT,
  handle: async ({ actor, ids, body }, { database, images, now }) =>
    database.write(async (connection) => {
      const existing = await lockScript(connection, actor, ids['scriptId'])
      await updateScript(connection, existing.id, await scriptToUpdate(connection, actor, existing, body, images), now())
      return responseOf(await find(connection, actor, existing.id))
    }),
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/compute/scripts/{scriptId}',
  summary: 'Delete a private script',
  errors: ['400'],
  scope: 'scripts:read_write',
  grants: WRITE_SCRIPT,
  response: EMPTY,
  handle: async ({ actor, ids }, { database }) =>
    database.write(async (connection) => {
      const { id, is_public } = await lockScript(connection, actor, ids['scriptId'])
      if (is_public) throw badRequest({ field: null, reason: 'A public script cannot be deleted.' })
      await deleteScript(connection, id)
      return {}
    }),
})

/** The Scripts section of the API. */
export const SCRIPT_ROUTES: readonly Route[] = [list, create, get, update, remove]

async function find(connection: Connection, actor: Actor, id: number | undefined): Promise<StoredScript> {
  const script = await findScript(connection, actor, id as number)
  if (script === null) throw notFound()
  return script
}

/** Locks a script of the account. Throws 403 for a public script of another account. */
async function lockScript(connection: Connection, actor: Actor, id: number | undefined): Promise<StoredScript> {
  const isOwn = await lockScriptRow(connection, actor.accountId, id as number)
  const script = await find(connection, actor, id)
  if (!isOwn) throw forbidden()
  return script
}

const responseOf = (script: StoredScript) => ({
  ...script,
  // Fields of the API that nothing here sets.
  ordinal: 0,
  logo_url: '',
  user_defined_fields: parseUserDefinedFields(script.script),
})
