/** Edits one RRset in the text of a definition. */
import { ok, type Result } from '../../base/result.ts'
import type { Layout } from '../../definition/parse/parse-state.ts'
import { OCTODNS_TYPES, octodnsValue } from '../../definition/print/octodns-value.ts'
import { printValue } from '../../definition/print/print-value.ts'
import type { YamlData } from '../../definition/yaml/print-yaml.ts'
import type { YamlNode } from '../../definition/yaml/yaml-node.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { commentsByLine, editZoneFile } from '../../dns/zone-file/edit-zone-file.ts'
import { parseZoneFile } from '../../dns/zone-file/parse-zone-file.ts'
import { editRrset } from './edit-rrset.ts'
import type { RecordEdit } from './record-edit.ts'

/** A file of a zone before an edit, with its records. */
export interface EditedFile {
  readonly text: string
  readonly kind: 'zone-file' | Layout
  /** The YAML tree of the text; null if it was not parsed. */
  readonly tree: YamlNode | null
  /** The records of the RRset that come from the file, and all records of its owner. */
  readonly own: readonly DefinedRecord[]
  readonly ofOwner: readonly DefinedRecord[]
  /** Whether the file is included by another; in such a file `${name}` is a variable. */
  readonly isFragment: boolean
}

/** The data of the RRset after the edit. */
export function desiredData({ action, data }: RecordEdit, own: readonly DefinedRecord[]): string[] {
  const present = own.map((record) => record.data)
  if (action === 'set') return [...data]
  if (action === 'add') return [...new Set([...present, ...data])]
  return data.length === 0 ? [] : present.filter((one) => !data.includes(one))
}

/** The text of the file after the edit. */
export function editText(file: EditedFile, edit: RecordEdit): Result<string> {
  const wanted = new Set(desiredData(edit, file.own))
  const present = new Set(file.own.map(({ data }) => data))
  const added = [...wanted].filter((data) => !present.has(data))
  if (file.kind === 'zone-file') return editZone(file, edit, wanted, added)
  const values: YamlData[] = []
  for (const data of added) {
    const value = valueFor(file.kind, edit, data)
    if (!value.ok) return value
    values.push(file.isFragment ? escapeVariables(value.value) : value.value)
  }
  const starts = lineStarts(file.text)
  const kept = new Set(file.own.filter(({ data }) => wanted.has(data)).map(({ at }) => (starts[at.line - 1] ?? 0) + at.column - 1))
  return editRrset(
    file.text,
    edit.zone,
    file.kind,
    {
      name: edit.name,
      type: edit.type,
      kept,
      added: values,
      ttl: edit.ttl ?? undefined,
      exists: file.own.length > 0,
      isFragment: file.isFragment,
      removesOwner: wanted.size === 0 && file.ofOwner.every(({ type }) => type === edit.type),
    },
    file.tree,
  )
}

/** Escapes `${` for a fragment, where it would begin a variable. */
function escapeVariables(value: YamlData): YamlData {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${')
  if (typeof value !== 'object') return value
  if (Array.isArray(value)) return (value as readonly YamlData[]).map(escapeVariables)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, escapeVariables(item as YamlData)]))
}

function valueFor(layout: Layout, { type, zone }: RecordEdit, data: string): Result<YamlData> {
  return layout === 'octodns' && OCTODNS_TYPES.has(type) ? (octodnsValue(type, data) as Result<YamlData>) : ok(printValue(type, data, zone))
}

function editZone(file: EditedFile, edit: RecordEdit, wanted: ReadonlySet<string>, added: readonly string[]): Result<string> {
  const ttl: Ttl | null = edit.ttl ?? file.own[0]?.ttl ?? null
  // A new TTL is written with every record of the RRset.
  const isRetimed = edit.ttl !== null && file.own.some((record) => record.ttl !== edit.ttl)
  const isRemoved = ({ data }: DefinedRecord): boolean => isRetimed || !wanted.has(data)
  const removed = new Set([...file.own, ...occurrencesOf(file, edit)].filter(isRemoved).map(({ at }) => at.line))
  const after = file.own.at(-1)?.at.line ?? file.ofOwner.at(-1)?.at.line ?? null
  const comments = isRetimed ? commentsOf(file) : new Map<string, string>()
  return editZoneFile(file.text, {
    name: edit.name,
    type: edit.type,
    removed,
    after,
    added: isRetimed ? [...wanted] : added,
    comments,
    ttl,
  })
}

/** The comments on the lines of the records, by record data. */
function commentsOf({ text, own }: EditedFile): Map<string, string> {
  const byLine = commentsByLine(text)
  return new Map(own.map(({ data, at }) => [data, byLine.get(at.line) ?? '']))
}

/** All lines of the RRset in the file, including duplicates that the loader merges. */
function occurrencesOf({ text, own }: EditedFile, { zone, name, type }: RecordEdit): DefinedRecord[] {
  const at = own[0]?.at
  if (at === undefined) return []
  return [...parseZoneFile(text, { origin: zone, file: at.file }).records].filter((one) => one.name === name && one.type === type)
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
