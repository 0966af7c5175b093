/** Lists of the served zones for the configurations of name servers. */
import { compareNames, type DomainName, parseAbsoluteName, ROOT } from '../../dns/domain-name.ts'

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
