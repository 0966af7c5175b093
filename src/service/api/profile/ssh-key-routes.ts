/** The operations on the user's SSH keys. */
import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import SSH_KEY from '../../../../schemas/service/ssh-key.json' with { type: 'json' }
import SSH_KEY_CREATE from '../../../../schemas/service/ssh-key-create.json' with { type: 'json' }
import SSH_KEY_UPDATE from '../../../../schemas/service/ssh-key-update.json' with { type: 'json' }
import { deleteSshKey, findSshKey, insertSshKey, listSshKeys, renameSshKey, SSH_KEY_FILTER_FIELDS } from '../../store/ssh-key-store.ts'
import { checkQuota } from '../check-quota.ts'
import { pageOf, pageSchema } from '../paging.ts'
import { badRequest, notFound, orNotFound } from '../request-error.ts'
import { defineRoute } from '../route.ts'
import { parseSshKey, SSH_KEY_PROBLEM } from './ssh-key.ts'

const list = defineRoute({
  method: 'GET',
  path: '/profile/sshkeys',
  summary: "List the user's SSH keys",
  scope: 'account:read_only',
  grants: null,
  filter: SSH_KEY_FILTER_FIELDS,
  response: pageSchema(SSH_KEY),
  handle: async ({ actor, query }, { database }) =>
    pageOf(query, await database.read((connection) => listSshKeys(connection, actor.userId, query))),
})

const create = defineRoute<{ readonly label: string; readonly ssh_key: string }>({
  method: 'POST',
  path: '/profile/sshkeys',
  summary: 'Add an SSH key',
  scope: 'account:read_write',
  grants: null,
  body: SSH_KEY_CREATE,
  response: SSH_KEY,
  handle: async ({ actor, body: { label, ssh_key } }, { database, quotas, now }) => {
    const key = parseSshKey(ssh_key)
    if (key === null) throw badRequest({ field: 'ssh_key', reason: SSH_KEY_PROBLEM })
    return database.write(async (connection) => {
      await checkQuota(connection, actor, 'ssh_keys', quotas)
      return insertSshKey(connection, actor.userId, { label, key }, now())
    })
  },
})

const get = defineRoute({
  method: 'GET',
  path: '/profile/sshkeys/{sshKeyId}',
  summary: 'Read an SSH key',
  scope: 'account:read_only',
  grants: null,
  response: SSH_KEY,
  handle: async ({ actor, ids }, { database }) =>
    orNotFound(await database.read((connection) => findSshKey(connection, actor.userId, ids['sshKeyId'] as number))),
})

const update = defineRoute<{ readonly label?: string }>({
  method: 'PUT',
  path: '/profile/sshkeys/{sshKeyId}',
  summary: 'Change the label of an SSH key',
  scope: 'account:read_write',
  grants: null,
  body: SSH_KEY_UPDATE,
  response: SSH_KEY,
  handle: async ({ actor, ids, body: { label } }, { database }) => {
    const id = ids['sshKeyId'] as number
    const key = await database.write((connection) =>
      label === undefined ? findSshKey(connection, actor.userId, id) : renameSshKey(connection, actor.userId, id, label),
    )
    return orNotFound(key)
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/profile/sshkeys/{sshKeyId}',
  summary: 'Delete an SSH key; instances keep their copies',
  scope: 'account:read_write',
  grants: null,
  response: EMPTY,
  handle: async ({ actor, ids }, { database }) => {
    if (!(await database.write((connection) => deleteSshKey(connection, actor.userId, ids['sshKeyId'] as number)))) throw notFound()
    return {}
  },
})

export const SSH_KEY_ROUTES = [list, create, get, update, remove] as const
