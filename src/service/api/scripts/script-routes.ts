/** The operations on provisioning scripts. */
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
import { forbidden, grantToCreator } from '../grants.ts'
import { badRequest, collectProblems, orNotFound, type RequestProblem } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Route } from '../route.ts'
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

const SCRIPTS = resource({
  path: '/compute/scripts',
  parameter: 'scriptId',
  family: 'scripts',
  object: { kind: 'script', parameter: 'scriptId' },
  schema: SCRIPT,
  filter: SCRIPT_FILTER_FIELDS,
  view: (script: StoredScript) => ({
    ...script,
    // Fields of the API that nothing here sets.
    ordinal: 0,
    logo_url: '',
    user_defined_fields: parseUserDefinedFields(script.script),
  }),
})

/** The Scripts section of the API. */
export const SCRIPT_ROUTES: readonly Route[] = [
  SCRIPTS.openList('List the public scripts and those of the account', (connection, { actor, query }) =>
    listScripts(connection, actor, query),
  ),
  SCRIPTS.create<ScriptBody>(
    'Create a script',
    SCRIPT_CREATE,
    ({ actor, body }, { database, images, quotas, now }) =>
      database.write(async (connection) => {
        await checkQuota(connection, actor, 'scripts', quotas)
        const content = await scriptToCreate(connection, actor, body, images)
        const id = await insertScript(connection, actor, content, now())
        await grantToCreator(connection, actor, 'script', id)
        return orNotFound(await findScript(connection, actor, id))
      }),
    { global: 'add_scripts' },
  ),
  SCRIPTS.get('Read a script', (connection, { actor, ids }) => findScript(connection, actor, ids.scriptId)),
  SCRIPTS.update<ScriptBody>('Update a script', SCRIPT_UPDATE, ({ actor, ids, body }, { database, images, now }) =>
    database.write(async (connection) => {
      const existing = await lockScript(connection, actor, ids.scriptId)
      await updateScript(connection, existing.id, await scriptToUpdate(connection, actor, existing, body, images), now())
      return findScript(connection, actor, existing.id)
    }),
  ),
  SCRIPTS.remove(
    'Delete a private script',
    async (connection, { actor, ids }) => {
      const { id, is_public } = await lockScript(connection, actor, ids.scriptId)
      if (is_public) throw badRequest({ field: null, reason: 'A public script cannot be deleted.' })
      await deleteScript(connection, id)
      return true
    },
    { errors: ['400'] },
  ),
]

/** Locks a script of the account. Throws 403 for a public script of another account. */
async function lockScript(connection: Connection, actor: Actor, id: number): Promise<StoredScript> {
  const isOwn = await lockScriptRow(connection, actor.accountId, id)
  const script = orNotFound(await findScript(connection, actor, id))
  if (!isOwn) throw forbidden()
  return script
}
