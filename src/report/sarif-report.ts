/**
 * Diagnostics in SARIF 2.1.0, the format of code scanning (OASIS Standard, Static Analysis Results Interchange Format). Sites show only results with a
 * position, so those without one are at the first line of the config.
 */
import { createHash } from 'node:crypto'
import {
  compareDiagnostics,
  type Diagnostic,
  oneLine,
  relatedAndCalls,
  type Severity,
  type SourcePosition,
  withRealFile,
} from '../base/diagnostic.ts'
import { DIAGNOSTIC_CODES, isPolicyCode, meaningOfCode } from '../base/diagnostic-codes.ts'
import { counted } from '../base/english.ts'
import { escapeJson } from '../base/text.ts'
import type { Renderers } from './renderers.ts'
import { type ReportOptions, type ZoneView, zoneViews } from './report.ts'
import { changeFailures, changeFigures, usageLines, zoneTitle } from './summary.ts'
import { failedChecks } from './verification.ts'

export const sarifReports: Renderers = {
  plan: (report, options) => {
    const views = zoneViews(report)
    const diagnostics = [...report.plan.diagnostics, ...views.flatMap((view) => view.diagnostics)]
    return render([...diagnostics, ...views.flatMap(refusalFindings), ...views.flatMap(usageFindings), ...views.flatMap(failureFindings)], {
      ...options,
      tool: report.plan.tool,
    })
  },
  verification: ({ zones, diagnostics }, options) => {
    const differing = zones.flatMap((zone): Finding[] => {
      const checks = failedChecks(zone)
      if (checks.length === 0) return []
      return [{ severity: 'error', code: 'verify-differs', message: `${zoneTitle(zone)} is not as defined: ${checks.join(', ')}` }]
    })
    return render([...diagnostics, ...zones.flatMap((zone) => zone.diagnostics), ...differing], options)
  },
  validation: ({ diagnostics }, options) => render(diagnostics, options),
}

/** A diagnostic, or what a report says otherwise, with a code of its own. */
type Finding = Omit<Diagnostic, 'code'> & { readonly code: string }

const OWN_RULES: Readonly<Record<string, string>> = {
  'deletion-usage': 'A plan deletes a record set. The message says how often it is queried.',
}

const REFUSAL = 'refusal-'

const refusalFindings = ({ plan }: ZoneView): Finding[] =>
  plan.refusals.map(({ name, message, allowed }) => ({
    severity: allowed ? 'warning' : 'error',
    code: `${REFUSAL}${name}`,
    message,
    ...(allowed ? {} : { hint: `to allow it: --allow ${name}` }),
  }))

const usageFindings = ({ plan }: ZoneView): Finding[] =>
  usageLines(plan).map((message) => ({ severity: 'notice', code: 'deletion-usage', message }))

const failureFindings = (view: ZoneView): Finding[] =>
  changeFailures({ plan: view.plan, outcomes: view.outcomes ?? [] }).map((one) => ({ ...one, hint: changeFigures(view) }))

const LEVELS: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', notice: 'note' }

/** Results that sites take at most in one run (GitHub). The gravest are kept. */
const MOST_RESULTS = 25_000

function render(findings: readonly Finding[], options: ReportOptions): string {
  const bySeverity = (severity: Severity): Finding[] =>
    findings.filter((one) => one.severity === severity).sort((a, b) => compareDiagnostics(a as Diagnostic, b as Diagnostic))
  const sorted = [...bySeverity('error'), ...bySeverity('warning'), ...bySeverity('notice')]
  const shown = sorted.slice(0, MOST_RESULTS)
  const codes = [...new Set(shown.map(({ code }) => code))].sort()
  const left = sorted.length - shown.length
  const [name = 'zonewright', version] = (options.tool ?? '').split(' ')
  const document = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: oneLine(name) || 'zonewright',
            ...(version === undefined ? {} : { version: oneLine(version) }),
            rules: codes.map((id) => ({ id, shortDescription: { text: meaningOf(id, shown) }, ...helpOf(id) })),
          },
        },
        columnKind: 'utf16CodeUnits',
        ...(left === 0 ? {} : { properties: { omitted: `${counted(left, 'result')} left out` } }),
        results: resultsOf(shown, codes, options),
      },
    ],
  }
  return `${escapeJson(JSON.stringify(document, null, 1))}\n`
}

/** The meaning of a code. That of a policy is its message. */
const meaningOf = (code: string, findings: readonly Finding[]): string =>
  Object.hasOwn(OWN_RULES, code)
    ? (OWN_RULES[code] as string)
    : code.startsWith(REFUSAL)
      ? `A safety limit: ${code.slice(REFUSAL.length)}.`
      : oneLine((isPolicyCode(code) && findings.find((one) => one.code === code)?.cause?.message) || meaningOfCode(code))

/** How to get the documentation of a diagnostic. Its pages are in the package and have no address. */
const helpOf = (code: string): object =>
  Object.hasOwn(DIAGNOSTIC_CODES, code) ? { help: { text: `zonewright explain ${code}`, markdown: `\`zonewright explain ${code}\`` } } : {}

function resultsOf(findings: readonly Finding[], codes: readonly string[], { fromRoot = (file) => file }: ReportOptions): object[] {
  const indexes = new Map(codes.map((code, index) => [code, index]))
  const occurrences = new Map<string, number>()
  return findings.map(withRealFile).map((finding) => {
    const { severity, code, message, hint, at } = finding
    const related = relatedAndCalls(finding)
    const text = hint === undefined ? oneLine(message) : `${oneLine(message)}\n${oneLine(hint)}`
    const place = at ?? { file: CONFIG, line: 1, column: 1 }
    // The same fingerprint twice would be one result.
    const key = `${code} ${place.file} ${message}`
    const occurrence = (occurrences.get(key) ?? 0) + 1
    occurrences.set(key, occurrence)
    return {
      ruleId: code,
      ruleIndex: indexes.get(code),
      level: LEVELS[severity],
      message: { text },
      locations: [{ physicalLocation: physicalLocation(place, fromRoot) }],
      ...(related.length === 0
        ? {}
        : {
            relatedLocations: related.map((other, id) => ({
              id,
              message: { text: oneLine(other.message) },
              physicalLocation: physicalLocation(other.at, fromRoot),
            })),
          }),
      partialFingerprints: { 'zonewright/v1': `${createHash('sha256').update(key).digest('hex').slice(0, 32)}:${occurrence}` },
    }
  })
}

/** The place of a finding without a position: what `init` calls the config. */
const CONFIG = 'zonewright.yaml'
/** The root of the repository, by convention. */
const ROOT = '%SRCROOT%'

const physicalLocation = ({ file, line, column }: SourcePosition, fromRoot: (file: string) => string) => ({
  artifactLocation: artifactLocation(fromRoot(file)),
  region: { startLine: Math.max(1, line), startColumn: Math.max(1, column) },
})

/** A path as a URI reference (RFC 3986): relative to the root of the repository, or absolute. */
function artifactLocation(file: string): { readonly uri: string; readonly uriBaseId?: string } {
  const path = oneLine(file).replace(/\\(?![nt]|u[0-9a-f]{4})/g, '/')
  const encoded = path.split('/').map(encodeURIComponent).join('/')
  if (path.startsWith('/')) return { uri: `file://${encoded}` }
  // A first segment with a colon would be a scheme; encodeURIComponent escapes it.
  return { uri: encoded, uriBaseId: ROOT }
}
