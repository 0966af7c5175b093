/**
 * Reports in the form of JUnit, as Jenkins and other CI systems read it: a test case per zone, or per check of a zone. It follows `junit-10.xsd` of
 * Jenkins: https://github.com/jenkinsci/xunit-plugin
 */
import { type Diagnostic, formatDiagnostic, isError, oneLine } from '../base/diagnostic.ts'
import { summaryLine } from './headline.ts'
import { impactLines } from './impact-text.ts'
import type { Renderers } from './renderers.ts'
import { blockingRefusals, type ZoneView, zoneViews } from './report.ts'
import { changeFigures, groupByOwner, readBackText, usageLines, zoneTitle } from './summary.ts'
import { diagnosticsOfNoZone } from './validation.ts'
import { type NameServerVerification, verificationSummary, type ZoneVerification } from './verification.ts'

/** A test case. It passed if it has neither errors nor failures and was not skipped. */
interface Case {
  readonly name: string
  readonly className: string
  readonly problems: readonly Problem[]
  /** Why it was not run. */
  readonly skipped?: string | undefined
  /** What else there is to say. */
  readonly output: readonly string[]
}

interface Problem {
  /** An error is a check that could not be made; a failure is one that did not pass. */
  readonly kind: 'error' | 'failure'
  readonly type: string
  readonly message: string
  readonly text: string
}

interface Suite {
  readonly name: string
  readonly owner: string | null
  readonly cases: readonly Case[]
}

export const junitReports: Renderers = {
  plan: (report, { diagnostics }) => {
    const groups = groupByOwner(zoneViews(report), ({ plan }) => plan.owner)
    const name = report.outcomes === null ? 'plan' : 'apply'
    const suites = groups.map(({ owner, zones }) => suiteOf(name, owner, zones.map(zoneCase)))
    return renderSuites(summaryLine(report), [...suites, ...generalSuite(name, diagnostics === false ? [] : report.plan.diagnostics)])
  },
  verification: (verification) => {
    const groups = groupByOwner(verification.zones, ({ owner }) => owner)
    const suites = groups.map(({ owner, zones }) => suiteOf('verify', owner, zones.flatMap(verificationCases)))
    return renderSuites(verificationSummary(verification), [...suites, ...generalSuite('verify', verification.diagnostics)])
  },
  validation: (validation) => {
    const groups = groupByOwner(validation.zones, ({ owner }) => owner)
    const suites = groups.map(({ owner, zones }) =>
      suiteOf(
        'validate',
        owner,
        zones.map(({ zone, files, diagnostics }) => caseOf(oneLine(zone), oneLine(files[0] ?? ''), diagnostics, [])),
      ),
    )
    return renderSuites('zonewright validate', [...suites, ...generalSuite('validate', diagnosticsOfNoZone(validation))])
  },
}

const suiteOf = (name: string, owner: string | null, cases: readonly Case[]): Suite => ({
  name: owner === null ? name : `${name}: ${oneLine(owner)}`,
  owner,
  cases,
})

/** What belongs to no zone: one test case if there is anything. */
const generalSuite = (name: string, diagnostics: readonly Diagnostic[]): Suite[] =>
  diagnostics.length === 0 ? [] : [suiteOf(name, null, [caseOf('the run', name, diagnostics, [])])]

const caseOf = (name: string, className: string, diagnostics: readonly Diagnostic[], failures: readonly Problem[]): Case => ({
  name,
  className,
  problems: [...diagnostics.filter(isError).map(errorOf), ...failures],
  output: diagnostics.filter((one) => !isError(one)).map(formatDiagnostic),
})

const errorOf = (diagnostic: Diagnostic): Problem => ({
  kind: 'error',
  type: oneLine(diagnostic.code),
  message: oneLine(diagnostic.message),
  text: [formatDiagnostic(diagnostic), ...(diagnostic.hint === undefined ? [] : [oneLine(diagnostic.hint)])].join('\n'),
})

const failureOf = (type: string, message: string, text = message): Problem => ({ kind: 'failure', type, message, text })

function zoneCase(view: ZoneView): Case {
  const { plan, outcomes } = view
  const refusals = blockingRefusals(plan).map(({ name, message }) =>
    failureOf(`refused-${name}`, oneLine(message), `${oneLine(message)}\nto allow it: --allow ${name}`),
  )
  const errors = new Set(
    (outcomes ?? []).flatMap((one) => (one.state === 'failed' || one.state === 'unknown' ? [`${one.state}: ${oneLine(one.error)}`] : [])),
  )
  const readBack = view.readBack === 'different' ? readBackText(view, false) : null
  const failures = [
    ...refusals,
    ...[...errors].map((error) => failureOf('not-applied', error, `${changeFigures(view)}\n${error}`)),
    ...(readBack === null ? [] : [failureOf('apply-unconfirmed', readBack)]),
  ]
  const found = caseOf(zoneTitle(plan), oneLine(plan.target), view.diagnostics, failures)
  const [first] = outcomes ?? []
  const isSkipped = first?.state === 'skipped' && outcomes?.every(({ state }) => state === 'skipped') === true
  return {
    ...found,
    skipped: isSkipped && found.problems.length === 0 ? oneLine(first.because) : undefined,
    output: [...impactLines([view]), changeFigures(view), ...usageLines(plan), ...found.output],
  }
}

/** The checks of a zone: its records, its rendered zone file, and one per name server. */
function verificationCases(zone: ZoneVerification): Case[] {
  const className = zoneTitle(zone)
  const check = (name: string, failures: readonly Problem[], skipped?: string): Case => ({
    name,
    className,
    problems: failures,
    skipped,
    output: [],
  })
  const { pending, rendered, renderedDifferences } = zone
  const records =
    pending === 0 ? [] : [failureOf('verify-differs', `${pending} pending`, `"zonewright plan ${oneLine(zone.zone)}" shows the changes`)]
  const differences = renderedDifferences.map((difference) => `- ${oneLine(difference)}`).join('\n')
  return [
    caseOf('records', className, zone.diagnostics, records),
    check(
      'rendered zone file',
      rendered === 'stale' || rendered === 'differs' ? [failureOf('verify-differs', rendered, differences)] : [],
      rendered === 'unavailable' ? 'unavailable' : undefined,
    ),
    ...zone.nameServers.map((server) => check(oneLine(server.server), serverProblems(server))),
  ]
}

function serverProblems({ asked, agreed, differences, failure }: NameServerVerification): Problem[] {
  if (failure !== null) return [{ kind: 'error', type: 'dns-failed', message: oneLine(failure), text: oneLine(failure) }]
  if (agreed === asked) return []
  const lines = differences.flatMap(({ name, type, expected, answered, note }) => [
    `${oneLine(name)} ${type}${note === undefined ? '' : `: ${oneLine(note)}`}`,
    ...expected.filter((line) => !answered.includes(line)).map((line) => `  missing ${oneLine(line)}`),
    ...answered.filter((line) => !expected.includes(line)).map((line) => `  instead ${oneLine(line)}`),
  ])
  return [failureOf('verify-differs', `${agreed} of ${asked} record sets as defined`, lines.join('\n'))]
}

function renderSuites(name: string, suites: readonly Suite[]): string {
  const lines = suites.flatMap(({ name: suite, owner, cases }) => [
    `  <testsuite${attributes({ name: suite, ...totals(cases), skipped: cases.filter(({ skipped }) => skipped !== undefined).length })}>`,
    ...(owner === null ? [] : [`    <properties><property${attributes({ name: 'owner', value: oneLine(owner) })}/></properties>`]),
    ...cases.map(caseXml),
    '  </testsuite>',
  ])
  const head = attributes({ name, ...totals(suites.flatMap(({ cases }) => cases)) })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${head}>\n${lines.map((line) => `${line}\n`).join('')}</testsuites>\n`
}

/** A case with an error and a failure counts as an error. */
function totals(cases: readonly Case[]) {
  const has = ({ problems }: Case, kind: Problem['kind']): boolean => problems.some((problem) => problem.kind === kind)
  const errors = cases.filter((one) => has(one, 'error')).length
  return {
    tests: cases.length,
    failures: cases.filter((one) => has(one, 'failure') && !has(one, 'error')).length,
    errors,
  }
}

function caseXml({ name, className, problems, skipped, output }: Case): string {
  const parts = [
    ...(skipped === undefined ? [] : [`      <skipped${attributes({ message: skipped })}/>`]),
    ...problems.map(({ kind, type, message, text }) => `      <${kind}${attributes({ type, message })}>${escapeXml(text)}</${kind}>`),
    ...(output.length === 0 ? [] : [`      <system-out>${escapeXml(output.join('\n'))}</system-out>`]),
  ]
  const head = `    <testcase${attributes({ name, classname: className })}`
  return parts.length === 0 ? `${head}/>` : `${head}>\n${parts.join('\n')}\n    </testcase>`
}

const attributes = (values: Readonly<Record<string, string | number>>): string =>
  Object.entries(values)
    .map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`)
    .join('')

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text without control characters for XML 1.0, which excludes U+FFFE and U+FFFF. */
const escapeXml = (text: string): string => text.replace(/[\ufffe\uffff]/g, '\ufffd').replace(/[&<>"]/g, (c) => ENTITIES[c] as string)
