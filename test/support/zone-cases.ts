/** Generates small zones before and after a change, as zone text, and shrinks and prints failing cases. */
import { type ExistingRecord, type ResourceRecord, rrsetKey } from '../../src/dns/record.ts'
import type { UnmanagedSelector } from '../../src/dns/zone.ts'
import type { PlanInput } from '../../src/plan/make-plan.ts'
import type { ZonePlan } from '../../src/plan/plan.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { changesOf, ORIGIN, planOf } from './plan.ts'
import type { Random } from './random.ts'
import { desiredZone, existingZone, records } from './records.ts'
import { identity, refusalOf, type SimulatedCall, type Stage, stagesOf } from './zone-simulator.ts'

export interface ZoneCase {
  /** Lines of zone text, including unmanaged records. */
  readonly existing: readonly string[]
  readonly desired: readonly string[]
  /** The maximum number of records in the zone; null without a limit. */
  readonly limit: number | null
}

/** The unmanaged records of all cases: everything at `theirs…`, addresses in 198.51.100.0/24, and texts that begin with "unmanaged". */
export const UNMANAGED: readonly UnmanagedSelector[] = [{ name: 'theirs*' }, { target: '198.51.100.*' }, { target: '"unmanaged*' }]
export const isUnmanaged = (line: string): boolean => line.startsWith('theirs') || / 198\.51\.100\.| "unmanaged/.test(line)
const parsed = new Map<string, ResourceRecord>()

export function recordOf(line: string): ResourceRecord {
  let record = parsed.get(line)
  if (!record) {
    const { name, type, ttl, data } = records(ORIGIN, line)[0] as ResourceRecord
    record = { name, type, ttl, data }
    parsed.set(line, record)
  }
  return record
}

/** All records of the zone after the change, as lines: the desired and the unmanaged ones. */
export const finalLines = ({ existing, desired }: ZoneCase): string[] => [...existing.filter(isUnmanaged), ...desired]
export const stagesOfCase = (zone: ZoneCase): Stage[] => stagesOf(zone.existing.map(recordOf), finalLines(zone).map(recordOf))

/** Whether managed and unmanaged records of one RRset have the same TTL. Otherwise a plan takes the live one for both. */
function agreesOnTtls({ existing, desired }: ZoneCase): boolean {
  const managed = desired.map(recordOf)
  const isOther = (one: ResourceRecord) => (other: ResourceRecord) => rrsetKey(one) === rrsetKey(other) && one.ttl !== other.ttl
  return !existing
    .filter(isUnmanaged)
    .map(recordOf)
    .some((record) => managed.some(isOther(record)))
}

/** Whether both zones are valid at the service, and the definition has no duplicates and no TTL that a plan would change. */
export function isSound(zone: ZoneCase): boolean {
  const final = finalLines(zone).map(recordOf)
  const keys = new Set(zone.desired.map(recordOf).map(({ name, type, data }) => `${name} ${type} ${data}`))
  return (
    keys.size === zone.desired.length &&
    agreesOnTtls(zone) &&
    refusalOf(zone.existing.map(recordOf), zone.limit) === null &&
    refusalOf(final, zone.limit) === null
  )
}

/** The plan for a target that stores every record unchanged. */
export function planCase(zone: ZoneCase, more: Partial<PlanInput> = {}): ZonePlan {
  const at = { file: 'zone', line: 1, column: 1 }
  const existing: ExistingRecord[] = zone.existing.map((line, index) => ({ id: index + 1, ...recordOf(line) }))
  return planOf('', '', {
    existing: { ...existingZone(ORIGIN, ''), records: existing },
    desired: {
      ...desiredZone(ORIGIN, ''),
      records: zone.desired.map((line) => ({ ...recordOf(line), at })),
      unmanaged: UNMANAGED,
      apexNs: 'manage',
    },
    capabilities: { ...CLOUD_CAPABILITIES, types: null, ttlSteps: null, rules: [], servesApexNs: false, maxRecords: zone.limit },
    ...more,
  })
}

/** The calls of a plan with the stages of its case; throws if a call removes or adds a record that should not change. */
export function callsOf(plan: ZonePlan, stages: readonly Stage[]): SimulatedCall[] {
  const removals = new Map<string, Stage[]>()
  const additions = new Map<string, Stage[]>()
  for (const stage of stages) {
    if (stage.before && stage.after) continue
    const side = stage.before ? removals : additions
    side.set(identity(stage.record), [...(side.get(identity(stage.record)) ?? []), stage])
  }
  const take = (side: Map<string, Stage[]>, record: ResourceRecord | null): Stage | null => {
    if (record === null) return null
    const stage = side.get(identity(record))?.shift()
    if (!stage) throw new Error(`a call for ${identity(record)}, which is not needed`)
    return stage
  }
  const calls = plan.changes.map((change) => {
    if (change.subject !== 'record') throw new Error('a change of the zone itself')
    if (change.existing && change.desired && change.existing.type !== change.desired.type)
      throw new Error('an update that changes the type')
    return { removed: take(removals, change.existing), added: take(additions, change.desired) }
  })
  const unused = [...removals.values(), ...additions.values()].flat()
  if (unused.length > 0) throw new Error(`no call for ${identity((unused[0] as Stage).record)}`)
  return calls
}

/** For each call, the calls that it waits for. */
export const waitsOf = (plan: ZonePlan): (readonly number[])[] => plan.changes.map(({ after }) => after)

/** Removes every record that the failure does not need. */
export function shrink(zone: ZoneCase, fails: (zone: ZoneCase) => boolean): ZoneCase {
  const failing = (candidate: ZoneCase): boolean => isSound(candidate) && fails(candidate)
  for (let size = Math.max(zone.existing.length, zone.desired.length); size >= 1; ) {
    const smaller = [...dropped(zone, size)].find(failing)
    if (smaller) zone = smaller
    else size = Math.floor(size / 2)
  }
  return zone
}

/** Removes runs of this many records from both zones, then runs of desired records only. */
function* dropped(zone: ZoneCase, size: number): Generator<ZoneCase> {
  const lower = (count: number): number | null => (zone.limit === null ? null : Math.max(0, zone.limit - count))
  for (let from = 0; from < zone.existing.length; from += size) {
    const run = zone.existing.slice(from, from + size)
    const existing = zone.existing.toSpliced(from, size)
    const rest = zone.desired.filter((line) => !run.includes(line))
    const cases = [...(rest.length < zone.desired.length ? [{ ...zone, existing, desired: rest }] : []), { ...zone, existing }]
    for (const one of cases) {
      yield { ...one, limit: lower(run.length) }
      if (zone.limit !== null) yield one
    }
  }
  for (let from = 0; from < zone.desired.length; from += size) yield { ...zone, desired: zone.desired.toSpliced(from, size) }
}

/** Prints a case as text for a table of cases. */
export function showCase(zone: ZoneCase, plan: ZonePlan | null = null): string {
  const block = (title: string, lines: readonly string[]): string => [`${title}:`, ...lines.map((line) => `  ${line}`)].join('\n')
  return [
    block('existing', zone.existing),
    block('desired', zone.desired),
    ...(zone.limit === null ? [] : [`limit: ${zone.limit}`]),
    ...(plan === null
      ? []
      : [
          block(
            'plan',
            changesOf(plan).map((change, index) => `${index}: ${change}`),
          ),
        ]),
  ].join('\n')
}

/** The first failing cases, shrunk and printed; empty if none fails. `problemOf` returns a problem as a sentence, or null. */
export function failuresOf(count: number, zoneOf: (at: number) => ZoneCase | null, problemOf: (zone: ZoneCase) => string | null, most = 3) {
  const problem = (zone: ZoneCase): string | null => attempt(() => problemOf(zone))
  const shown = new Set<string>()
  let failing = 0
  let tried = 0
  for (let index = 0; index < count; index += 1) {
    const zone = zoneOf(index)
    if (zone === null) continue
    tried += 1
    if (problem(zone) === null) continue
    failing += 1
    if (shown.size >= most) continue
    const least = shrink(zone, (candidate) => problem(candidate) !== null)
    shown.add(`${problem(least)}\n${showPlanned(least)}`)
  }
  if (tried * 10 < count) return `only ${tried} of ${count} cases could be tried`
  return failing === 0 ? '' : `${failing} of ${tried} cases fail, such as\n\n${[...shown].join('\n\n')}\n`
}

/** Runs `check`; a thrown error is a problem too. */
export function attempt(check: () => string | null): string | null {
  try {
    return check()
  } catch (error) {
    return String(error)
  }
}

/** Prints the case with its plan, if there is one. */
export function showPlanned(zone: ZoneCase): string {
  try {
    return showCase(zone, planCase(zone))
  } catch {
    return showCase(zone)
  }
}

const NAMES = ['@', 'a', 'b', 'c', 'd.a'] as const

/** A random record that does not conflict with the others, as a line; null if a few attempts find none. */
function randomLine(random: Random, names: readonly string[], beside: readonly string[], owner = random.pick(names)): string | null {
  for (let attempt = 0; attempt < 6; attempt += 1) {
    const type = random.pick(['A', 'A', 'A', 'CNAME', 'CNAME', 'CNAME', 'MX', 'MX', 'AAAA', 'NS', 'TXT', 'SRV', 'ALIAS', 'DNAME'])
    const line = `${owner} ${random.chance(0.15) ? '300 ' : ''}${type} ${randomData(random, type, names)}`
    if (fits(line, beside)) return line
    if (attempt > 2) owner = random.pick(names)
  }
  return null
}

function randomData(random: Random, type: string, names: readonly string[]): string {
  const target = random.chance(0.85) ? random.pick(names) : 'host.example.net.'
  switch (type) {
    case 'A':
      return `192.0.2.${1 + random.below(4)}`
    case 'AAAA':
      return `2001:db8::${1 + random.below(2)}`
    case 'MX':
      return random.chance(0.3) ? '0 .' : `${random.pick(['10', '20'])} ${target}`
    case 'TXT':
      return random.pick(['"x"', '"y"'])
    case 'SRV':
      return `0 5 443 ${target}`
    default:
      return target
  }
}

function fits(line: string, beside: readonly string[]): boolean {
  const record = recordOf(line)
  const others = beside.map(recordOf)
  if (others.some(({ name, type, data }) => name === record.name && type === record.type && data === record.data)) return false
  return refusalOf([...others, record], null) === null
}

/** A zone whose records are kept, changed in place, renamed, removed and added. At most six are removed and six added. */
export function randomCase(random: Random, names: readonly string[] = NAMES, size = 6): ZoneCase {
  const existing: string[] = []
  for (let i = random.below(size) + 1; i > 0; i -= 1) {
    const line = randomLine(random, names, existing)
    if (line !== null) existing.push(line)
  }
  if (random.chance(0.15)) {
    const line = random.pick(['theirs A 192.0.2.9', `theirs CNAME ${random.pick(names)}`, `${random.pick(names)} A 198.51.100.1`])
    if (fits(line, existing)) existing.push(line)
  }
  const surplus = random.chance(0.05) ? existing.find((line) => !isUnmanaged(line) && recordOf(line).type !== 'CNAME') : undefined
  if (surplus !== undefined) existing.push(surplus)

  const desired: string[] = []
  const others = existing.filter(isUnmanaged)
  const add = (line: string | null): void => {
    if (line !== null && fits(line, [...others, ...desired])) desired.push(line)
  }
  for (const line of random.shuffle(existing)) {
    if (isUnmanaged(line)) continue
    const { type } = recordOf(line)
    const owner = line.slice(0, line.indexOf(' '))
    const choice = random.below(20)
    if (choice < 6) add(line)
    else if (choice < 11) add(`${owner} ${type} ${randomData(random, type, names)}`)
    else if (choice < 15) add(`${random.pick(names)} ${line.slice(owner.length + 1)}`)
    else if (choice < 17) add(randomLine(random, names, [...others, ...desired], owner))
  }
  for (let i = random.below(Math.max(4, size / 2)); i > 0; i -= 1) add(randomLine(random, names, [...others, ...desired]))
  return { existing, desired, limit: null }
}

/** Names that swap their records, which creates cycles of updates. */
export function tradingCase(random: Random, names: readonly string[] = NAMES): ZoneCase {
  const places = random.shuffle(names).slice(0, 2 + random.below(names.length - 1))
  const contents = places.map(() => randomContent(random, names))
  const traded = random.chance(0.5) ? [...contents.slice(1), contents[0] as string[]] : random.shuffle(contents)
  const at = (content: readonly string[][]): string[] => content.flatMap((lines, index) => lines.map((line) => `${places[index]} ${line}`))
  const existing = at(contents)
  const desired = at(traded.map((lines) => lines.map((line) => (random.chance(0.15) ? `300 ${line}` : line))))
  for (let i = random.below(3); i > 0; i -= 1) {
    const line = randomLine(random, names, [...existing, ...desired])
    if (line === null) continue
    if (random.chance(0.6)) existing.push(line)
    if (random.chance(0.6)) desired.push(line)
  }
  return { existing, desired, limit: null }
}

/** Records that move to other names, with the pointers to them: the new ones must be added first, even with little room. */
export function movingCase(random: Random, names: readonly string[] = NAMES): ZoneCase {
  const existing: string[] = []
  for (let i = 2 + random.below(5); i > 0; i -= 1) {
    const line = randomLine(random, names, existing)
    if (line !== null) existing.push(line)
  }
  const shuffled = random.shuffle([...names, 'e', 'f'])
  const moved = new Map(names.map((name, index) => [name, random.chance(0.3) ? name : (shuffled[index] as string)]))
  const desired: string[] = []
  const add = (line: string | null): void => {
    if (line !== null && fits(line, desired)) desired.push(line)
  }
  for (const line of existing) {
    const words = line.split(' ').map((word, index) => (index === 0 || random.chance(0.8) ? (moved.get(word) ?? word) : word))
    if (random.chance(0.9)) add(words.join(' '))
  }
  for (let i = random.below(3); i > 0; i -= 1) add(randomLine(random, names, desired))
  return { existing, desired, limit: null }
}

/** Changes in which a record must be added before another is removed, among changes that can make room for it. */
const NEEDS_ROOM: readonly (readonly [existing: readonly string[], desired: readonly string[]])[] = [
  [
    ['g A 192.0.2.1', 'w CNAME g'],
    ['h A 192.0.2.1', 'w CNAME h'],
  ],
  [
    ['g A 192.0.2.1', 'w CNAME g'],
    ['g AAAA 2001:db8::1', 'w CNAME g'],
  ],
  [
    ['g AAAA 2001:db8::1', 'w MX 10 g', 'h TXT "x"'],
    ['h AAAA 2001:db8::1', 'w MX 10 h', 'g TXT "x"'],
  ],
  [
    ['w NS g', 'g A 192.0.2.1'],
    ['w NS h', 'h A 192.0.2.1'],
  ],
  [
    ['g CNAME h', 'h A 192.0.2.1'],
    ['g A 192.0.2.1', 'h CNAME g'],
  ],
]

/** One or two changes that need room, at possibly shared names, in a zone with room for `headroom` more records. */
export function tightCase(random: Random, headroom: number): ZoneCase {
  const names = [...NAMES, 'g', 'h']
  const existing: string[] = []
  const desired: string[] = []
  const add = (lines: string[], line: string | null): void => {
    if (line !== null && fits(line, lines)) lines.push(line)
  }
  for (let i = 1 + random.below(2); i > 0; i -= 1) {
    const [from, to] = random.shuffle(random.pick(NEEDS_ROOM)) as [string[], string[]]
    const own = new Map([...'ghw'].map((letter, index) => [letter, i === 1 ? letter : ['@', 'd.a', 'c'][index]]))
    const renamed = (line: string): string => line.replace(/\b[ghw]\b/g, (letter) => own.get(letter) as string)
    for (const line of from) add(existing, renamed(line))
    for (const line of to) add(desired, renamed(line))
  }
  for (let i = random.below(4); i > 0; i -= 1) {
    const line = randomLine(random, names, [...existing, ...desired])
    if (line === null) continue
    const [owner, ...rest] = line.split(' ')
    add(existing, line)
    const choice = random.below(4)
    if (choice === 0) add(desired, `${random.pick(names)} ${rest.join(' ')}`)
    else if (choice === 1) add(desired, `${owner} ${rest[0] === '300' ? rest.slice(1).join(' ') : `300 ${rest.join(' ')}`}`)
    else if (choice === 2) add(desired, randomLine(random, names, desired))
  }
  return { existing, desired, limit: Math.max(existing.length, desired.length) + headroom }
}

function randomContent(random: Random, names: readonly string[]): string[] {
  const of = (type: string): string => `${type} ${randomData(random, type, names)}`
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2:
      return [of('CNAME')]
    case 3:
      return ['A 192.0.2.1', 'AAAA 2001:db8::1']
    case 4:
      return [random.chance(0.5) ? 'MX 0 .' : 'MX 10 a', of('A')]
    case 5:
      return [of('MX'), of('TXT')].slice(random.below(2))
    default:
      return [of('A')]
  }
}
