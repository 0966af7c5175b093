import { readFileSync } from 'node:fs'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { decodeRdata } from '../../../src/dns/rdata/rdata-codec.ts'
import { typeCode } from '../../../src/dns/record-type.ts'
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts'
import type { ReadZoneInclude } from '../../../src/dns/zone-file/scope.ts'
import { name } from '../../support/records.ts'
import type { ReadZoneFile } from './zone-text.ts'

/**
 * WKS in its own form: the address, the protocol, and the ports, in parentheses or not.Other projects still write it; here WKS has only the
 * generic form.
 */
const WKS = /^(\S*[ \t]+(?:[0-9]+[ \t]+)?(?:IN[ \t]+)?WKS)[ \t]+([0-9.]+)[ \t]+(tcp|udp|[0-9]+)[ \t]+([^()\n;]*|\([^()\n]*\))[ \t]*$/gim
const WKS_NUMBERS: Readonly<Record<string, number>> = { tcp: 6, udp: 17, domain: 53, http: 80, www: 80 }

/** A zone file with its WKS records in the generic form. */
export const withGenericWks = (text: string): string =>
  text.replace(WKS, (_, head: string, address: string, protocol: string, services: string) => {
    const numberOf = (word: string): number => WKS_NUMBERS[word.toLowerCase()] ?? Number(word)
    const ports = services
      .split(/[\s()]+/)
      .filter((word) => word !== '')
      .map(numberOf)
    const bits = Buffer.alloc((Math.max(...ports) >> 3) + 1)
    for (const port of ports) bits[port >> 3] = (bits[port >> 3] as number) | (0x80 >> (port & 7))
    const octets = Buffer.from([...address.split('.').map(Number), numberOf(protocol), ...bits])
    return `${head} \\# ${octets.length} ${octets.toString('hex')}`
  })

const folder = new URL('../../corpora/zonefile/', import.meta.url)
export const readCorpus = (path: string): string => readFileSync(new URL(path, folder), 'utf8')
type Tool = 'named_relaxed' | 'nsd' | 'ldns'

/** A zone file of another project, and the results of other implementations. */
export interface CorpusZone {
  readonly id: string
  readonly file: string
  readonly origin: string
  readonly suite: string
  readonly expect: 'accept' | 'reject'
  readonly verdicts: Readonly<Record<Tool, 'ok' | 'reject'>>
  /** The file with its records, if they are known. */
  readonly expected?: string
  /** At least two other implementations agree with the suite. */
  readonly hard: boolean
}

type ExpectedRecord = { readonly owner: string; readonly ttl: number; readonly type: string; readonly rdata_hex: string }

const jsonLines = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line))

export const CORPUS = jsonLines(readCorpus('cases.jsonl')) as CorpusZone[]
export const originOf = ({ origin }: CorpusZone): DomainName => name(origin.endsWith('.') ? origin : `${origin}.`)

/** Reads a zone of the corpus; the files that it includes are in the same folder. */
export function parseCorpusZone(zone: CorpusZone): ReadZoneFile {
  const beside = zone.file.replace(/[^/]*$/, '')
  const include: ReadZoneInclude = (path) => ({ ok: true, value: { file: path, text: readCorpus(beside + path) } })
  const origin = originOf(zone)
  const parsed = parseZoneFile(withGenericWks(readCorpus(zone.file)), { origin, zone: origin, file: zone.file, include })
  return { ...parsed, records: [...parsed.records] }
}

/** The records that other implementations find in the zone, one line each, decoded from their octets; null if unknown. */
export function expectedLines({ expected }: CorpusZone): string[] | null {
  if (expected === undefined) return null
  return (jsonLines(readCorpus(expected)) as ExpectedRecord[]).map(({ owner, ttl, type, rdata_hex }) => {
    const octets = Buffer.from(rdata_hex, 'hex')
    const data = decodeRdata(typeCode(type) ?? -1, octets, 0, octets.length)
    if (!data.ok) throw new Error(`${owner} ${type}: ${data.message}`)
    return `${name(owner)} ${ttl} ${type} ${data.value}`
  })
}
