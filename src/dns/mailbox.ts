/**
 * Mail addresses as domain names and back (RFC 1035 section 8): the part before the `@` is the first label. Domain names ignore case, but only the
 * mail host interprets the local part of an address (RFC 5321 section 2.4), so these functions keep its capital letters.
 */
import { isUtf8 } from 'node:buffer'
import type { SourcePosition } from '../base/diagnostic.ts'
import { MAX_LABEL_OCTETS, MAX_NAME_OCTETS, nameOctets, parseDomainName, ROOT } from './domain-name.ts'

/**
 * The domain name of a mail address. The first label keeps its capital letters, the others are canonical. Null if the text is not an address or
 * is too long for a name.
 */
export function emailToName(email: string): string | null {
  const cut = email.lastIndexOf('@')
  const host = parseDomainName(`${email.slice(cut + 1).replace(/\.$/, '')}.`)
  const local = Buffer.from(email.slice(0, Math.max(cut, 0)))
  if (!host.ok || host.value === ROOT || cut <= 0 || local.length > MAX_LABEL_OCTETS) return null
  if (local.length + 1 + nameOctets(host.value) > MAX_NAME_OCTETS) return null
  let label = ''
  for (const octet of local) {
    const c = String.fromCharCode(octet)
    if (octet <= 0x20 || octet >= 0x7f) label += `\\${String(octet).padStart(3, '0')}`
    else label += '."\\();@$'.includes(c) ? `\\${c}` : c
  }
  return `${label}.${host.value}`
}

/** Whether the text has the form of a mail address that an SOA record can hold (RFC 1035 section 8). */
export function isMailAddress(text: string): boolean {
  const [local = '', domain = '', ...rest] = text.split('@')
  if (rest.length > 0 || !/^[^\s\p{Cc}"(),:;<>[\]\\]{1,63}$/u.test(local) || !domain.includes('.')) return false
  return emailToName(text) !== null
}

const FIRST_LABEL = /^((?:\\[0-9]{3}|\\[^0-9]|[^.\\])+)\.(.*)$/s

/** The mail address of an absolute name, with the capital letters of its first label; null if the name has one label or the first is not UTF-8. */
export function nameToEmail(name: string): string | null {
  const [, label, rest = ''] = FIRST_LABEL.exec(name) ?? []
  const host = parseDomainName(rest)
  if (label === undefined || !host.ok) return null
  const octets = [...Buffer.from(label)].map((octet) => String.fromCharCode(octet)).join('')
  const local = octets.replace(/\\(?:([0-9]{3})|(.))/gs, (_, digits: string | undefined, c: string) =>
    digits === undefined ? c : String.fromCharCode(Number(digits) & 0xff),
  )
  const user = Buffer.from(local, 'latin1')
  return isUtf8(user) ? `${user.toString('utf8')}@${host.value.slice(0, -1)}` : null
}

/** SOA data with the capital letters of the mailbox as `written`, which may lack the labels of the origin. */
export function restoreMailboxCase(soa: string, written: string): string {
  const [mname = '', rname = '', ...rest] = soa.split(' ')
  const host = FIRST_LABEL.exec(rname)?.[2]
  const [, local] = FIRST_LABEL.exec(`${written}.`) ?? []
  const email = host === undefined || local === undefined ? null : nameToEmail(`${local}.${host}`)
  const name = email === null ? null : emailToName(email)
  return name !== null && name.toLowerCase() === rname ? [mname, name, ...rest].join(' ') : soa
}

/** Characters of the record that are searched. They include the two names before the numbers. */
const SEARCHED_LENGTH = 5000

const TOKEN = /;[^\n]*|[\s()]+|(?:\\[0-9]{3}|\\.|[^\s();\\])+/gs

/** The mailbox of the SOA record at a position of a zone file, with its capital letters, which parsed records lack; null if there is none. */
export function findSoaMailbox(text: string, { line, column }: SourcePosition): string | null {
  let start = 0
  for (let i = 1; i < line; i += 1) {
    start = text.indexOf('\n', start) + 1
    if (start === 0) return null
  }
  const tokens = text.slice(start + column - 1, start + column - 1 + SEARCHED_LENGTH).match(TOKEN) ?? []
  const words = tokens.filter((token) => !/^[\s();]/.test(token))
  const type = words.findIndex((word) => /^(?:SOA|TYPE6)$/i.test(word))
  return type === -1 ? null : (words[type + 2] ?? null)
}
