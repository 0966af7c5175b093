import type { DomainName } from '../domain-name.ts'

/** Longer names are cut; file systems allow 255 characters. */
const LONGEST_NAME = 200

/** A file name for a zone that is not in `taken`. Adds it to `taken`. */
export function zoneFileName(zone: DomainName, taken: Set<string>, extension = 'zone'): string {
  const stem = zone
    .slice(0, -1)
    .replace(/[^a-z0-9._-]/g, '_')
    .slice(0, LONGEST_NAME)
  for (let n = 1; ; n += 1) {
    const name = `${n === 1 ? stem : `${stem}_${n}`}.${extension}`
    if (taken.has(name)) continue
    taken.add(name)
    return name
  }
}
