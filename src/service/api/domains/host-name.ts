import { domainToASCII } from 'node:url'
import { type DomainName, parseDomainName } from '../../../dns/domain-name.ts'

/** Characters of a name in text form, without the final dot. */
const MAX_NAME = 253

const HOST_NAME = /^[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*$/

/**
 * The name a record leads to, as it is stored: without the final dot, in the case it was written in, internationalised labels as
 * A-labels. A single label without a final dot is completed with the domain. Null where it is no host name.
 */
export function readHostName(text: string, domain: DomainName): string | null {
  const absolute = text.endsWith('.')
  const name = asciiName(absolute ? text.slice(0, -1) : text)
  if (name === null || !HOST_NAME.test(name)) return null
  const full = absolute || name.includes('.') ? name : `${name}.${domain.slice(0, -1)}`
  return full.length <= MAX_NAME ? full : null
}

/** The name of a domain of the service: labels of RFC 1035, none with a hyphen at an end, the last of letters (or an A-label). */
const DOMAIN = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?:[a-z]{2,63}|xn--[a-z0-9-]{1,58}[a-z0-9])\.$/

/** The name of a domain from a request; null where it is none. */
export function readDomain(text: string): DomainName | null {
  if (text.includes('\\')) return null
  const name = parseDomainName(text.endsWith('.') ? text : `${text}.`)
  return name.ok && DOMAIN.test(name.value) ? name.value : null
}

const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/

/** An email address that a SOA record can hold, with its domain's internationalised labels as A-labels; null for any other. */
export function readEmail(text: string): string | null {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  const host = asciiName(text.slice(at + 1))
  if (at < 1 || local.length > 63 || !LOCAL_PART.test(local)) return null
  if (host === null || !HOST_NAME.test(host) || !host.includes('.') || local.length + 1 + host.length > MAX_NAME) return null
  return `${local}@${host}`
}

function asciiName(text: string): string | null {
  if (text.length > 4 * MAX_NAME) return null
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
  if (/^[\u0000-\u007f]*$/.test(text)) return text
  const labels = text.split('.').map((label) => (/[^a-zA-Z0-9_-]/.test(label) ? domainToASCII(label) : label))
  return labels.some((label) => label === '' || label.includes('.')) ? null : labels.join('.')
}
