/**
 * Mail addresses as names, and names as mail addresses (RFC 1035 section 8): what comes before the `@` is the first label. Names compare without case; the
 * local part of an address belongs to its host alone (RFC 5321 section 2.4), so that its capital letters are kept here.
 */
import { isUtf8 } from 'node:buffer'
import type { SourcePosition } from './diagnostic.ts'
import { MAX_LABEL_OCTETS, MAX_NAME_OCTETS, nameOctets, parseDomainName, ROOT } from './domain-name.ts'

/**
 * The name that stands for an address, its first label with the capital letters of the address, the others canonical. Null for what is no
 * address, or too long for a name.
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

const FIRST_LABEL = /^((?:\\[0-9]{3}|\\[^0-9]|[^.\\])+)\.(.*)$/s

/** The address that an absolute name stands for, with the capital letters of its first label; null where it has but one label, or one that is not UTF-8. */
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

/** Canonical data of an SOA record, its mailbox with the capital letters of how it is written, with or without the labels of an origin behind. */
export function restoreMailboxCase(soa: string, written: string): string {
  const [mname = '', rname = '', ...rest] = soa.split(' ')
  const host = FIRST_LABEL.exec(rname)?.[2]
  const [, local] = FIRST_LABEL.exec(`${written}.`) ?? []
  const email = host === undefined || local === undefined ? null : nameToEmail(`${local}.${host}`)
  const name = email === null ? null : emailToName(email)
  return name !== null && name.toLowerCase() === rname ? [mname, name, ...rest].join(' ') : soa
}

/** Characters of an entry that are looked at: an SOA record has two names before its numbers. */
const MOST = 5000

const TOKEN = /;[^\n]*|[\s()]+|(?:\\[0-9]{3}|\\.|[^\s();\\])+/gs

/** The mailbox of the SOA record at a place of a zone file, as it is written there; null where none is found. The records themselves have it in lower case. */
export function findSoaMailbox(text: string, { line, column }: SourcePosition): string | null {
  let start = 0
  for (let i = 1; i < line; i += 1) {
    start = text.indexOf('\n', start) + 1
    if (start === 0) return null
  }
  const tokens = text.slice(start + column - 1, start + column - 1 + MOST).match(TOKEN) ?? []
  const words = tokens.filter((token) => !/^[\s();]/.test(token))
  const type = words.findIndex((word) => /^(?:SOA|TYPE6)$/i.test(word))
  return type === -1 ? null : (words[type + 2] ?? null)
}
