import { readFileSync } from 'node:fs'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { decodeRdata } from '../../../src/dns/rdata/rdata-codec.ts'
import { typeCode } from '../../../src/dns/record-type.ts'
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts'
import type { ReadZoneInclude } from '../../../src/dns/zone-file/scope.ts'
import { name } from '../../support/records.ts'
import type { ReadZoneFile } from './zone-text.ts'

const folder = new URL('../../corpora/zonefile/', import.meta.url)

export const readCorpus = (path: string): string => readFileSync(new URL(path, folder), 'utf8')

type Tool = 'named_relaxed' | 'nsd' | 'ldns'

/** A zone file of another project, and what others make of it. */
export interface CorpusZone {
  readonly id: string
  readonly file: string
  readonly origin: string
  readonly suite: string
  readonly expect: 'accept' | 'reject'
  readonly verdicts: Readonly<Record<Tool, 'ok' | 'reject'>>
  /** The file with its records, where they are known. */
  readonly expected?: string
  /** At least two other implementations agree with the suite. */
  readonly hard: boolean
}

interface ExpectedRecord {
  readonly owner: string
  readonly ttl: number
  readonly type: string
  readonly rdata_hex: string
}

const jsonLines = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line))

export const CORPUS = jsonLines(readCorpus('cases.jsonl')) as CorpusZone[]

export const originOf = ({ origin }: CorpusZone): DomainName => name(origin.endsWith('.') ? origin : `${origin}.`)

/** Reads a zone of the corpus; files that it includes stand beside it. */
export function parseCorpusZone(zone: CorpusZone): ReadZoneFile {
  const beside = zone.file.replace(/[^/]*$/, '')
  const include: ReadZoneInclude = (path) => ({ ok: true, value: { file: path, text: readCorpus(beside + path) } })
  const origin = originOf(zone)
  const parsed = parseZoneFile(readCorpus(zone.file), { origin, zone: origin, file: zone.file, include })
  return { ...parsed, records: [...parsed.records] }
}

/** The records that others find in the zone, one line each, decoded from their octets; null where they are not known. */
export function expectedLines({ expected }: CorpusZone): string[] | null {
  if (expected === undefined) return null
  return (jsonLines(readCorpus(expected)) as ExpectedRecord[]).map(({ owner, ttl, type, rdata_hex }) => {
    const octets = Buffer.from(rdata_hex, 'hex')
    const data = decodeRdata(typeCode(type) ?? -1, octets, 0, octets.length)
    if (!data.ok) throw new Error(`${owner} ${type}: ${data.message}`)
    return `${name(owner)} ${ttl} ${type} ${data.value}`
  })
}
