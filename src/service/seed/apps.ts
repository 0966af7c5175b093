import APP from '../../../schemas/service/seed-apps.json' with { type: 'json' }
import { areScopes } from '../api/scopes.ts'
import { insertApp } from '../store/access-store.ts'
import { insertToken } from '../store/token-store.ts'
import { readMoments } from './read-moments.ts'
import { defineSeedPart } from './seed-part.ts'

interface Entry {
  readonly label: string
  readonly client?: string
  readonly scopes?: string
  readonly website?: string
  readonly thumbnail_url?: string | null
  readonly created?: string
  readonly expiry?: string | null
  readonly tokens?: readonly string[]
}

/** Apps that a user has authorised, with the tokens that they were given. */
export const APPS = defineSeedPart<Entry, Entry>({
  key: 'apps',
  schema: APP,
  unique: { owner: ['client'] },
  read: (entry, tell) => {
    if (entry.scopes !== undefined && !areScopes(entry.scopes)) tell(['scopes'], 'these are no scopes of a token')
    return { ...entry, ...readMoments(entry, ['created', 'expiry'], tell) }
  },
  make: async (connection, { userId, username }, entry, now) => {
    const { label, client = label, scopes = '*', website = '', thumbnail_url = null, created = now, expiry = null, tokens = [] } = entry
    const appId = await insertApp(connection, { user_id: userId, label, client, scopes, website, thumbnail_url, created, expiry })
    if (appId === null) throw new RangeError(`the user ${username} of the seed has two apps of the client ${client}`)
    for (const token of tokens) {
      if ((await insertToken(connection, { userId, appId, token, label, scopes, expiry }, now)) === null) {
        throw new RangeError(`a token of the app ${label} of the user ${username} of the seed is another's`)
      }
    }
  },
})
