import { textOfRdata } from '../model/character-string.ts'
import { type DomainName, parseDomainName, relativeName } from '../model/domain-name.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { UnmanagedSelector } from '../model/zone.ts'
import type { Change } from './change.ts'

/**
 * A test for records of `zone` that any of the selectors leaves to others. Cost is linear, for each record, in the selectors of its name, those
 * of names with an asterisk that share the record's last labels, and those that name no label at their end.
 */
export function unmanagedTest(selectors: readonly UnmanagedSelector[], zone: DomainName): (record: ResourceRecord) => boolean {
  if (selectors.length === 0) return () => false
  const ofNames = new Map<string, SelectorTest[]>()
  const ofTails = new Map<string, SelectorTest[]>()
  for (const selector of selectors) {
    const glob = selector.name === undefined ? null : nameGlob(selector.name)
    const isPlain = glob !== null && !glob.includes('*')
    const test = selectorTest(selector, glob === null || isPlain ? null : globTest(glob))
    if (isPlain) addTo(ofNames, glob, test)
    else addTo(ofTails, glob === null ? '' : tailOfGlob(glob), test)
  }
  return (record) => {
    const relative = relativeName(record.name, zone)
    const matches = (test: SelectorTest): boolean => test(record, relative)
    if (ofNames.get(relative)?.some(matches)) return true
    return ofTails.size > 0 && tailsOf(relative).some((tail) => ofTails.get(tail)?.some(matches) ?? false)
  }
}

function addTo<K, V>(groups: Map<K, V[]>, key: K, value: V): void {
  const group = groups.get(key)
  if (group) group.push(value)
  else groups.set(key, [value])
}

/** The labels that end every name a glob matches, with the dot before them; `''` where it names none. Such a tail is among `tailsOf` the name. */
export function tailOfGlob(glob: string): string {
  const last = glob.slice(glob.lastIndexOf('*') + 1)
  const dot = last.indexOf('.')
  return dot === -1 ? '' : last.slice(dot)
}

/** What follows each dot of a relative name, the dot included, and `''`. */
export function tailsOf(relative: string): string[] {
  const tails = ['']
  for (let dot = relative.indexOf('.'); dot !== -1; dot = relative.indexOf('.', dot + 1)) tails.push(relative.slice(dot))
  return tails
}

/** Tests a record with its name relative to the zone. */
type SelectorTest = (record: ResourceRecord, relative: string) => boolean

function selectorTest(selector: UnmanagedSelector, name: ((relative: string) => boolean) | null): SelectorTest {
  const target = selector.target === undefined ? null : globTest(selector.target.toLowerCase())
  const type = selector.type?.toUpperCase()
  return (record, relative) =>
    (type === undefined || record.type === type) &&
    (name === null || name(relative)) &&
    (target === null || target(record.data.toLowerCase()) || matchesText(record, target))
}

const TEXT_TYPES: ReadonlySet<string> = new Set(['TXT', 'SPF'])

/** Whether the text of a TXT or SPF record matches as its author thinks of it: its strings joined, without quotes and escapes. */
function matchesText({ type, data }: ResourceRecord, target: (text: string) => boolean): boolean {
  const octets = TEXT_TYPES.has(type) ? textOfRdata(data) : null
  return octets !== null && target(Buffer.from(octets).toString('utf8').toLowerCase())
}

/**
 * The selectors whose records may come and go while changes wait to be applied, without their places. None where the zone is deleted, with all that is in
 * it, and where a change is itself of a record they select: of that nothing may move.
 */
export function selectorsBeside(
  changes: readonly Change[],
  selectors: readonly UnmanagedSelector[],
  zone: DomainName,
): readonly UnmanagedSelector[] {
  const isUnmanaged = unmanagedTest(selectors, zone)
  const reached = changes.some((change) =>
    change.subject === 'domain'
      ? change.action === 'delete'
      : (change.existing !== null && isUnmanaged(change.existing)) || (change.desired !== null && isUnmanaged(change.desired)),
  )
  return reached ? [] : selectors.map(({ at, ...selector }) => selector)
}

/** A glob over relative names, its Unicode labels as A-labels so that both forms of a name meet. */
function nameGlob(glob: string): string {
  if (glob === '@') return ''
  if (/^[\x20-\x7e]*$/.test(glob)) return glob.toLowerCase()
  const ascii = parseDomainName(`${glob}.`)
  return ascii.ok ? ascii.value.slice(0, -1) : glob.toLowerCase()
}

/** A test for a glob in which `*` stands for any run of characters, also across dots. Linear time: no backtracking over more than one star. */
export function globTest(glob: string): (text: string) => boolean {
  const parts = glob.split('*')
  if (parts.length === 1) return (text) => text === glob
  const first = parts[0] as string
  const last = parts[parts.length - 1] as string
  const middle = parts.slice(1, -1).filter((part) => part !== '')
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
    const end = text.length - last.length
    let from = first.length
    for (const part of middle) {
      const found = text.indexOf(part, from)
      if (found === -1 || found + part.length > end) return false
      from = found + part.length
    }
    return true
  }
}
