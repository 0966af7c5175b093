import SSH_KEY from '../../../schemas/service/seed-ssh-keys.json' with { type: 'json' }
import { readSshKey, SSH_KEY_PROBLEM } from '../api/profile/ssh-key.ts'
import { insertSshKey } from '../store/ssh-key-store.ts'
import { readMoments } from './read-moments.ts'
import { defineSeedPart } from './seed-part.ts'

interface Entry {
  readonly label: string
  readonly ssh_key: string
  readonly created?: string
}

interface Settings {
  readonly label: string
  readonly key: string
  readonly created?: string
}

/** SSH keys of a user. */
export const SSH_KEYS = defineSeedPart<Entry, Settings>({
  key: 'ssh_keys',
  schema: SSH_KEY,
  read: (entry, tell) => {
    const { label, ssh_key } = entry
    const key = readSshKey(ssh_key)
    if (key === null) tell(['ssh_key'], SSH_KEY_PROBLEM)
    return key === null ? null : { label, key, ...readMoments(entry, ['created'], tell) }
  },
  make: async (connection, { userId }, { label, key, created }, now) => {
    await insertSshKey(connection, userId, { label, key }, created ?? now)
  },
})
