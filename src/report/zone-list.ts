/** The zones of a config, as text and as the versioned document of `schemas/zones.schema.json`. */
import { oneLine } from '../base/diagnostic.ts'
import { counted, formatCount } from '../base/english.ts'
import { compareText, jsonText } from '../base/text.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { Policy } from '../dns/zone.ts'
import { paletteOf } from './palette.ts'

/** A zone as its definition and the config have it. With split horizon, several have one name. */
export interface ZoneView {
  readonly name: DomainName
  /** Whether the zone is to be deleted. */
  readonly absent: boolean
  /** Sorted. */
  readonly files: readonly string[]
  /** Who is responsible for it; null for nobody. */
  readonly owner: string | null
  /** The names of providers. */
  readonly targets: readonly string[]
  readonly policy: Policy
  readonly records: number
  /** The selectors of records that another system manages. */
  readonly unmanaged: number
  /** Whether it has no errors. */
  readonly valid: boolean
}

/** The document as text that ends in a newline. Its key order is fixed. */
export const renderZonesJson = (zones: readonly ZoneView[]): string =>
  jsonText({
    format: 'zonewright-zones',
    version: 1,
    zones: zones.map(({ name, absent, files, owner, targets, policy, records, unmanaged, valid }) => ({
      zone: name,
      absent,
      files,
      owner,
      targets,
      policy,
      records,
      unmanaged,
      valid,
    })),
  })

const HEADER = ['zone', 'targets', 'policy', 'records', 'files'] as const

/** A table, and the number of zones. */
export function renderZonesText(
  zones: readonly ZoneView[],
  { color, quiet }: { readonly color: boolean; readonly quiet: boolean },
): string {
  const palette = paletteOf(color)
  const rows = zones.map((zone) =>
    [zone.name, zone.targets.join(', ') || '–', policyOf(zone), formatCount(zone.records), zone.files.join(', ')].map(oneLine),
  )
  const widths = HEADER.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] as string).length)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        HEADER[column] === 'records' ? cell.padStart(widths[column] as number) : cell.padEnd(widths[column] as number),
      )
      .join('  ')
      .trimEnd()
  const table = rows.length === 0 ? [] : [palette.bold(line(HEADER)), ...rows.map(line), '']
  return quiet
    ? table
        .slice(0, -1)
        .map((text) => `${text}\n`)
        .join('')
    : `${[...table, `${counted(zones.length, 'zone')}.`].join('\n')}\n`
}

function policyOf({ policy, absent, unmanaged, valid }: ZoneView): string {
  if (!valid) return 'has errors'
  if (absent) return 'deleted'
  return unmanaged === 0 ? policy : `${policy}, ${counted(unmanaged, 'unmanaged selector')}`
}

// The owners of definitions and included files in the format of a CODEOWNERS file of GitHub and GitLab.

interface CodeOwnersOptions {
  /** The path of a file from the root of the repository. */
  readonly fromRoot: (file: string) => string
  /** The organization of owners that are neither a user, a team nor a mail address: `team-a` becomes `@ORGANIZATION/team-a`; null for none. */
  readonly organization: string | null
}

interface CodeOwners {
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
