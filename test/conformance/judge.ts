/**
 * Judges a zone by software that shares no code with ours: BIND parses the records of the step (`named-checkzone`), and `dig` reads the zone
 * by transfer. Both print BIND's canonical text, which must be equal.
 */
import type { ExpectedZone } from '../../src/conformance/run-conformance.ts'
import { rrsetKey } from '../../src/dns/record.ts'
import { checkZone } from '../support/tools.ts'
import { ZONE } from './targets.ts'

interface JudgeOptions {
  /** Whether the server stores the strings of a TXT record in other lengths. */
  readonly rejoinsTexts: boolean
  /** Whether RRsets have one TTL, which `dig` must show. */
  readonly comparesTtls: boolean
  /** Whether apex NS records are compared. */
  readonly hasApexNs: boolean
}

/** The differences between a step and a transferred zone. */
export async function judge(expected: ExpectedZone, transferred: readonly string[], options: JudgeOptions): Promise<string[]> {
  const wanted = await canonicalLines(expected.text)
  if (wanted === null) return []
  const [is, should] = [transferred, wanted].map((lines) => new Set(lines.flatMap((line) => contentOf(line, options) ?? []))) as [
    Set<string>,
    Set<string>,
  ]
  const differences = [
    ...[...should].filter((line) => !is.has(line)).map((line) => `missing ${line}`),
    ...[...is].filter((line) => !should.has(line)).map((line) => `unexpected ${line}`),
  ]
  return options.comparesTtls ? [...differences, ...ttlDifferences(expected, transferred)] : differences
}

/** Records that BIND needs to read a zone; they are not compared. */
const FRAME = `@ 300 SOA frame.invalid. frame.invalid. 1 2 3 4 5\n@ 300 NS frame.invalid.\n`

/** Types that BIND does not know. */
const PSEUDO_TYPES = /\s(?:ALIAS|LUA)\s/

/** The records as BIND prints them; null if it cannot read them. */
async function canonicalLines(text: string): Promise<readonly string[] | null> {
  if (PSEUDO_TYPES.test(text)) return null
  const hasSoa = /\sSOA\s/.test(text)
  const checks = '-i none -k ignore -m ignore -M ignore -n ignore -r ignore -S ignore -T ignore'.split(' ')
  const { status, stdout, stderr } = await checkZone(ZONE, `${hasSoa ? FRAME.replace(/^.*SOA.*\n/, '') : FRAME}${text}`, [
    ...checks,
    '-q',
    '-o',
    '-',
  ])
  if (status !== 0) throw new Error(`named-checkzone does not read the step: ${stderr}${stdout}`)
  return stdout.split('\n').filter((line) => line.trim() !== '')
}

/** BIND's own record of the state of signing. */
const BIND_SIGNING = 'TYPE65534'
const RECORD = /^(\S+)\s+(\d+)\s+IN\s+(\S+)\s+(.*)$/

/** Types whose data is case-insensitive. */
const NAMES = new Set(['CNAME', 'MX', 'NS', 'PTR', 'SRV', 'DNAME', 'RP'])

/** Owner, type and data of a line; null if it is not compared. */
function contentOf(line: string, { rejoinsTexts, hasApexNs }: JudgeOptions): string | null {
  const [, owner = '', , type = '', data = ''] = RECORD.exec(line) ?? []
  if (type === '' || type === 'SOA' || type === BIND_SIGNING || data === 'frame.invalid.') return null
  if (type === 'NS' && owner === `${ZONE}.` && !hasApexNs) return null
  const text = NAMES.has(type) ? data.toLowerCase() : rejoinsTexts && type === 'TXT' ? data.replaceAll('" "', '') : data
  return `${owner.toLowerCase()} ${type} ${text}`
}

function ttlDifferences({ records }: ExpectedZone, transferred: readonly string[]): string[] {
  const wanted = new Map(records.map((record) => [rrsetKey(record), record.ttl]))
  return transferred.flatMap((line) => {
    const [, owner = '', ttl, type = ''] = RECORD.exec(line) ?? []
    const should = wanted.get(`${owner.toLowerCase()} ${type}`)
    return should === undefined || should === null || should === Number(ttl) ? [] : [`${owner} ${type} has TTL ${ttl} instead of ${should}`]
  })
}
