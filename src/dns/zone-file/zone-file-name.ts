/** File names for zones. */
import { editDistance } from '../../base/nearest-word.ts'
import { type DomainName, labelsOf, ROOT } from '../domain-name.ts'

/** Longer names are cut; file systems allow 255 characters. */
const LONGEST_NAME = 200

/** A file name for a zone that is not in `taken`. Adds it to `taken`. The root zone has the name `root`. */
export function zoneFileName(zone: DomainName, taken: Set<string>, extension = 'zone'): string {
  const stem = zone === ROOT ? 'root' : stemOf(zone)
  for (let n = 1; ; n += 1) {
    const name = `${n === 1 ? stem : `${stem}_${n}`}.${extension}`
    if (taken.has(name)) continue
    taken.add(name)
    return name
  }
}

const stemOf = (zone: DomainName): string =>
  zone
    .slice(0, -1)
    .replace(/[^a-z0-9._-]/g, '_')
    .slice(0, LONGEST_NAME)

/** The usual names of zone files; `{zone}` is the zone without the final dot. */
export const USUAL_FILE_NAMES: readonly string[] = ['{zone}.zone', 'db.{zone}', '{zone}.db', '{zone}']

/**
 * Whether a file with the name of one zone contradicts its content, which is another zone. The name of a file for the root, and a name of one label
 * that may be any word, contradict nothing. Reverse zones often have files such as `db.192.0.2`.
 */
export function isNamedAfterOther(named: DomainName, zone: DomainName): boolean {
  if (named === zone || stemOf(named) === stemOf(zone) || zone === ROOT) return false
  if (/^[0-9.]+$/.test(named)) return false
  return labelCount(named) > 1 || labelCount(zone) === 1
}

/** Whether a file name is probably meant to be that of its zone: they differ in at most two letters. Words after a separator name variants of a zone, and any separator may stand for a dot. */
export function isMisspelt(named: DomainName, zone: DomainName): boolean {
  const [file, stem] = [stemOf(named), stemOf(zone)].map((name) => name.replace(/[._]/g, '-')) as [string, string]
  const rest = file.startsWith(stem) ? file.slice(stem.length) : file.endsWith(stem) ? file.slice(0, -stem.length) : 'other'
  return !/^$|^-|-$|^[0-9]+$/.test(rest) && editDistance(file, stem) <= Math.min(2, stem.length / 4)
}

const labelCount = (name: DomainName): number => labelsOf(name).length
