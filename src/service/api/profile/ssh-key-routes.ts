/** The operations on the user's SSH keys. */
import SSH_KEY from '../../../../schemas/service/ssh-key.json' with { type: 'json' }
import SSH_KEY_CREATE from '../../../../schemas/service/ssh-key-create.json' with { type: 'json' }
import SSH_KEY_UPDATE from '../../../../schemas/service/ssh-key-update.json' with { type: 'json' }
import { deleteSshKey, findSshKey, insertSshKey, listSshKeys, renameSshKey, SSH_KEY_FILTER_FIELDS } from '../../store/ssh-key-store.ts'
import { checkQuota } from '../check-quota.ts'
import { badRequest } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Route } from '../route.ts'
import { parseSshKey, SSH_KEY_PROBLEM } from './ssh-key.ts'

const SSH_KEYS = resource({
  path: '/profile/sshkeys',
  parameter: 'sshKeyId',
  family: 'account',
  schema: SSH_KEY,
  filter: SSH_KEY_FILTER_FIELDS,
})

export const SSH_KEY_ROUTES: readonly Route[] = [
  SSH_KEYS.list("List the user's SSH keys", (connection, { actor, query }) => listSshKeys(connection, actor.userId, query)),
  SSH_KEYS.create<{ readonly label: string; readonly ssh_key: string }>(
    'Add an SSH key',
    SSH_KEY_CREATE,
    async ({ actor, body: { label, ssh_key } }, { database, quotas, now }) => {
      const key = parseSshKey(ssh_key)
      if (key === null) throw badRequest({ field: 'ssh_key', reason: SSH_KEY_PROBLEM })
      return database.write(async (connection) => {
        await checkQuota(connection, actor, 'ssh_keys', quotas)
        return insertSshKey(connection, actor.userId, { label, key }, now())
      })
    },
  ),
  SSH_KEYS.get('Read an SSH key', (connection, { actor, ids }) => findSshKey(connection, actor.userId, ids.sshKeyId)),
  SSH_KEYS.update<{ readonly label?: string }>(
    'Change the label of an SSH key',
    SSH_KEY_UPDATE,
    ({ actor, ids: { sshKeyId: id }, body: { label } }, { database }) =>
      database.write((connection) =>
        label === undefined ? findSshKey(connection, actor.userId, id) : renameSshKey(connection, actor.userId, id, label),
      ),
  ),
  SSH_KEYS.remove('Delete an SSH key; instances keep their copies', (connection, { actor, ids }) =>
    deleteSshKey(connection, actor.userId, ids.sshKeyId),
  ),
]
