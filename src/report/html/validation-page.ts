/** Validations as a page. */
import { hasErrors, isError, oneLine } from '../../base/diagnostic.ts'
import { counted } from '../../base/english.ts'
import { countDiagnostics } from '../diagnostics-report.ts'
import type { ReportOptions } from '../report.ts'
import { zoneTitleAlone } from '../summary.ts'
import { countOf, diagnosticsOfNoZone, type ValidatedZone, type Validation, validatedText } from '../validation.ts'
import { diagnosticMessages, madeBy, type Page, type PageZone } from './page.ts'

export function validationPage(validation: Validation, options: ReportOptions): Page {
  const { figures, zones, diagnostics } = validation
  const shown = zones.filter((zone) => options.verbose || zone.diagnostics.length > 0)
  const others = zones.filter((zone) => !shown.includes(zone))
  const [errors, warnings] = [countOf(diagnostics, 'error'), countOf(diagnostics, 'warning')]
  const count = countDiagnostics(diagnostics)
  return {
    kind: 'Validation',
    title: `${validatedText(figures)}: ${count ?? 'no problems'}`,
    headline: count ?? 'No problems',
    ...madeBy(options),
    figures: [
      { label: ['error', 'errors'], count: errors, className: errors === 0 ? '' : 'bad', show: 'error' },
      { label: ['warning', 'warnings'], count: warnings, className: '' },
      { label: ['zone', 'zones'], count: figures.zones, className: '' },
      { label: ['record', 'records'], count: figures.records, className: '' },
      { label: ['file', 'files'], count: figures.files, className: '' },
    ],
    messages: diagnosticMessages(diagnosticsOfNoZone(validation), options),
    place: 'file',
    columns: [],
    noun: 'records',
    legend: 'Zones with a diagnostic',
    choices: shown.some((zone) => zone.diagnostics.some(isError)) ? [['error', 'error']] : [],
    zones: shown.map((zone) => pageZone(zone, options)),
    rest: { title: `${counted(others.length, 'zone')} without problems`, zones: others.map(plainZone) },
  }
}

const plainZone = ({ zone, files, owner }: ValidatedZone) => ({ title: zoneTitleAlone({ zone }), target: oneLine(files[0] ?? ''), owner })

const pageZone = (zone: ValidatedZone, options: ReportOptions): PageZone => ({
  ...plainZone(zone),
  name: zone.zone,
  labels: (['error', 'warning', 'notice'] as const).flatMap((severity) => {
    const count = countOf(zone.diagnostics, severity)
    return count === 0 ? [] : [{ text: counted(count, severity), severity }]
  }),
  problem: hasErrors(zone.diagnostics) ? 'error' : null,
  counts: { create: 0, update: 0, delete: 0 },
  facts: [zone.files.map(oneLine).join(', ')],
  messages: diagnosticMessages(zone.diagnostics, options),
  lines: [],
})
