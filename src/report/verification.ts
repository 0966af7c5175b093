/** The result of `verify`, as text, JSON and annotations. */
import { compareDiagnostics, type Diagnostic, hasErrors, isError, oneLine } from '../base/diagnostic.ts'
import { agreeing, counted, listed } from '../base/english.ts'
import { jsonText } from '../base/text.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { RenderedState } from '../plan/plan.ts'
import { groupDiagnostics } from './group-diagnostics.ts'
import { type Palette, paletteOf } from './palette.ts'
import { type DiagnosticDocument, diagnosticDocument } from './plan-document.ts'
import type { ReportOptions } from './report.ts'
import { annotation, diagnosticAnnotation, plainLine } from './workflow-command.ts'

/** An RRset for which a name server's answer differs from the definition. Data are in presentation form, sorted. */
export interface AnswerDifference {
  readonly name: DomainName
  readonly type: string
  readonly expected: readonly string[]
  readonly answered: readonly string[]
  /** Another difference than the data, such as an error code or a non-authoritative answer. */
  readonly note?: string | undefined
}

/** What one name server answered for one zone. */
export interface NameServerVerification {
  /** `address:port`. */
  readonly server: string
  /** The RRsets asked for, and how many answers were as expected. */
  readonly asked: number
  readonly agreed: number
  readonly differences: readonly AnswerDifference[]
  /** Delegations that the server does not return, because it also serves the zone below them. */
  readonly covered: readonly DomainName[]
  /** Why the server could not be asked; null if it could. */
  readonly failure: string | null
}

/** The comparison of a zone's definition with the live zone. */
export interface ZoneVerification {
  readonly zone: DomainName
  readonly target: string
  /** Who is responsible for the zone; null for nobody. */
  readonly owner?: string | null | undefined
  /** The changes that a plan would make. */
  readonly pending: number
  /** Whether the zone has no definition and the plan deletes it; absent if not. */
  readonly isRemoved?: boolean | undefined
  readonly rendered: RenderedState
  /** Records that are in only one of listing and rendered file, in words; at most ten. */
  readonly renderedDifferences: readonly string[]
  readonly nameServers: readonly NameServerVerification[]
  /** RRsets that are not asked for, because no server returns them: those at or below a delegation. */
  readonly hidden: readonly { readonly name: DomainName; readonly type: string }[]
  /** RRsets with records that `unmanaged` leaves to other clients; none if absent. */
  readonly unmanaged?: readonly { readonly name: DomainName; readonly type: string }[] | undefined
  readonly diagnostics: readonly Diagnostic[]
}

export const isVerified = (zone: ZoneVerification): boolean =>
  zone.pending === 0 &&
  zone.rendered !== 'differs' &&
  zone.rendered !== 'stale' &&
  zone.nameServers.every((server) => server.failure === null && server.agreed === server.asked) &&
  zone.diagnostics.every((diagnostic) => diagnostic.severity !== 'error')

/** The verified zones, and the diagnostics that belong to none of them, such as those of an unreadable zone. */
export interface Verification {
  readonly zones: readonly ZoneVerification[]
  readonly diagnostics: readonly Diagnostic[]
}

export const VERIFICATION_FORMAT = 'zonewright-verification'

/** The versioned document of `schemas/verification.schema.json`. Its key order is fixed. */
export interface VerificationDocument {
  readonly format: typeof VERIFICATION_FORMAT
  readonly version: 1
  readonly zones: readonly VerifiedZoneDocument[]
  readonly diagnostics: readonly DiagnosticDocument[]
  readonly summary: { readonly zones: number; readonly verified: number }
}

interface VerifiedZoneDocument {
  readonly zone: string
  readonly target: string
  readonly owner: string | null
  readonly verified: boolean
  readonly pending: number
  readonly rendered: RenderedState
  readonly renderedDifferences: readonly string[]
  readonly nameServers: readonly NameServerDocument[]
  readonly hidden: readonly { readonly name: string; readonly type: string }[]
  /** Absent in reports of earlier versions. */
  readonly unmanaged?: readonly { readonly name: string; readonly type: string }[] | undefined
  readonly diagnostics: readonly DiagnosticDocument[]
}

type DifferenceDocument = Omit<AnswerDifference, 'note'> & { readonly note: string | null }
type NameServerDocument = Omit<NameServerVerification, 'differences'> & { readonly differences: readonly DifferenceDocument[] }

export const verificationDocument = ({ zones, diagnostics }: Verification): VerificationDocument => ({
  format: VERIFICATION_FORMAT,
  version: 1,
  zones: zones.map(zoneDocument),
  diagnostics: diagnosticDocuments(diagnostics),
  summary: { zones: zones.length, verified: zones.filter(isVerified).length },
})

const zoneDocument = (zone: ZoneVerification): VerifiedZoneDocument => ({
  zone: zone.zone,
  target: zone.target,
  owner: zone.owner ?? null,
  verified: isVerified(zone),
  pending: zone.pending,
  rendered: zone.rendered,
  renderedDifferences: zone.renderedDifferences,
  nameServers: zone.nameServers.map(nameServerDocument),
  hidden: zone.hidden.map(({ name, type }) => ({ name, type })),
  unmanaged: (zone.unmanaged ?? []).map(({ name, type }) => ({ name, type })),
  diagnostics: diagnosticDocuments(zone.diagnostics),
})

const nameServerDocument = ({ server, asked, agreed, differences, covered, failure }: NameServerVerification): NameServerDocument => ({
  server,
  asked,
  agreed,
  differences: differences.map(({ name, type, expected, answered, note }) => ({ name, type, expected, answered, note: note ?? null })),
  covered,
  failure,
})

const diagnosticDocuments = (diagnostics: readonly Diagnostic[]): DiagnosticDocument[] =>
  [...diagnostics].sort(compareDiagnostics).map(diagnosticDocument)

/** Maximum number of RRsets per server, or left to other clients, in a text report that is not verbose. */
const SHOWN = 10

export const renderVerificationJson = (verification: Verification): string => jsonText(verificationDocument(verification))

/** Annotations of what is wrong, then the text. */
export function renderVerificationGithub(verification: Verification, options: ReportOptions): string {
  const { zones, diagnostics } = verification
  const failed = zones.filter((zone) => !isVerified(zone))
  const annotations = [
    ...groupDiagnostics([...diagnostics, ...failed.flatMap((zone) => zone.diagnostics)], { all: options.verbose }).map((one) =>
      diagnosticAnnotation(one, options.fromRoot),
    ),
    ...failed.map(({ zone, target }) =>
      annotation({ severity: 'error', title: 'verify-differs', message: `${zone} at ${oneLine(target)} is not as defined` }),
    ),
  ]
  const text = renderVerificationText(verification, { ...options, color: false })
    .split('\n')
    .map(plainLine)
    .join('\n')
  return annotations.map((line) => `${line}\n`).join('') + text
}

export function renderVerificationText(verification: Verification, { color, verbose }: ReportOptions): string {
  const { zones } = verification
  const palette = paletteOf(color)
  const lines = zones.flatMap((zone) => (verbose || !isVerified(zone) ? zoneLines(zone, palette, verbose) : []))
  lines.push(...zones.flatMap((zone) => unmanagedLine(zone, palette, verbose)))
  if (lines.length > 0) lines.push('')
  const isGood = zones.every(isVerified) && !hasErrors(verification.diagnostics)
  lines.push((isGood ? palette.added : palette.error)(verificationSummary(verification)))
  return `${lines.join('\n')}\n`
}

/** What selectors hide from plans, also in a zone that is as defined. */
function unmanagedLine({ zone, target, unmanaged = [] }: ZoneVerification, palette: Palette, verbose: boolean): string[] {
  if (unmanaged.length === 0) return []
  const names = listed(
    unmanaged.map(({ name, type }) => `${name} ${type}`),
    verbose ? unmanaged.length : SHOWN,
  )
  const leaves = `"unmanaged" leaves ${counted(unmanaged.length, 'record set')} to other clients: ${oneLine(names)}`
  return [palette.dim(`${zone} at ${oneLine(target)}: ${leaves}`)]
}

/** `1 error. Verified: 2 of 3 zones as defined, 20 record sets queried.` */
export function verificationSummary({ zones, diagnostics }: Verification): string {
  const verified = zones.filter(isVerified).length
  const asked = zones.reduce((sum, zone) => sum + zone.nameServers.reduce((all, server) => all + server.asked, 0), 0)
  const hidden = zones.reduce(
    (sum, zone) => sum + zone.hidden.length + Math.max(0, ...zone.nameServers.map((server) => server.covered.length)),
    0,
  )
  const errors = [...diagnostics, ...zones.flatMap((zone) => zone.diagnostics)].filter(isError).length
  const parts = [`${verified} of ${counted(zones.length, 'zone')} as defined`, `${counted(asked, 'record set')} queried`]
  if (hidden > 0) parts.push(`${counted(hidden, 'record set')} hidden by delegations`)
  if (hasErrors(diagnostics)) parts.push('the rest could not be read')
  return `${errors > 0 ? `${counted(errors, 'error')}. ` : ''}Verified: ${parts.join(', ')}.`
}

/** The checks that failed, each in words. Errors are diagnostics. */
export const failedChecks = ({ pending, rendered, nameServers }: ZoneVerification): string[] => [
  ...(pending > 0 ? [`${counted(pending, 'change')} pending`] : []),
  ...(rendered === 'differs' || rendered === 'stale' ? [`rendered zone file ${rendered}`] : []),
  ...nameServers.flatMap(({ server, asked, agreed, failure }) =>
    failure !== null
      ? [`${oneLine(server)} could not be queried`]
      : agreed < asked
        ? [`${oneLine(server)}: ${counted(asked - agreed, 'record set')} not as defined`]
        : [],
  ),
]

function zoneLines(zone: ZoneVerification, palette: Palette, verbose: boolean): string[] {
  const lines = [palette.bold(`${zone.zone} at ${oneLine(zone.target)}`)]
  const command = zone.isRemoved ? 'zonewright plan' : `zonewright plan ${zone.zone}`
  const pending = `${counted(zone.pending, 'change')} pending ("${command}" shows ${agreeing(zone.pending, 'it', 'them')})`
  lines.push(`  records: ${zone.pending === 0 ? palette.added('as defined') : palette.error(pending)}`)
  const rendered = zone.rendered === 'match' ? palette.added('match') : palette.error(zone.rendered)
  if (zone.rendered !== 'unavailable') lines.push(`  rendered zone file: ${rendered}`)
  lines.push(...zone.renderedDifferences.map((difference) => `    ${oneLine(difference)}`))
  for (const server of zone.nameServers) lines.push(...serverLines(server, palette, verbose))
  if (verbose) for (const { name, type } of zone.hidden) lines.push(palette.dim(`  hidden below a delegation: ${name} ${type}`))
  return lines
}

function serverLines(server: NameServerVerification, palette: Palette, verbose: boolean): string[] {
  const label = `  ${oneLine(server.server)}: `
  // Why is a diagnostic of the zone.
  if (server.failure !== null) return [`${label}${palette.error('could not be queried')}`]
  const count = `${server.agreed} of ${counted(server.asked, 'record set')} as defined`
  const lines = [label + (server.agreed === server.asked ? palette.added(count) : palette.error(count))]
  const shown = verbose ? server.differences : server.differences.slice(0, SHOWN)
  for (const { name, type, expected, answered, note } of shown) {
    lines.push(`    ${palette.bold(`${name} ${type}`)}${note === undefined ? '' : `: ${oneLine(note)}`}`)
    for (const line of expected) if (!answered.includes(line)) lines.push(palette.removed(`      missing ${oneLine(line)}`))
    for (const line of answered) if (!expected.includes(line)) lines.push(palette.added(`      instead ${oneLine(line)}`))
  }
  if (verbose)
    for (const name of server.covered) lines.push(palette.dim(`    not shown, since the server also has the zone below: ${name} NS`))
  const more = server.asked - server.agreed - shown.length
  if (more > 0) lines.push(palette.dim(`    and ${counted(more, 'record set')} more`))
  return lines
}
