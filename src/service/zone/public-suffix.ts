import { parse } from 'tldts'

/** Names are given in canonical form, so nothing is extracted from them or checked again; private suffixes are ordinary names. */
const OPTIONS = { allowPrivateDomains: false, extractHostname: false, validateHostname: false, detectIp: false, mixedInputs: false }

/** Suffixes of the list that are for private use (RFC 8375). */
const PRIVATE_USE: ReadonlySet<string> = new Set(['home.arpa'])

/**
 * Whether a name, in lower case without the final dot, is a public suffix in the ICANN part of the Public Suffix List. Suffixes of the
 * private part, private-use names and names that end in no suffix of the list are not. `za` is no entry of the list, only names below it
 * are (`co.za`): it is a public suffix too.
 */
export const isPublicSuffix = (name: string): boolean => !PRIVATE_USE.has(name) && (isListed(name) || isListed(`co.${name}`))

function isListed(name: string): boolean {
  const { publicSuffix, isIcann } = parse(name, OPTIONS)
  return isIcann === true && publicSuffix === name
}
