/** Verifications as a page. */
import { isError, oneLine } from '../../base/diagnostic.ts'
import { counted } from '../../base/english.ts'
import type { ReportOptions } from '../report.ts'
import { ownerText, zoneTitleAlone } from '../summary.ts'
import {
  type AnswerDifference,
  failedChecks,
  isVerified,
  type Verification,
  verificationSummary,
  type ZoneVerification,
} from '../verification.ts'
import { pairLines, type Side, sideLine } from './change-lines.ts'
import { diagnosticMessages, type Figure, madeBy, type Page, type PageZone } from './page.ts'

export function verificationPage(verification: Verification, options: ReportOptions): Page {
  const { zones, diagnostics } = verification
  const shown = zones.filter((zone) => options.verbose || !isVerified(zone) || zone.diagnostics.length > 0)
  const others = zones.filter((zone) => !shown.includes(zone))
  const differing = zones.filter((zone) => !isVerified(zone)).length
  const errors = [...diagnostics, ...zones.flatMap((zone) => zone.diagnostics)].filter(isError).length
  const summary = verificationSummary(verification)
  const pending = zones.reduce((sum, zone) => sum + zone.pending, 0)
  const wrong = zones.flatMap(({ nameServers }) => nameServers).reduce((sum, { asked, agreed }) => sum + asked - agreed, 0)
  const differences = [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(pending > 0 ? [`${counted(pending, 'change')} pending`] : []),
    ...(wrong > 0 ? [`${counted(wrong, 'answer')} not as defined`] : []),
  ].join(', ')
  return {
    kind: 'Verification',
    title: summary,
    headline:
      differing === 0 ? summary : `${differing} of ${counted(zones.length, 'zone')} not as defined${differences && `: ${differences}`}`,
    ...madeBy(options),
    figures: [
      ...(errors === 0 ? [] : [{ label: ['error', 'errors'], count: errors, className: 'bad', show: 'error' } satisfies Figure]),
      { label: ['zone not as defined', 'zones not as defined'], count: differing, className: differing === 0 ? '' : 'bad' },
      { label: ['zone', 'zones'], count: zones.length, className: '' },
    ],
    messages: diagnosticMessages(diagnostics, options),
    place: 'target',
    columns: [
      { action: 'update', label: 'pending' },
      { action: 'delete', label: 'missing' },
      { action: 'create', label: 'instead' },
    ],
    noun: 'differences',
    legend: '− the definition has it and the server does not answer it, + the server answers it instead; the differing part is marked',
    choices: [
      ['delete', 'missing'],
      ['create', 'instead'],
      ['update', 'differs'],
      ...(shown.some((zone) => zone.diagnostics.some(isError)) ? [['error', 'error'] as const] : []),
    ],
    zones: shown.map((zone) => pageZone(zone, options)),
    rest: { title: `${counted(others.length, 'zone')} as defined`, zones: others.map(plainZone) },
  }
}

const plainZone = (zone: ZoneVerification) => ({ title: zoneTitleAlone(zone), target: zone.target, owner: zone.owner ?? null })

function pageZone(zone: ZoneVerification, options: ReportOptions): PageZone {
  const lines = zone.nameServers.flatMap(({ server, differences }) =>
    differences.flatMap((difference) => differenceLines(difference, server, zone)),
  )
  const hasError = zone.diagnostics.some(isError)
  const count = (sign: string): number => lines.filter((line) => line.replace(/^~/, '').startsWith(sign)).length
  return {
    ...plainZone(zone),
    name: zone.zone,
    labels: [
      ...(hasError ? [{ text: 'error', severity: 'error' as const }] : []),
      isVerified(zone) ? { text: 'as defined', severity: 'notice' } : { text: 'not as defined', severity: 'error' },
    ],
    problem: hasError ? 'error' : null,
    counts: { update: zone.pending, delete: count('-'), create: count('+') },
    facts: failedChecks(zone),
    messages: [
      ...diagnosticMessages(zone.diagnostics, options),
      ...(zone.renderedDifferences.length === 0
        ? []
        : [
            {
              severity: 'warning' as const,
              title: 'rendered zone file:',
              text: zone.renderedDifferences.map((difference) => `- ${oneLine(difference)}`).join('\n'),
            },
          ]),
    ],
    lines,
  }
}

/** The lines of an RRset at a server. One record instead of another is a pair. */
function differenceLines({ name, type, expected, answered, note }: AnswerDifference, server: string, { zone }: ZoneVerification): string[] {
  const missing = expected.filter((line) => !answered.includes(line))
  const instead = answered.filter((line) => !expected.includes(line))
  const owner = ownerText(name, zone)
  const place = `at ${oneLine(server)}${note === undefined ? '' : `: ${oneLine(note)}`}`
  const side = (data: string, notes: readonly string[] = [place]): Side => ({
    name: owner,
    ttl: '',
    type: oneLine(type),
    data: oneLine(data),
    notes,
  })
  const [first, ...more] = missing
  const [other, ...others] = instead
  if (first !== undefined && other !== undefined && more.length + others.length === 0) return pairLines('', side(first, []), side(other))
  if (first === undefined && other === undefined) return [sideLine('-', side(expected[0] ?? 'no data'))]
  return [...missing.map((line) => sideLine('-', side(line))), ...instead.map((line) => sideLine('+', side(line)))]
}
