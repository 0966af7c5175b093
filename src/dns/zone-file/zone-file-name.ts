import type { DomainName } from '../domain-name.ts'

/** Characters of a file's name before it is cut; file systems have 255. */
const LONGEST_NAME = 200

/** A name for the file of a zone, as far as file systems have such names, that is none of those taken; it is taken then. */
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
