import { randomBytes } from 'node:crypto'

/** A new token: 64 hexadecimal characters that cannot be guessed. */
export const makeToken = (): string => randomBytes(32).toString('hex')

/** Whether a text can be sent as a token. */
export const isToken = (text: string): boolean => /^[\x21-\x7e]{1,512}$/.test(text)
