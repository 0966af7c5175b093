/** Renders the list of a config's zones: as text, as the versioned document of `schemas/zones.schema.json`, and as code owners. */
import { oneLine } from '../base/diagnostic.ts'
import { counted, formatCount } from '../base/english.ts'
import { compareText, jsonText } from '../base/text.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { Policy } from '../dns/zone.ts'
import { paletteOf } from './palette.ts'

/** A zone with the settings of its definition and of the config. With split horizon, several zones share a name. */
export interface ZoneView {
  readonly name: DomainName
  /** Whether the zone is to be deleted. */
  readonly absent: boolean
  /** Sorted. */
  readonly files: readonly string[]
  /** The person or team responsible for the zone; null if there is none. */
  readonly owner: string | null
  /** The names of the providers that serve the zone. */
  readonly targets: readonly string[]
  readonly policy: Policy
  readonly records: number
  /** The number of selectors for records that another system manages. */
  readonly unmanaged: number
  /** Whether the definition has no errors. */
  readonly valid: boolean
}

/** Renders the document with a fixed order of keys and a final newline. */
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

/** Renders a table, followed by the number of zones unless `quiet` is set. */
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

// Renders the owners of definitions and included files as lines of a CODEOWNERS file for GitHub or GitLab.

interface CodeOwnersOptions {
  /** The path of a file from the root of the repository. */
  readonly fromRoot: (file: string) => string
  /** The organization of teams that are given by name alone: the owner `team-a` becomes `@ORGANIZATION/team-a`. Null if there is none. */
  readonly organization: string | null
}

interface CodeOwners {
  /** The lines with a marker before and after them, each line with a newline. */
  readonly text: string
  /** Owners that a CODEOWNERS file cannot name, sorted. */
  readonly invalid: readonly string[]
}

const BEGIN = '# Begin of the owners of zones: zonewright zones --format codeowners'
const END = '# End of the owners of zones'

/** `@user`, `@organization/team`, or a mail address. */
const CODE_OWNER = /^(?:@[A-Za-z0-9][\w.-]*(?:\/[\w.-]+)*|[^\s@]+@[^\s@]+\.[^\s@]+)$/

/** Renders one line per file, sorted. If zones of several owners include a file, its line has all owners. A file without an owner has no line. */
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
