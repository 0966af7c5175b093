import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { parentOf, relativeName } from '../../dns/domain-name.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import { zoneFileName } from '../../dns/zone-file/zone-file-name.ts'
import { displayPath, fromDisplayPath, realOr } from '../files/file-path.ts'
import { editProblem } from './edit-problem.ts'
import { wantedData } from './edit-text.ts'
import type { RecordEdit } from './read-record-edit.ts'

/** A zone with the files it is made of. */
export interface ZoneFiles {
  readonly zone: DesiredZone
  /** As messages name them. */
  readonly files: readonly string[]
  readonly cwd: string
  /** A file of the zone's records stands in for the definition's own, where both have the name (octoDNS's layout, which merges). */
  readonly isMerged: boolean
}

/** The absolute path of a file that messages name, links resolved. */
export const realPath = (file: string, cwd: string): string => realOr(fromDisplayPath(file, cwd))

/**
 * The parts of an edit for the files that have the values, or are to have them, by path: values that stay or go do so where they stand; new ones
 * go to `asked`, else to the definition, or to the one file that has what they take the place of. Files without a change are left out.
 */
export async function shareEdit(
  edit: RecordEdit,
  own: readonly DefinedRecord[],
  { zone, files, cwd, isMerged }: ZoneFiles,
  asked: string | null,
): Promise<ReadonlyMap<string, RecordEdit> | Diagnostic> {
  const main = realPath(zone.at.file, cwd)
  const named = asked === null ? null : realOr(asked)
  if (named !== null && !files.some((file) => realPath(file, cwd) === named))
    return editProblem(edit, 'record-elsewhere', `${displayPath(named, cwd)} is no file of ${edit.zone}`, { at: zone.at })
  const holders = new Set(own.map(({ at }) => realPath(at.file, cwd)))
  const wanted = new Set(wantedData(edit, own))
  const present = new Set(own.map(({ data }) => data))
  const added = [...wanted].filter((data) => !present.has(data))
  const elsewhere = own.find(({ at, data }) => named !== null && !wanted.has(data) && realPath(at.file, cwd) !== named)
  if (edit.action === 'remove' && elsewhere) {
    const message = `${elsewhere.data} stands in ${elsewhere.at.file}, not in ${displayPath(named ?? main, cwd)}`
    return editProblem(edit, 'record-elsewhere', message, { at: elsewhere.at })
  }
  let target = named ?? main
  if (named === null && added.length > 0) {
    const isSplit = await isFolder(main)
    const [holder = null, ...others] = holders
    const takesPlace = edit.action === 'set' || isMerged || isSplit
    if (holder === null) target = isSplit ? splitPart(edit, zone, main, cwd) : main
    else if (!holders.has(main) && takesPlace && others.length > 0) return unclear(edit, own)
    else if (!holders.has(main) && takesPlace) target = holder
  }
  const parts = new Map<string, RecordEdit>()
  for (const path of new Set([...holders, target])) {
    const there = own.filter(({ at }) => realPath(at.file, cwd) === path)
    const stays = there.map(({ data }) => data).filter((data) => wanted.has(data))
    const data = path === target ? [...stays, ...added] : stays
    const isSame = data.length === there.length && stays.length === data.length
    if (isSame && (edit.ttl === null || there.every(({ ttl }) => ttl === edit.ttl))) continue
    parts.set(path, { ...edit, action: 'set', data, ttl: data.length === 0 ? null : edit.ttl })
  }
  return parts
}

function unclear(edit: RecordEdit, own: readonly DefinedRecord[]): Diagnostic {
  const files = [...new Set(own.map(({ at }) => at.file))]
  const hint = `name the file that is to have the new ones with --file, such as --file ${files[0]}`
  return editProblem(edit, 'record-elsewhere', `its values come from several files: ${files.join(', ')}`, { at: own[0]?.at, hint })
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  )

/** Where new records of a split zone go: to the others of their owner, else to a file named after it, apex and wildcard to the one of the zone. */
function splitPart(edit: RecordEdit, { records }: DesiredZone, folder: string, cwd: string): string {
  const ofOwner = records.find(({ name }) => name === edit.name)
  if (ofOwner) return realPath(ofOwner.at.file, cwd)
  const isOfZone = edit.name === edit.zone || (parentOf(edit.name) === edit.zone && edit.name.startsWith('*.'))
  const name = isOfZone
    ? `$${edit.zone.slice(0, -1)}.yaml`
    : zoneFileName(`${relativeName(edit.name, edit.zone)}.` as typeof edit.name, new Set(), 'yaml')
  return join(folder, name)
}
