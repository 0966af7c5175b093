import { invalid, type RequestError } from '../request-error.ts'

/** Clients wait and try again where they read exactly this (facts, A). */
export const linodeBusy = (): RequestError => invalid({ field: null, reason: 'Linode busy.' })
