import type { Diagnostic } from '../../src/base/diagnostic.ts'
import { relativeName } from '../../src/dns/domain-name.ts'
import type { ResourceRecord } from '../../src/dns/record.ts'
import type { Change, Plan, ZonePlan } from '../../src/plan/plan.ts'
import { renderDiagnostics } from '../../src/report/diagnostics-report.ts'
import { renderPlan } from '../../src/report/render-report.ts'

/** The report of a step: the diagnostics of the definition, then the plan unless the definition has errors. */
export function planText(diagnostics: readonly Diagnostic[], plan: Plan | null): string {
  const said = renderDiagnostics(diagnostics, { color: false })
  const shown = plan === null ? '' : renderPlan(plan, 'text', { color: false, width: null, verbose: false })
  return said + shown
}

/** The calls as JSON, one per line, so that a changed call is one changed line. Records are lines of zone-file text. */
export function callsText({ zone, changes, calls }: ZonePlan): string {
  const lines = changes.map((change) => `    ${JSON.stringify(callOf(change, zone))}`)
  const list = lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n  ]`
  return `{\n  "calls": ${list},\n  "total": ${calls.total}\n}\n`
}

function callOf(change: Change, zone: ZonePlan['zone']): Record<string, unknown> {
  const after = change.after.length === 0 ? {} : { after: change.after }
  if (change.subject === 'domain') {
    const { action, existing, desired } = change
    return { [action]: 'zone', ...(existing && { existing }), ...(desired && { desired }), ...after }
  }
  const { action, existing, desired, fields } = change
  const text = (record: ResourceRecord | null): string => {
    if (record === null) throw new Error('a change without records')
    return `${relativeName(record.name, zone) || '@'} ${record.ttl ?? '-'} ${record.type} ${record.data}`
  }
  const split = change.split === undefined ? {} : { split: change.split }
  if (action === 'update') return { update: text(existing), to: text(desired), fields, ...after }
  return { [action]: text(action === 'create' ? desired : existing), ...split, ...after }
}
