import type { Generated, Selectable } from 'kysely'

/** Private images; public ones are no rows. */
export interface ImageTables {
  readonly images: ImagesTable
}

export type ImageStatus = 'creating' | 'pending_upload' | 'available'

export interface ImagesTable {
  id: Generated<number>
  account_id: number
  label: string
  description: string | null
  /** The name of a user. */
  created_by: string
  /** MB; 0 while it is not known. */
  size: number
  status: ImageStatus
  /** `automatic` where it was made of an instance that was deleted. */
  type: 'manual' | 'automatic'
  expiry: string | null
  /** SHA-256 of the secret in the URL that its data is sent to, in hexadecimal; null where none is awaited. */
  upload_hash: string | null
  /** Until when its data is awaited, in milliseconds of the service's clock. */
  upload_until: number | null
  /** Who receives its data, or did last. */
  receiver: Generated<string>
  /** Until when that is nobody else's, in milliseconds of the service's clock. */
  receiver_until: Generated<number>
  /** Octets of its data as it was sent; while it arrives, those that are reserved for it. Null if it has no data, or they have not been counted. */
  octets: Generated<number | null>
  created: string
  updated: string
}

export type ImageRow = Selectable<ImagesTable>
