import { compareDiagnostics, hasErrors, oneLine } from '../dns/diagnostic.ts'
import { isVerified, type NameServerVerification, type ZoneVerification } from '../plan/verification.ts'
import { counted } from './counts.ts'
import { jsonText } from './json-text.ts'
import { type Palette, paletteOf } from './palette.ts'
import type { ReportOptions } from './report.ts'
import { type Verification, verificationDocument } from './verification-document.ts'
import { annotation, diagnosticAnnotation, plainLine } from './workflow-command.ts'

export type VerificationFormat = 'text' | 'json' | 'github'

/** Record sets that a text report names one by one. */
const SHOWN = 10

/** What was verified, as text that ends in a newline. */
export function renderVerification(verification: Verification, format: VerificationFormat, options: ReportOptions): string {
  if (format === 'json') return jsonText(verificationDocument(verification))
  if (format === 'text') return renderText(verification, options)
  const { zones, diagnostics } = verification
  const failed = zones.filter((zone) => !isVerified(zone))
  const annotations = [
    ...[...diagnostics, ...failed.flatMap((zone) => zone.diagnostics)]
      .sort(compareDiagnostics)
      .map((one) => diagnosticAnnotation(one, options.fromRoot)),
    ...failed.map(({ zone, target }) =>
      annotation({ severity: 'error', title: 'verify-differs', message: `${zone} at ${oneLine(target)} is not as defined` }),
    ),
  ]
  const text = renderText(verification, { ...options, color: false })
    .split('\n')
    .map(plainLine)
    .join('\n')
  return annotations.map((line) => `${line}\n`).join('') + text
}

function renderText({ zones, diagnostics }: Verification, { color, verbose }: ReportOptions): string {
  const palette = paletteOf(color)
  const lines = zones.flatMap((zone) => (verbose || !isVerified(zone) ? zoneLines(zone, palette, verbose) : []))
  const verified = zones.filter(isVerified).length
  const asked = zones.reduce((sum, zone) => sum + zone.nameServers.reduce((all, server) => all + server.asked, 0), 0)
  const hidden = zones.reduce(
    (sum, zone) => sum + zone.hidden.length + Math.max(0, ...zone.nameServers.map((server) => server.covered.length)),
    0,
  )
  const parts = [`${verified} of ${counted(zones.length, 'zone')} as defined`, `${counted(asked, 'record set')} asked for`]
  if (hidden > 0) parts.push(`${counted(hidden, 'record set')} hidden by delegations`)
  const failed = hasErrors(diagnostics)
  if (failed) parts.push('the rest could not be read')
  const summary = `Verified: ${parts.join(', ')}.`
  if (lines.length > 0) lines.push('')
  lines.push(verified === zones.length && !failed ? palette.added(summary) : palette.error(summary))
  return `${lines.join('\n')}\n`
}

function zoneLines(zone: ZoneVerification, palette: Palette, verbose: boolean): string[] {
  const lines = [palette.bold(`${zone.zone} at ${oneLine(zone.target)}`)]
  const pending = `${counted(zone.pending, 'change')} pending ("zonewright plan ${zone.zone}" shows ${zone.pending === 1 ? 'it' : 'them'})`
  lines.push(`  records: ${zone.pending === 0 ? palette.added('as defined') : palette.error(pending)}`)
  const rendered =
    zone.rendered === 'match'
      ? palette.added('match')
      : zone.rendered === 'unavailable'
        ? palette.dim('unavailable')
        : palette.error(zone.rendered)
  lines.push(`  rendered zone file: ${rendered}`, ...zone.renderedDifferences.map((difference) => `    ${oneLine(difference)}`))
  for (const server of zone.nameServers) lines.push(...serverLines(server, palette, verbose))
  if (verbose) for (const { name, type } of zone.hidden) lines.push(palette.dim(`  hidden below a delegation: ${name} ${type}`))
  return lines
}

function serverLines(server: NameServerVerification, palette: Palette, verbose: boolean): string[] {
  const label = `  ${oneLine(server.server)}: `
  if (server.failure !== null) return [`${label}${palette.error(oneLine(server.failure))}`]
  const count = `${server.agreed} of ${counted(server.asked, 'record set')} as defined`
  const lines = [label + (server.agreed === server.asked ? palette.added(count) : palette.error(count))]
  const shown = verbose ? server.differences : server.differences.slice(0, SHOWN)
  for (const { name, type, expected, answered, note } of shown) {
    lines.push(`    ${palette.bold(`${name} ${type}`)}${note === undefined ? '' : `: ${oneLine(note)}`}`)
    for (const line of expected) if (!answered.includes(line)) lines.push(palette.removed(`      missing ${oneLine(line)}`))
    for (const line of answered) if (!expected.includes(line)) lines.push(palette.added(`      instead ${oneLine(line)}`))
  }
  if (verbose)
    for (const name of server.covered) lines.push(palette.dim(`    not shown, since the server holds the zone below too: ${name} NS`))
  const more = server.asked - server.agreed - shown.length
  if (more > 0) lines.push(palette.dim(`    and ${counted(more, 'record set')} more`))
  return lines
}
