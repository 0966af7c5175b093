import { type DomainName, parseDomainName } from '../../src/model/domain-name.ts'
import { canonicalRdata } from '../../src/model/rdata/canonical.ts'
import type { Token } from '../../src/model/rdata/field-kind.ts'
import type { DefinedRecord } from '../../src/model/record.ts'
import { parseTtl } from '../../src/model/ttl.ts'
import type { DesiredZone } from '../../src/model/zone.ts'

export function nameOf(text: string, origin: DomainName | null = null): DomainName {
  const name = parseDomainName(text, origin)
  if (!name.ok) throw new Error(name.message)
  return name.value
}

/** A zone from lines `name ttl type data`, where the TTL may be `-` for none. The place of a record is its line, counted from 1. */
export function zoneOfLines(lines: readonly string[], settings: Partial<DesiredZone> = {}): DesiredZone {
  const zone = settings.name ?? nameOf('example.com.')
  return {
    name: zone,
    at: { file: 'example.com.yaml', line: 1, column: 1 },
    settings: {},
    records: lines.map((line, i) => recordOfLine(line, i + 1, zone)),
    foreign: [],
    scopes: [],
    unmanaged: [],
    apexNs: 'keep',
    unsupported: 'error',
    absent: false,
    targets: null,
    policy: null,
    allow: [],
    ...settings,
  }
}

function recordOfLine(line: string, number: number, zone: DomainName): DefinedRecord {
  const [name = '', ttl = '', type = '', ...rest] = line.split(' ')
  const data = canonicalRdata(type, tokensOf(rest.join(' ')), (text) => parseDomainName(text, zone))
  if (!data.ok) throw new Error(`${line}: ${data.message}`)
  const seconds = ttl === '-' ? null : parseTtl(ttl)
  if (seconds !== null && !seconds.ok) throw new Error(seconds.message)
  return {
    name: nameOf(name, zone),
    type,
    ttl: seconds === null ? null : seconds.value,
    data: data.value,
    at: { file: 'example.com.yaml', line: number, column: 1 },
  }
}

const tokensOf = (text: string): Token[] =>
  [...text.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, plain]) => ({
    text: quoted ?? plain ?? '',
    quoted: quoted !== undefined,
  }))
