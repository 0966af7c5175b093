import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import SCRIPT from '../../../../schemas/service/script.json' with { type: 'json' }
import SCRIPT_CREATE from '../../../../schemas/service/script-create.json' with { type: 'json' }
import SCRIPT_UPDATE from '../../../../schemas/service/script-update.json' with { type: 'json' }
import type { Connection } from '../../store/database.ts'
import {
  deleteScript,
  findScript,
  insertScript,
  listScripts,
  lockScriptRow,
  SCRIPT_FILTER_FIELDS,
  type StoredScript,
  updateScript,
} from '../../store/script-store.ts'
import type { Actor } from '../authenticate.ts'
import { checkQuota } from '../check-quota.ts'
import { grantToCreator, READS_SCRIPT, unauthorized, WRITES_SCRIPT } from '../grants.ts'
import { offsetOf, pageOf, pageSchema } from '../paging.ts'
import { invalid, notFound } from '../request-error.ts'
import { defineOpenRoute, defineRoute, type Route } from '../route.ts'
import { type ScriptBody, scriptToCreate, scriptToUpdate } from './script-input.ts'
import { readUserDefinedFields } from './user-defined-fields.ts'

const list = defineOpenRoute({
  method: 'GET',
  path: '/compute/scripts',
  summary: 'List scripts: public ones, and those of the account',
  scope: 'scripts:read_only',
  needs: null,
  filter: SCRIPT_FILTER_FIELDS,
  response: pageSchema(SCRIPT),
  handle: async ({ actor, paging, filter }, { database }) => {
    const query = { filter, offset: offsetOf(paging), limit: paging.pageSize }
    const { items, total } = await database.read((connection) => listScripts(connection, actor, query))
    return pageOf(paging, total, items.map(answerOf))
  },
})

const create = defineRoute<ScriptBody>({
  method: 'POST',
  path: '/compute/scripts',
  summary: 'Create a script',
  scope: 'scripts:read_write',
  needs: { global: 'add_scripts' },
  body: SCRIPT_CREATE,
  response: SCRIPT,
  handle: async ({ actor, body }, { database, quotas, now }) =>
    database.write(async (connection) => {
      await checkQuota(connection, actor, 'scripts', quotas)
      const content = await scriptToCreate(connection, actor, body)
      const id = await insertScript(connection, actor, content, now())
      await grantToCreator(connection, actor, 'script', id)
      return answerOf(await find(connection, actor, id))
    }),
})

const get = defineRoute({
  method: 'GET',
  path: '/compute/scripts/{scriptId}',
  summary: 'Read a script',
  scope: 'scripts:read_only',
  needs: READS_SCRIPT,
  response: SCRIPT,
  handle: async ({ actor, ids }, { database }) => answerOf(await database.read((connection) => find(connection, actor, ids['scriptId']))),
})

const update = defineRoute<ScriptBody>({
  method: 'PUT',
  path: '/compute/scripts/{scriptId}',
  summary: 'Update a script',
  scope: 'scripts:read_write',
  needs: WRITES_SCRIPT,
  body: SCRIPT_UPDATE,
  response: SCRIPT,
  handle: async ({ actor, ids, body }, { database, now }) =>
    database.write(async (connection) => {
      const existing = await findToChange(connection, actor, ids['scriptId'])
      await updateScript(connection, existing.id, await scriptToUpdate(connection, actor, existing, body), now())
      return answerOf(await find(connection, actor, existing.id))
    }),
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/compute/scripts/{scriptId}',
  summary: 'Delete a private script',
  scope: 'scripts:read_write',
  needs: WRITES_SCRIPT,
  response: EMPTY,
  handle: async ({ actor, ids }, { database }) =>
    database.write(async (connection) => {
      const { id, is_public } = await findToChange(connection, actor, ids['scriptId'])
      if (is_public) throw invalid({ field: null, reason: 'A public script cannot be deleted.' })
      await deleteScript(connection, id)
      return {}
    }),
})

/** The Scripts part of the interface. */
export const SCRIPTS_PART: readonly Route[] = [list, create, get, update, remove]

async function find(connection: Connection, actor: Actor, id: number | undefined): Promise<StoredScript> {
  const script = await findScript(connection, actor, id as number)
  if (script === null) throw notFound()
  return script
}

/** Holds a script of the account. Throws 403 for one that is another account's and can only be read. */
async function findToChange(connection: Connection, actor: Actor, id: number | undefined): Promise<StoredScript> {
  const isOwn = await lockScriptRow(connection, actor.accountId, id as number)
  const script = await find(connection, actor, id)
  if (!isOwn) throw unauthorized()
  return script
}

const answerOf = (script: StoredScript) => ({
  ...script,
  ordinal: 0,
  logo_url: '',
  user_defined_fields: readUserDefinedFields(script.script),
})
