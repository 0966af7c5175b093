import { type DomainName, displayName, parseDomainName } from '../../model/domain-name.ts'
import { isNull, type YamlNode } from '../yaml/yaml-node.ts'
import { RECORD_KEYS, SETTING_KEYS } from './keys.ts'
import { formKeys, valueForm } from './value-forms.ts'

/** Keys and indexes from the root of a file. */
export type Path = readonly string[]

/** The file a path leads through. */
export interface PathContext {
  readonly zone: DomainName
  /** Whether settings stand at the root; otherwise the root is a record map. */
  readonly hasSettings: boolean
  readonly find: (path: Path) => YamlNode | undefined
}

/** A place in or below a record: the path of the record, its name as written, and the way from the record down. */
interface RecordPlace {
  readonly record: Path
  readonly name: string
  readonly rest: Path
}

function recordPlace(path: Path, { hasSettings, find }: PathContext): RecordPlace | null {
  if (hasSettings && path[0] !== 'records') return null
  const depth = hasSettings ? 1 : 0
  const name = path[depth]
  if (name === undefined) return null
  const end = depth + (find(path.slice(0, depth + 1))?.kind === 'sequence' && path.length > depth + 1 ? 2 : 1)
  return { record: path.slice(0, end), name, rest: path.slice(end) }
}

/** Whether the place is a record or in one. */
export const isInsideRecord = (path: Path, context: PathContext): boolean => recordPlace(path, context) !== null

/** Whose place it is, as messages name it (zone, or owner and type), and where in there (`values[1].preference`; empty for the record itself). */
export function describePlace(path: Path, context: PathContext): { readonly subject: string; readonly part: string } {
  const place = recordPlace(path, context)
  if (place === null) return { subject: context.zone, part: joined(path) }
  const name = place.name === '' ? null : parseDomainName(place.name, context.zone)
  const owner = name === null ? context.zone : name.ok ? name.value : JSON.stringify(place.name)
  const type = typeAt(place.record, context)
  return { subject: `${displayName(owner as DomainName)}${type === null ? '' : ` ${type}`}`, part: joined(place.rest) }
}

/** The keys that can stand in the mapping at a place, for suggestions. */
export function allowedKeys(path: Path, context: PathContext): readonly string[] {
  const place = recordPlace(path, context)
  if (place === null) {
    if (path.length === 0) return context.hasSettings ? SETTING_KEYS : []
    if (path[0] === 'unmanaged') return ['name', 'type', 'target']
    return path[0] === 'include' ? ['file', 'with'] : []
  }
  if (place.rest.length === 0) return RECORD_KEYS
  if (place.rest[0] !== 'value' && place.rest[0] !== 'values') return []
  const type = typeAt(place.record, context)
  return type === null ? [] : formKeys(valueForm(type))
}

function typeAt(record: Path, { find }: PathContext): string | null {
  const type = find([...record, 'type'])
  return type?.kind === 'scalar' && !isNull(type) ? type.text.slice(0, 40) : null
}

const joined = (path: Path): string =>
  path.map((segment, i) => (/^[0-9]+$/.test(segment) && i > 0 ? `[${segment}]` : `${i > 0 ? '.' : ''}${segment}`)).join('')
