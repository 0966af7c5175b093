/** The result of `trace`, as text and JSON. */
import { oneLine } from '../base/diagnostic.ts'
import { agreeing, counted } from '../base/english.ts'
import { jsonText } from '../base/text.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { paletteOf } from './palette.ts'

/** What one place on the way from a definition to a client says about a name and type. */
export interface TraceStep {
  readonly place: 'definition' | 'provider' | 'parent' | 'nameserver' | 'child' | 'resolver' | 'run'
  /** A file with its line, a provider, the address of a server, or a run. */
  readonly subject: string
  /** `stated`: nothing to compare with. `failed`: it could not be asked, and the first note says why. */
  readonly state: 'stated' | 'same' | 'different' | 'failed'
  /** `NAME TTL TYPE DATA` of each record. The TTL of a resolver is what is left of it. */
  readonly records: readonly string[]
  readonly notes: readonly string[]
}

export interface Trace {
  readonly name: DomainName
  readonly type: string
  /** The zone of the definition, or the one that the resolvers name; null if neither is known. */
  readonly zone: DomainName | null
  readonly steps: readonly TraceStep[]
}

const count = ({ steps }: Trace, state: TraceStep['state']): number => steps.filter((step) => step.state === state).length

/** Renders the document with a fixed order of keys. */
export const renderTraceJson = (trace: Trace): string =>
  jsonText({
    format: 'zonewright-trace',
    version: 1,
    name: trace.name,
    type: trace.type,
    zone: trace.zone,
    steps: trace.steps.map(({ place, subject, state, records, notes }) => ({ place, subject, state, records, notes })),
    summary: { different: count(trace, 'different'), failed: count(trace, 'failed') },
  })

const TITLES: Readonly<Record<TraceStep['place'], string>> = {
  definition: 'Definition',
  provider: 'Provider',
  parent: 'Parent zone',
  nameserver: 'Name servers',
  child: 'Name servers of the delegated zone',
  resolver: 'Resolvers',
  run: 'Last run that changed it',
}

const MARKS = { stated: ' ', same: '=', different: '≠', failed: '!' } as const

export function renderTraceText(trace: Trace, { color }: { readonly color: boolean }): string {
  const palette = paletteOf(color)
  const paint = { stated: palette.bold, same: palette.added, different: palette.error, failed: palette.error }
  const lines = [palette.bold(`${trace.name} ${trace.type}`)]
  let shown: TraceStep['place'] | null = null
  for (const { place, subject, state, records, notes } of trace.steps) {
    if (place !== shown) lines.push('', TITLES[place])
    shown = place
    lines.push(`${paint[state](`${MARKS[state]} ${oneLine(subject)}`)}`)
    for (const record of records) lines.push(`    ${oneLine(record)}`)
    for (const note of notes) lines.push((state === 'failed' ? palette.error : palette.dim)(`    ${oneLine(note)}`))
  }
  const [different, failed, same] = [count(trace, 'different'), count(trace, 'failed'), count(trace, 'same')]
  const silent = new Set(trace.steps.flatMap(({ state, place }) => (state === 'failed' ? TITLES[place].toLowerCase() : [])))
  const found = different === 0 ? [] : [`${counted(different, 'place')} ${agreeing(different, 'differs', 'differ')} (≠)`]
  const unknown = failed === 0 ? [] : [`${counted(failed, 'place')} could not be queried (!): ${[...silent].join(', ')}`]
  const agreed = same === 0 ? 'nothing was compared' : `${counted(same, 'place')} ${agreeing(same, 'agrees', 'agree')} (=)`
  const parts = different > 0 ? [...found, ...unknown] : failed > 0 ? [`Incomplete: ${unknown}`, agreed] : ['No differences']
  lines.push('', (different + failed === 0 ? palette.added : palette.error)(`${parts.join('; ')}.`))
  const first = trace.steps.find(({ state }) => state === 'different')
  // A resolver may only repeat what is wrong at a place that is not known.
  if (first !== undefined && (first.place !== 'resolver' || failed === 0)) lines.push(remedy(first, trace))
  return `${lines.join('\n')}\n`
}

/** What is wrong at the first place that differs, and how to correct it. */
function remedy({ place, subject, records }: TraceStep, { zone, steps }: Trace): string {
  const isDefined = steps.some((one) => one.place === 'definition' && one.records.length > 0)
  const who = oneLine(subject)
  const name = String(zone).replace(/(?<=.)\.$/, '')
  if (place === 'provider') {
    const [what, does] = !isDefined
      ? ['differs from the definition', 'corrects it']
      : records.length === 0
        ? ['lacks the record', 'creates it']
        : ['has other records', 'changes them']
    return `${who} ${what}: "zonewright apply ${name}" ${does}.`
  }
  if (place === 'parent') return `${who} has another delegation: correct it at the registrar.`
  if (place === 'resolver') return `${who} has another answer: it asks again when the TTL ends.`
  return `${who} has another answer: wait until it has the zone, then run "zonewright verify ${name}".`
}
