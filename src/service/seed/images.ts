import IMAGE from '../../../schemas/service/seed-images.json' with { type: 'json' }
import { findByLabel } from '../store/grant-store.ts'
import { insertImage } from '../store/image-store.ts'
import { readMoments } from './read-moments.ts'
import { defineSeedPart } from './seed-part.ts'

interface Entry {
  readonly label: string
  readonly description?: string | null
  /** MB. */
  readonly size?: number
  readonly created?: string
}

/** MB of an image that the seed says nothing of. */
const SIZE = 1500

/** Private images that can be deployed, by label; the account's first user has made them. */
export const IMAGES = defineSeedPart<Entry, Entry>({
  key: 'images',
  schema: IMAGE,
  unique: { owner: ['label'] },
  read: (entry, tell) => ({ ...entry, ...readMoments(entry, ['created'], tell) }),
  make: async (connection, { accountId, username }, { label, description = null, size = SIZE, created }, now) => {
    if ((await findByLabel(connection, 'image', accountId, label)).length > 0) return
    const image = { account_id: accountId, label, description, created_by: username, size, status: 'available', type: 'manual' } as const
    await insertImage(connection, { ...image, expiry: null, upload_hash: null, upload_until: null }, created ?? now)
  },
})
