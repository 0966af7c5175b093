import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { hasErrors } from '../../../src/base/diagnostic.ts'
import { rdataFields } from '../../../src/dns/rdata/canonical.ts'
import { RDATA_TYPES } from '../../../src/dns/rdata/rdata-types.ts'
import { fc } from '../../support/fast-check.ts'
import { rounds, seededRandom, suiteSeed } from '../../support/random.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { runTool } from '../../support/tools.ts'
import { anyRdata } from './any-rdata.ts'
import { REFUSED_BY_BIND, UNKNOWN_TO_BIND, UNKNOWN_TO_KNOT, UNKNOWN_TO_LDNS, UNKNOWN_TO_NSD } from './unknown-types.ts'
import { parse } from './zone-text.ts'

const UNKNOWN = new Set([...UNKNOWN_TO_BIND, ...REFUSED_BY_BIND])

const TYPES = [...RDATA_TYPES.values()]
  .filter(({ type, code }) => code !== null && type !== 'SOA' && !UNKNOWN.has(type))
  .map(({ type }) => type)

const EACH = rounds(8)

/** Replacement fields. */
const ODD_FIELDS = [...'0 -1 +1 256 65536 4294967296 00000000000000001 x - . "" a..b 192.0.2.256 ::1:: TYPE0 AQ abc'.split(' ')]

/** Random rdata texts with one mutation each; some stay valid. */
function mutated(type: string): string[] {
  const random = seededRandom(typeSeed(type))
  return fc.sample(anyRdata(type), { numRuns: EACH, seed: suiteSeed }).map((text) => {
    const fields = rdataFields(text)
    const at = random.below(fields.length)
    const field = fields[at] ?? ''
    const isPlain = !/["\\]/.test(field)
    switch (random.below(7)) {
      case 0:
        fields.splice(at, 1)
        break
      case 1:
        fields.splice(at, 0, field)
        break
      case 2:
        fields.push(random.pick(ODD_FIELDS))
        break
      case 3:
        if (isPlain) fields[at] = field.slice(0, -1)
        break
      case 4:
        if (isPlain) fields[at] = `${field}${random.pick(['0', 'a', '=', '.', '-'])}`
        break
      default:
        fields[at] = random.pick(ODD_FIELDS)
    }
    return fields.filter((one) => one !== '').join(' ')
  })
}

const typeSeed = (type: string): number => [...type].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7)
type Candidate = { readonly type: string; readonly text: string }
const HEAD = ['$ORIGIN example.com.', '$TTL 300', '@ SOA ns1 h 1 2h 15m 2w 5m', '@ NS ns1', 'ns1 A 192.0.2.53']

const zoneOf = (candidates: readonly Candidate[]): string =>
  [...HEAD, ...candidates.map(({ type, text }, i) => `c${i} ${type} ${text}`), ''].join('\n')

const saved = (text: string): string => {
  const file = join(temporaryDirectory(), 'zone')
  writeFileSync(file, text)
  return file
}

const BIND_OPTIONS = ['i none', 'k ignore', 'n ignore', 'm ignore', 'M ignore', 'S ignore', 'r ignore', 'T ignore'].flatMap((option) =>
  `-${option}`.split(' '),
)

/** The candidates that BIND refuses: it names the line of each. */
async function refusedByBind(candidates: readonly Candidate[]): Promise<Set<Candidate>> {
  const refused = new Set<Candidate>()
  for (;;) {
    const left = candidates.filter((one) => !refused.has(one))
    const { status, stdout, stderr } = await runTool('named-checkzone', [...BIND_OPTIONS, 'example.com', saved(zoneOf(left))])
    if (status === 0) return refused
    const before = refused.size
    for (const [, line] of `${stdout}${stderr}`.matchAll(/zone:([0-9]+): (?!.*(?:warning|deprecated|expired))/g)) {
      const candidate = left[Number(line) - HEAD.length - 1]
      if (candidate) refused.add(candidate)
    }
    if (refused.size === before) throw new Error(`${stdout}${stderr}`)
  }
}

/** Whether each other server that knows the type accepts the record. */
async function othersAccept(candidate: Candidate): Promise<boolean[]> {
  const file = saved(zoneOf([candidate]))
  const takes = async (unknown: readonly string[], tool: string, args: readonly string[]): Promise<boolean[]> => {
    if (unknown.includes(candidate.type)) return []
    const { status, stderr } = await runTool(tool, args)
    return [status === 0 && !/error/i.test(stderr)]
  }
  const all = await Promise.all([
    takes(UNKNOWN_TO_NSD, 'nsd-checkzone', ['example.com', file]),
    takes(UNKNOWN_TO_LDNS, 'ldns-read-zone', [file]),
    takes(UNKNOWN_TO_KNOT, 'kzonecheck', ['-o', 'example.com', '-d', 'off', file]),
  ])
  return all.flat()
}

const shown = ({ type, text }: Candidate): string => `${type} ${text.slice(0, 200)}`

/** Rdata that every server accepts and that is refused here because of an RFC. */
const REFUSED_HERE: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/ \+[0-9]+(?: |$)/, 'numbers have no sign'],
  [/^(?:LOC|DSYNC) .*0{9}/, 'sizes and types have no zeros in front'],
]

/** Rdata that every server with the type refuses and that is accepted here. */
const ACCEPTED_HERE: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/ ""$/, 'an empty piece of hexadecimal or base64 adds nothing'],
  [/^TA /, 'a digest of another length than its type makes is a warning'],
  [/ 0{9}/, 'zeros in front of a number mean nothing'],
]

const isDecided = (decided: typeof REFUSED_HERE, candidate: Candidate): boolean =>
  decided.some(([pattern]) => pattern.test(shown(candidate)))

describeWithTools(['named-checkzone', 'nsd-checkzone', 'ldns-read-zone', 'kzonecheck'], 'mutated rdata', () => {
  const candidates = TYPES.flatMap((type) => mutated(type).map((text): Candidate => ({ type, text })))
  let refused: Set<Candidate>

  beforeAll(async () => {
    refused = await refusedByBind(candidates)
  })

  const takenHere = ({ type, text }: Candidate): boolean => !hasErrors(parse(zoneOf([{ type, text }])).diagnostics)

  describe('servers and we', () => {
    test('accepts everything that all servers accept', async () => {
      const alone: string[] = []
      for (const candidate of candidates) {
        if (refused.has(candidate) || takenHere(candidate) || isDecided(REFUSED_HERE, candidate)) continue
        if ((await othersAccept(candidate)).every((takes) => takes)) alone.push(shown(candidate))
      }
      expect(alone).toEqual([])
    })

    test('refuses everything that all servers refuse', async () => {
      const alone: string[] = []
      for (const candidate of candidates) {
        if (!refused.has(candidate) || !takenHere(candidate) || isDecided(ACCEPTED_HERE, candidate)) continue
        if ((await othersAccept(candidate)).every((takes) => !takes)) alone.push(shown(candidate))
      }
      expect(alone).toEqual([])
    })
  })
})
