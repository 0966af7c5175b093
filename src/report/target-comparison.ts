/** What the targets of a zone support, side by side, and what each would leave out or change of the zone: as text, Markdown and JSON. */
import { type Diagnostic, oneLine } from '../base/diagnostic.ts'
import { counted, listed } from '../base/english.ts'
import { jsonText } from '../base/text.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import type { Misfit } from '../plan/misfits.ts'
import { CAPABILITY_SUBJECTS, describeCapabilities } from './describe-capabilities.ts'
import { codeCell, tableRow } from './markdown-block.ts'
import { misfitCauses, misfitTable } from './misfit-table.ts'
import { type Palette, paletteOf } from './palette.ts'
import { diagnosticDocument } from './plan-document.ts'

export interface ComparedTarget {
  /** Its name in the config. */
  readonly name: string
  readonly type: string
  readonly capabilities: Capabilities
}

/** Zones with the same targets. */
export interface TargetGroup {
  readonly targets: readonly ComparedTarget[]
  readonly zones: readonly {
    readonly zone: DomainName
    /** One list per target, in the same order. */
    readonly misfits: readonly (readonly Misfit[])[]
  }[]
}

/** A subject with one phrase per target. */
interface Fact {
  readonly subject: string
  readonly label: string
  readonly values: readonly string[]
  readonly differs: boolean
}

/** Types whose records at a wildcard name are tried, with rdata. */
const WILDCARD_TYPES: readonly (readonly [type: string, data: string])[] = [
  ['A', '192.0.2.1'],
  ['AAAA', '2001:db8::1'],
  ['CNAME', 'target.example.net.'],
  ['MX', '10 mail.example.net.'],
  ['NS', 'ns1.example.net.'],
  ['SRV', '1 2 3 target.example.net.'],
  ['TXT', '"text"'],
]

/** Whether a target holds a record, whatever else the zone has. */
function holds({ types, rules }: Capabilities, owner: string, type: string, data: string): boolean {
  if (types !== null && !types.has(type)) return false
  const zone = 'example.com.' as DomainName
  const name = (owner === '' ? zone : `${owner}.${zone}`) as DomainName
  const record = { name, type, ttl: null, data, at: { file: '', line: 1, column: 1 } }
  return rules.every((rule) => rule(record, zone).record !== null)
}

function aliasText(capabilities: Capabilities): string {
  const [atApex, below] = ['', 'www'].map((owner) => holds(capabilities, owner, 'ALIAS', 'target.example.net.'))
  if (atApex && below) return 'at the apex and below'
  return atApex ? 'at the apex' : below ? 'below the apex' : 'none'
}

function wildcardText(capabilities: Capabilities): string {
  const known = WILDCARD_TYPES.filter(([type, data]) => holds(capabilities, type === 'SRV' ? '_sip._tcp' : 'www', type, data))
  const refused = known.filter(([type, data]) => !holds(capabilities, type === 'SRV' ? '*._tcp' : '*', type, data)).map(([type]) => type)
  if (refused.length === known.length) return 'none'
  return refused.length === 0 ? 'every type' : `every type except ${refused.join(' ')}`
}

function factsOf(targets: readonly ComparedTarget[]): Fact[] {
  const described = targets.map(({ capabilities }) => ({
    ...describeCapabilities(capabilities),
    alias: aliasText(capabilities),
    wildcard: wildcardText(capabilities),
  }))
  const labels = { ...CAPABILITY_SUBJECTS, alias: 'ALIAS records', wildcard: 'records at wildcard names' } as const
  return Object.entries(labels).map(([subject, label]) => {
    const values = described.map((facts) => oneLine(facts[subject as keyof typeof labels]))
    return { subject, label, values, differs: new Set(values).size > 1 }
  })
}

const namesOf = ({ targets }: TargetGroup): string => listed(targets.map(({ name }) => name))

/** The facts that differ (all with `verbose`) under each subject, and a table per zone and target. */
export function renderComparisonText(
  groups: readonly TargetGroup[],
  { color, verbose }: { readonly color: boolean; readonly verbose: boolean },
): string {
  const palette = paletteOf(color)
  return groups.map((group) => `${groupLines(group, palette, verbose).join('\n')}\n`).join('\n')
}

function groupLines(group: TargetGroup, palette: Palette, verbose: boolean): string[] {
  const facts = factsOf(group.targets)
  const width = Math.max(...group.targets.map(({ name }) => name.length))
  const lines = [palette.bold(`${namesOf(group)} (${counted(group.zones.length, 'zone')})`)]
  for (const { label, values, differs } of facts) {
    if (!differs && !verbose) continue
    lines.push(`  ${label}`)
    values.forEach((value, index) => {
      lines.push(`    ${palette.dim((group.targets[index] as ComparedTarget).name.padEnd(width))}  ${value}`)
    })
  }
  const alike = facts.filter(({ differs }) => !differs).map(({ label }) => label)
  if (!verbose && alike.length > 0) lines.push(palette.dim(`  alike: ${listed(alike)}`))
  for (const { zone, misfits } of group.zones) {
    lines.push('')
    group.targets.forEach(({ name }, index) => {
      const table = misfitTable(zone, name, misfits[index] ?? [], verbose)
      lines.push(...(table.length === 0 ? [`${name} supports all of ${zone}`] : table))
    })
  }
  return lines
}

/** One table of the facts that differ per set of targets, and one of what is left out or changed. */
export function renderComparisonMarkdown(groups: readonly TargetGroup[], { verbose }: { readonly verbose: boolean }): string {
  return groups
    .map((group) => {
      const names = group.targets.map(({ name }) => codeCell(name))
      const facts = factsOf(group.targets).filter(({ differs }) => differs || verbose)
      const head = `### ${names.join(', ')}: ${counted(group.zones.length, 'zone')}\n\n`
      const table = tableRow(['', ...names]) + tableRow(['---', ...names.map(() => '---')])
      const misfits = group.zones.flatMap(({ zone, misfits: lists }) =>
        lists.flatMap((list, index) =>
          misfitCauses(zone, list, verbose).map(({ what, records, which, why }) =>
            tableRow([codeCell(zone), names[index] as string, what, records, codeCell(which), codeCell(why)]),
          ),
        ),
      )
      const losses =
        misfits.length === 0
          ? '\nEvery target supports every zone in full.\n'
          : `\n${tableRow(['zone', 'target', '', 'records', 'which', 'why'])}${tableRow(['---', '---', '---', '---:', '---', '---'])}${misfits.join('')}`
      return head + table + facts.map(({ label, values }) => tableRow([label, ...values.map(codeCell)])).join('') + losses
    })
    .join('\n')
}

/** The document as text that ends in a newline. Its key order is fixed. */
export const renderComparisonJson = (groups: readonly TargetGroup[], diagnostics: readonly Diagnostic[]): string =>
  jsonText({
    format: 'zonewright-comparison',
    version: 1,
    groups: groups.map((group) => ({
      targets: group.targets.map(({ name, type }) => ({ name, type })),
      facts: factsOf(group.targets).map(({ subject, label, values, differs }) => ({ subject, label, differs, values })),
      zones: group.zones.map(({ zone, misfits }) => ({
        zone,
        misfits: misfits.flatMap((list, index) =>
          list.map(({ rrset, records, state, reason }) => ({
            target: group.targets[index]?.name,
            name: rrset?.name ?? null,
            type: rrset?.type ?? null,
            records,
            state,
            reason: oneLine(reason),
          })),
        ),
      })),
    })),
    diagnostics: diagnostics.map(diagnosticDocument),
  })
