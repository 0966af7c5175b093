/** The lint for pairs of similar names. One of them is probably misspelt. */
import { append } from '../../base/group-by.ts'
import { type DomainName, parentOf } from '../../dns/domain-name.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import type { Finding, ZoneIndex } from '../rules/zone-index.ts'
import type { LintedZone } from './managed-names.ts'

/** Minimum characters of a label: in shorter ones, a difference is rarely a mistake. */
const MIN_LABEL = 3

/** Minimum characters of a label with swapped letters. Labels of three letters are mostly codes, such as those of airports, and many codes differ by a swap. */
const MIN_SWAPPED = 4

/**
 * Reports two names if they have the same parent and the same data, but different owners or targets, and if their first labels differ only by two swapped
 * neighbouring letters or by one doubled letter. Other small differences are mostly intended: `web1` and `web2`, `map` and `maps`, `color` and `colour`.
 * Names with the same owner and the same targets are intended, too.
 */
export function* nameSimilar({ zone }: LintedZone, { byName }: ZoneIndex): Iterable<Finding> {
  const byData = new Map<string, DomainName[]>()
  for (const [name, records] of byName) append(byData, dataOf(records), name)
  for (const names of byData.values()) if (names.length > 1) yield* similarPairs(names, byName, zone)
}

/** The owners of the records of a name and their limits to targets, as a text to compare. */
const scopeOf = (name: DomainName, records: readonly DefinedRecord[] = [], { owner, rrsetTargets }: DesiredZone): string => {
  const limits = rrsetTargets.flatMap((one) => (one.name === name ? `${one.type} ${one.included} ${one.excluded}` : []))
  return JSON.stringify([...new Set([...records.map((record) => `owner ${record.owner ?? owner}`), ...limits])].sort())
}

function* similarPairs(
  names: readonly DomainName[],
  byName: ReadonlyMap<DomainName, readonly DefinedRecord[]>,
  zone: DesiredZone,
): Iterable<Finding> {
  const scope = (name: DomainName): string => scopeOf(name, byName.get(name), zone)
  const known = new Map<string, DomainName>()
  for (const name of names) {
    const label = name.slice(0, name.indexOf('.'))
    if (label.length < MIN_LABEL || !/^[a-z0-9-]+$/.test(label)) continue
    const suffix = ` ${parentOf(name)}`
    for (const similarityKey of similarityKeysOf(label)) {
      const key = similarityKey + suffix
      const other = known.get(key)
      if (other === undefined) known.set(key, name)
      else if (other !== name && areSimilar(label, other.slice(0, other.indexOf('.'))) && scope(name) !== scope(other)) {
        const at = byName.get(other)?.[0]?.at
        yield {
          message: `${name} has the same data as ${other}: one of the names may be misspelt`,
          at: byName.get(name)?.[0]?.at,
          hint: 'remove the wrong name; if both are meant, write a CNAME from one to the other',
          ...(at && { related: [{ message: 'the other name', at }] }),
        }
        break
      }
    }
  }
}

const dataOf = (records: readonly DefinedRecord[]): string =>
  records.length === 1
    ? `${records[0]?.type} ${records[0]?.data}`
    : records
        .map(({ type, data }) => `${type} ${data}`)
        .sort()
        .join('\n')

/** Keys for finding similar labels: the label without doubled letters, and its sorted letters. Two similar labels share at least one key. */
const similarityKeysOf = (label: string): string[] => [`d${label.replace(/([a-z])\1/g, '$1')}`, `s${[...label].sort().join('')}`]

/** Whether two labels differ by one doubled letter, or by two swapped neighbouring letters. */
function areSimilar(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  let i = 0
  while (i < short.length && short[i] === long[i]) i += 1
  if (short.length === long.length) {
    if (short.length < MIN_SWAPPED) return false
    const [x, y] = [a[i] ?? '', a[i + 1] ?? '']
    return /^[a-z]{2}$/.test(x + y) && b[i] === y && b[i + 1] === x && a.slice(i + 2) === b.slice(i + 2)
  }
  const letter = long[i] ?? ''
  return /^[a-z]$/.test(letter) && long[i - 1] === letter && short.slice(i) === long.slice(i + 1)
}
