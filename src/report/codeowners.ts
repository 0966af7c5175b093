/** The owners of definitions and included files in the format of a CODEOWNERS file of GitHub and GitLab. */
import { compareText } from '../dns/compare-text.ts'
import { oneLine } from '../dns/diagnostic.ts'
import type { ZoneView } from './zone-list.ts'

export interface CodeOwnersOptions {
  /** The path of a file from the root of the repository. */
  readonly fromRoot: (file: string) => string
  /** The organization of owners that are neither a user, a team nor a mail address: `team-a` becomes `@ORGANIZATION/team-a`; null for none. */
  readonly organization: string | null
}

export interface CodeOwners {
  /** Lines between two markers, each with a newline. */
  readonly text: string
  /** Owners that are no code owner, sorted. */
  readonly invalid: readonly string[]
}

const BEGIN = '# Begin of the owners of zones: zonewright zones --format codeowners'
const END = '# End of the owners of zones'

/** `@user`, `@organization/team`, or a mail address. */
const CODE_OWNER = /^(?:@[A-Za-z0-9][\w.-]*(?:\/[\w.-]+)*|[^\s@]+@[^\s@]+\.[^\s@]+)$/

/** One line per file, sorted. A file that zones of several owners include has all of them; a file of no owner has no line. */
export function codeOwners(zones: readonly ZoneView[], { fromRoot, organization }: CodeOwnersOptions): CodeOwners {
  const owners = new Map<string, Set<string>>()
  const invalid = new Set<string>()
  for (const { owner, files } of zones) {
    if (owner === null) continue
    const named = organization === null || owner.includes('@') ? owner : `@${organization}/${owner}`
    if (!CODE_OWNER.test(named)) invalid.add(owner)
    else for (const file of files) owners.set(fromRoot(file), (owners.get(fromRoot(file)) ?? new Set()).add(named))
  }
  const lines = [...owners]
    .sort(([a], [b]) => compareText(a, b))
    .map(([file, names]) => `/${oneLine(file).replace(/[\\ #[\]!*?]/g, '\\$&')} ${[...names].sort().join(' ')}`)
  return { text: [BEGIN, ...lines, END, ''].join('\n'), invalid: [...invalid].sort() }
}
