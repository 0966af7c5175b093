/** The lists of objects that a user of a seed may have: apps, devices, logins, SSH keys and answers to security questions. */
import { isIP } from 'node:net'
import APP from '../../../schemas/service/seed-apps.json' with { type: 'json' }
import DEVICE from '../../../schemas/service/seed-devices.json' with { type: 'json' }
import LOGIN from '../../../schemas/service/seed-logins.json' with { type: 'json' }
import SECURITY_QUESTION from '../../../schemas/service/seed-security-questions.json' with { type: 'json' }
import SSH_KEY from '../../../schemas/service/seed-ssh-keys.json' with { type: 'json' }
import { parseSshKey, SSH_KEY_PROBLEM } from '../api/profile/ssh-key.ts'
import { isScopeList } from '../api/scopes.ts'
import { insertApp, insertDevice, insertLogin } from '../store/access-store.ts'
import { findUser } from '../store/account-store.ts'
import { insertSshKey } from '../store/ssh-key-store.ts'
import { insertToken } from '../store/token-store.ts'
import { insertAnswer } from '../store/user-secret-store.ts'
import { formatTimestamp } from '../timestamp.ts'
import { defineSeedCollection, type SeedCollection } from './seed.ts'
import { parseTimestamps } from './seed-problems.ts'

interface AppEntry {
  readonly label: string
  readonly client?: string
  readonly scopes?: string
  readonly website?: string
  readonly thumbnail_url?: string | null
  readonly created?: string
  readonly expiry?: string | null
  readonly tokens?: readonly string[]
}

/** The apps that a user has authorized, with their tokens. */
const APPS = defineSeedCollection<AppEntry, AppEntry>({
  key: 'apps',
  schema: APP,
  unique: { owner: ['client'] },
  read: (entry, report) => {
    if (entry.scopes !== undefined && !isScopeList(entry.scopes)) report(['scopes'], 'not a list of scopes')
    return { ...entry, ...parseTimestamps(entry, ['created', 'expiry'], report) }
  },
  create: async (connection, { userId, username }, entry, now) => {
    const { label, client = label, scopes = '*', website = '', thumbnail_url = null, created = now, expiry = null, tokens = [] } = entry
    const appId = await insertApp(connection, { user_id: userId, label, client, scopes, website, thumbnail_url, created, expiry })
    if (appId === null) throw new RangeError(`the user ${username} of the seed already has an app with the client ${client}`)
    for (const token of tokens) {
      if ((await insertToken(connection, { userId, appId, token, label, scopes, expiry }, now)) === null) {
        throw new RangeError(`a token of the app ${label} of the user ${username} of the seed is already in use`)
      }
    }
  },
})

interface DeviceEntry {
  readonly user_agent: string
  readonly last_remote_addr?: string
  readonly created?: string
  readonly last_authenticated?: string
  readonly expiry?: string
}

/** The default session of a trusted device, in milliseconds. */
const SESSION = 30 * 86_400_000

/** The trusted devices of a user. */
const DEVICES = defineSeedCollection<DeviceEntry, DeviceEntry>({
  key: 'devices',
  schema: DEVICE,
  read: (entry, report) => {
    const address = entry.last_remote_addr
    if (address !== undefined && isIP(address) === 0) report(['last_remote_addr'], 'not an IP address')
    return { ...entry, ...parseTimestamps(entry, ['created', 'last_authenticated', 'expiry'], report) }
  },
  create: async (connection, { userId }, entry, now) => {
    const { user_agent, last_remote_addr = '127.0.0.1', created = now, last_authenticated = created } = entry
    const { expiry = formatTimestamp(Date.parse(`${created}Z`) + SESSION) } = entry
    await insertDevice(connection, { user_id: userId, user_agent, last_remote_addr, created, last_authenticated, expiry })
  },
})

interface LoginEntry {
  readonly datetime: string
  readonly ip: string
  readonly status?: 'successful' | 'failed'
}

/** The past logins of a user. */
const LOGINS = defineSeedCollection<LoginEntry, LoginEntry>({
  key: 'logins',
  schema: LOGIN,
  read: (entry, report) => {
    if (isIP(entry.ip) === 0) report(['ip'], 'not an IP address')
    return { ...entry, ...parseTimestamps(entry, ['datetime'], report) }
  },
  create: async (connection, { userId, username }, { datetime, ip, status = 'successful' }) => {
    const { restricted } = await findUser(connection, userId)
    await insertLogin(connection, { user_id: userId, username, restricted, datetime, ip, status })
  },
})

interface SshKeyEntry {
  readonly label: string
  readonly ssh_key: string
  readonly created?: string
}

interface SshKeySettings {
  readonly label: string
  readonly key: string
  readonly created?: string
}

/** The SSH keys of a user. */
const SSH_KEYS = defineSeedCollection<SshKeyEntry, SshKeySettings>({
  key: 'ssh_keys',
  schema: SSH_KEY,
  read: (entry, report) => {
    const { label, ssh_key } = entry
    const key = parseSshKey(ssh_key)
    if (key === null) report(['ssh_key'], SSH_KEY_PROBLEM)
    return key === null ? null : { label, key, ...parseTimestamps(entry, ['created'], report) }
  },
  create: async (connection, { userId }, { label, key, created }, now) => {
    await insertSshKey(connection, userId, { label, key }, created ?? now)
  },
})

interface AnswerEntry {
  readonly question_id: number
  readonly response: string
}

/** The answers of a user to security questions. */
const SECURITY_QUESTIONS = defineSeedCollection<AnswerEntry, AnswerEntry>({
  key: 'security_questions',
  schema: SECURITY_QUESTION,
  unique: { owner: ['question_id'] },
  read: (entry) => entry,
  create: (connection, { userId }, { question_id, response }, _now, secrets) =>
    insertAnswer(connection, secrets, userId, question_id, response),
})

/** The lists that a user of a seed may have besides tokens and grants, in the order they are created. */
export const USER_COLLECTIONS: readonly SeedCollection[] = [APPS, DEVICES, LOGINS, SSH_KEYS, SECURITY_QUESTIONS]
