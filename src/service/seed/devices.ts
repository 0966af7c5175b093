import { isIP } from 'node:net'
import DEVICE from '../../../schemas/service/seed-devices.json' with { type: 'json' }
import { clockText } from '../clock-text.ts'
import { insertDevice } from '../store/access-store.ts'
import { readMoments } from './read-moments.ts'
import { defineSeedPart } from './seed-part.ts'

interface Entry {
  readonly user_agent: string
  readonly last_remote_addr?: string
  readonly created?: string
  readonly last_authenticated?: string
  readonly expiry?: string
}

/** Milliseconds for which a device is trusted that the seed says nothing of. */
const SESSION = 30 * 86_400_000

/** Devices that a user has told to be trusted. */
export const DEVICES = defineSeedPart<Entry, Entry>({
  key: 'devices',
  schema: DEVICE,
  read: (entry, tell) => {
    const address = entry.last_remote_addr
    if (address !== undefined && isIP(address) === 0) tell(['last_remote_addr'], 'this is no IP address')
    return { ...entry, ...readMoments(entry, ['created', 'last_authenticated', 'expiry'], tell) }
  },
  make: async (connection, { userId }, entry, now) => {
    const { user_agent, last_remote_addr = '127.0.0.1', created = now, last_authenticated = created } = entry
    const { expiry = clockText(Date.parse(`${created}Z`) + SESSION) } = entry
    await insertDevice(connection, { user_id: userId, user_agent, last_remote_addr, created, last_authenticated, expiry })
  },
})
