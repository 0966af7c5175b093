/** Lists of the served zones for name servers: snippets of a configuration, and a catalog zone (RFC 9432). */
import { createHash } from 'node:crypto'
import { compareNames, type DomainName, labelsOf, nameFromLabels, parseAbsoluteName, ROOT } from '../../dns/domain-name.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'

export type ListFormat = 'bind' | 'nsd' | 'knot'

export interface ServedFile {
  readonly zone: DomainName
  /** The path of its file as the server sees it. */
  readonly path: string
}

/** A name as the configuration of a server has it, in quotation marks; without the final dot, except for the root. */
const quotedName = (zone: DomainName): string => quote(zone === ROOT ? zone : zone.slice(0, -1))

const quote = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`

const PRINTERS: Readonly<Record<ListFormat, (file: ServedFile, lines: readonly string[]) => string>> = {
  bind: ({ zone, path }, lines) =>
    `zone ${quotedName(zone)} {\n  type primary;\n  file ${quote(path)};\n${lines.map((line) => `  ${line}\n`).join('')}};\n`,
  nsd: ({ zone, path }, lines) =>
    `zone:\n  name: ${quotedName(zone)}\n  zonefile: ${quote(path)}\n${lines.map((line) => `  ${line}\n`).join('')}`,
  knot: ({ zone, path }, lines) =>
    `  - domain: ${quotedName(zone)}\n    file: ${quote(path)}\n${lines.map((line) => `    ${line}\n`).join('')}`,
}

const HEADERS: Readonly<Record<ListFormat, string>> = { bind: '//', nsd: '#', knot: '#' }

/** The text that a server's configuration includes: one entry per zone, each with `lines` in the server's own syntax. */
export function printZoneList(files: readonly ServedFile[], format: ListFormat, lines: readonly string[]): string {
  const sorted = [...files].sort((a, b) => compareNames(a.zone, b.zone))
  const header = `${HEADERS[format]} Written by Zonewright. The next change overwrites this file.\n`
  // Knot DNS allows a section once, and refuses an empty one.
  const section = format === 'knot' && sorted.length > 0 ? 'zone:\n' : ''
  return header + section + sorted.map((file) => PRINTERS[format](file, lines)).join('')
}

/** The zones of a list, in the order of their entries. */
export const zonesOfList = (text: string): DomainName[] =>
  [...text.matchAll(/^(?:zone| +name:| +- domain:) "((?:[^"\\]|\\.)+)"/gm)].flatMap(([, name = '']) => {
    const zone = parseAbsoluteName(name.replace(/\\(.)/g, '$1'))
    return zone.ok ? [zone.value] : []
  })

const CATALOG_TTL = 0 as Ttl

/** The records of a catalog zone without its SOA record (RFC 9432 section 4): version 2 and one PTR record per member. */
export function catalogRecords(catalog: DomainName, members: readonly DomainName[]): ResourceRecord[] {
  const below = (...labels: readonly string[]): DomainName =>
    nameFromLabels([...labels.map((label) => Buffer.from(label)), ...labelsOf(catalog)])
  return [
    { name: catalog, type: 'NS', ttl: CATALOG_TTL, data: 'invalid.' },
    { name: below('version'), type: 'TXT', ttl: CATALOG_TTL, data: '"2"' },
    ...members.map((zone) => ({ name: below(memberLabel(zone), 'zones'), type: 'PTR', ttl: CATALOG_TTL, data: zone })),
  ]
}

/** A label that a zone always has, so that consumers keep its state (RFC 9432 section 5.6), and no other zone. */
const memberLabel = (zone: DomainName): string => createHash('sha256').update(zone).digest('hex').slice(0, 32)
