/**
 * One zone of several files of octoDNS's that no single definition can stand for: a source after another, a file beside a folder of split
 * files, a file that all zones share. As octoDNS adds them, an RRset is that of one part: the second is refused unless its part replaces.
 */

import type { ImportedRecord } from '../../definition/imported-zone.ts'
import { printDefinition } from '../../definition/print/print-definition.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { groupRrsets, rrsetKey } from '../../dns/record.ts'
import type { RrsetScope } from '../../dns/zone.ts'
import { zoneFileName } from '../../dns/zone-file/zone-file-name.ts'
import type { UnsupportedFeature } from '../conversion.ts'
import type { ReadOctodnsZone } from './read-octodns-zone.ts'

/** An RRset with what is said of it. */
interface JoinedRrset {
  readonly records: readonly ImportedRecord[]
  readonly scope: RrsetScope | undefined
  readonly isLenient: boolean
  readonly dropped: readonly UnsupportedFeature[]
}

/** The parts of a zone in the order octoDNS reads them, as one. */
export function joinParts(
  name: DomainName,
  parts: readonly { readonly read: ReadOctodnsZone; readonly replaces: boolean }[],
): ReadOctodnsZone {
  const rrsets = new Map<string, JoinedRrset>()
  const diagnostics: Diagnostic[] = []
  const dropped: UnsupportedFeature[] = []
  for (const { read, replaces } of parts) {
    diagnostics.push(...read.diagnostics)
    const own = rrsetsOf(read)
    dropped.push(...read.dropped.filter((item) => !own.has(keyOf(item))))
    for (const [key, rrset] of own) {
      const earlier = rrsets.get(key)
      if (earlier === undefined || replaces) rrsets.set(key, rrset)
      else diagnostics.push(split(key, earlier, rrset))
    }
  }
  const all = [...rrsets.values()]
  const [first] = parts
  const isRead = parts.every(({ read }) => read.zone !== null)
  return {
    zone: isRead
      ? {
          name,
          settings: {},
          records: all.flatMap(({ records }) => records),
          scopes: all.flatMap(({ scope }) => scope ?? []),
          lenient: new Set([...rrsets].flatMap(([key, { isLenient }]) => (isLenient ? [key] : []))),
        }
      : null,
    place: first?.read.place ?? '',
    folder: first?.read.folder ?? '',
    isPlain: false,
    comments: () => parts.flatMap(({ read }) => read.comments()),
    files: [],
    dropped: [...dropped, ...all.flatMap((rrset) => rrset.dropped)],
    diagnostics,
  }
}

/** The zone as a new definition where its first file was. */
export function printedAnew(read: ReadOctodnsZone): ReadOctodnsZone {
  const { zone, folder } = read
  if (zone === null) return read
  const file = zoneFileName(zone.name, new Set(), 'yaml')
  const path = folder === '' || folder === '.' ? file : `${folder}/${file}`
  const kept = new Set(zone.records.map(rrsetKey))
  const scopes = zone.scopes?.filter((scope) => kept.has(rrsetKey(scope)))
  const owners = new Set(zone.records.map(({ name }) => name))
  // Of a name whose records no definition holds, the comments stand at the end.
  const comments = read
    .comments()
    .map((one) => (one.name === null || owners.has(one.name) ? one : { text: one.text, name: null, place: 'end' as const }))
  const text = printDefinition({ ...zone, comments, scopes, files: undefined })
  return { ...read, zone: { ...zone, scopes, files: [{ path, text }] }, files: [], place: path, isPlain: true }
}

function rrsetsOf({ zone, dropped }: ReadOctodnsZone): Map<string, JoinedRrset> {
  const rrsets = new Map<string, JoinedRrset>()
  for (const [key, records] of groupRrsets(zone?.records ?? [])) {
    const scope = zone?.scopes?.find((one) => rrsetKey(one) === key)
    const isLenient = zone?.lenient?.has(key) === true
    rrsets.set(key, { records, scope, isLenient, dropped: dropped.filter((item) => keyOf(item) === key) })
  }
  return rrsets
}

const keyOf = ({ name, type }: UnsupportedFeature): string => (name === null || type === null ? '' : rrsetKey({ name, type }))

function split(key: string, earlier: JoinedRrset, later: JoinedRrset): Diagnostic {
  const [at, other] = [later.records[0]?.at, earlier.records[0]?.at]
  return {
    severity: 'error',
    code: 'rrset-split',
    message: `${key}: the records come from ${other?.file} and from ${at?.file}, and neither says how they go together`,
    at,
    hint: 'octoDNS refuses them too, unless the second source has populate_should_replace: true.',
    ...(other && { related: [{ message: 'the other records', at: other }] }),
  }
}
