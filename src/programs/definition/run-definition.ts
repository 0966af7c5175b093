/** Zones of programs that import `zonewright/definition`: what they made becomes the tree of a definition in YAML, which one parser checks. */
import { parseCsv } from '../../base/csv.ts'
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import { parseTree } from '../../definition/parse/parse-definition.ts'
import type { YamlEntry, YamlMapping, YamlNode, YamlScalar } from '../../definition/yaml/yaml-node.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import type { ProgramZone } from '../../load/program-loader.ts'
import { withRules } from '../../load/read-definition.ts'
import type { Sandbox } from '../sandbox/run-program.ts'
import { type ProgramRun, positionsOf } from '../sandbox/sandbox.ts'
import { definitionPrelude, type MadeRecord, type MadeZone, type Plain } from './prelude.ts'

export interface DefinitionRun {
  readonly zones: readonly ProgramZone[]
  readonly diagnostics: readonly Diagnostic[]
  readonly filesRead: readonly string[]
}

/** The names of functions and their record types. A SOA record is made by settings. */
export const TYPE_FUNCTIONS: readonly (readonly [name: string, type: string])[] = [...RDATA_TYPES.keys()]
  .filter((type) => type !== 'SOA')
  .map((type) => [type.replaceAll('-', '_'), type])

const PRELUDE = `(host) => (${definitionPrelude})(host, ${JSON.stringify(TYPE_FUNCTIONS)}, ${parseCsv})`

/** Runs a program and parses its zones. Every diagnostic has the place of the call that made the record. */
export async function runDefinition(sandbox: Sandbox, program: Omit<ProgramRun, 'language' | 'prelude'>): Promise<DefinitionRun> {
  const { output, diagnostics, filesRead } = await sandbox.run({ ...program, language: 'definition', prelude: PRELUDE })
  if (output === null) return { zones: [], diagnostics, filesRead }
  const { file } = program.entry
  const made = output.value
  if (!isMade(made, output.places.length)) {
    const message = 'the program changed functions of the language that zones are made with, such as Array.prototype.map'
    return { zones: [], diagnostics: [{ severity: 'error', code: 'program-failed', message, at: { file, line: 1, column: 1 } }], filesRead }
  }
  const positions = positionsOf(output)
  const parsed = made.map((one) => withRules(parseTree(treeOfZone(one, positions, file), { file, include: program.files.read })))
  const empty: Diagnostic = {
    severity: 'error',
    code: 'definition-empty',
    message: 'the program makes no zone',
    at: { file, line: 1, column: 1 },
    hint: 'call zone(name, settings, records), or exclude the file with a glob such as "!zones/lib.ts" if other programs import it',
  }
  const failed = parsed.flatMap(({ zone, diagnostics: found }) => (zone === null ? found : []))
  return {
    zones: parsed.flatMap(({ zone, enabled, diagnostics: found }) => (zone === null ? [] : { zone, enabled, diagnostics: found })),
    diagnostics: [...diagnostics, ...failed, ...(made.length === 0 ? [empty] : [])],
    filesRead: [...new Set([...filesRead, ...parsed.flatMap(({ includedFiles }) => includedFiles)])].sort(),
  }
}

/** Whether the value of a program is what the prelude makes: a program can change the functions that it uses. */
function isMade(value: unknown, places: number): value is readonly MadeZone[] {
  const isPlace = (one: unknown): boolean => Number.isInteger(one) && (one as number) >= 0 && (one as number) < places
  const isObject = (one: unknown): boolean => typeof one === 'object' && one !== null && !Array.isArray(one)
  const isRecord = ([place, name, type, , more]: readonly unknown[]): boolean =>
    isPlace(place) && typeof name === 'string' && (more === null ? typeof type === 'string' : isObject(more))
  if (!Array.isArray(value)) return false
  return value.every((zone: MadeZone | null) => {
    if (typeof zone !== 'object' || zone === null || !isPlace(zone.place) || typeof zone.name !== 'string') return false
    if (!isObject(zone.settings) || !Array.isArray(zone.records)) return false
    for (let i = 0; i < zone.records.length; i += 5) if (!isRecord(recordAt(zone.records, i))) return false
    return true
  })
}

const recordAt = (records: MadeZone['records'], start: number): MadeRecord => records.slice(start, start + 5) as unknown as MadeRecord

/** The tree of a definition in YAML that says the same. The zone is placed in the program itself, records where they are made. */
function treeOfZone({ place, name, settings, records }: MadeZone, positions: readonly SourcePosition[], file: string): YamlMapping {
  const placeOf = (id: number): SourcePosition => positions[id] as SourcePosition
  const made = placeOf(place)
  const calls = [made, ...(made.calledFrom ?? [])]
  const own = calls.findIndex((call) => call.file === file)
  const at: SourcePosition =
    own === -1 ? { file, line: 1, column: 1 } : { ...(calls[own] as SourcePosition), calledFrom: calls.slice(own + 1) }
  const nodeAt = (start: number): YamlNode => {
    const [id, , type, value, more] = recordAt(records, start)
    return nodeOf(more ?? { value, type: type as string }, placeOf(id))
  }
  const map = [...grouped(records)].map(([owner, starts]) => {
    const first = placeOf(records[starts[0] as number] as number)
    return new RecordsEntry(keyOf(owner, first), starts, nodeAt)
  })
  const entries = mappingOf(settings, at).entries
  const domain: YamlEntry = { key: keyOf('domain', at), value: nodeOf(name, at) }
  return { kind: 'mapping', at, entries: [domain, ...entries, { key: keyOf('records', at), value: { kind: 'mapping', at, entries: map } }] }
}

/** The records of a name. Their nodes are made when they are read, which is once: so no more than those of one name are in memory. */
class RecordsEntry implements YamlEntry {
  readonly key: YamlScalar
  readonly #starts: readonly number[]
  readonly #nodeAt: (start: number) => YamlNode
  constructor(key: YamlScalar, starts: readonly number[], nodeAt: (start: number) => YamlNode) {
    this.key = key
    this.#starts = starts
    this.#nodeAt = nodeAt
  }
  get value(): YamlNode {
    return { kind: 'sequence', items: this.#starts.map(this.#nodeAt), at: this.key.at }
  }
}

/** Where the records of each name start. */
function grouped(records: MadeZone['records']): Map<string, number[]> {
  const groups = new Map<string, number[]>()
  for (let start = 0; start < records.length; start += 5) {
    const name = records[start + 1] as string
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [start])
    else group.push(start)
  }
  return groups
}

const keyOf = (text: string, at: SourcePosition): YamlScalar => ({ kind: 'scalar', at, text, plain: false })

const mappingOf = (value: { readonly [key: string]: Plain }, at: SourcePosition): YamlMapping => ({
  kind: 'mapping',
  at,
  entries: Object.entries(value).map(([key, one]) => ({ key: keyOf(key, at), value: nodeOf(one, at) })),
})

/** Texts become quoted scalars; numbers, booleans and null those that YAML reads as such. */
function nodeOf(value: Plain, at: SourcePosition): YamlNode {
  if (typeof value === 'string') return keyOf(value, at)
  if (value === null || typeof value !== 'object') return { kind: 'scalar', at, text: String(value), plain: true }
  if (Array.isArray(value)) return { kind: 'sequence', at, items: value.map((item: Plain) => nodeOf(item, at)) }
  return mappingOf(value as { readonly [key: string]: Plain }, at)
}
