/** A run as metrics in the text format of Prometheus, for the textfile collector of its node exporter. All are gauges of the last run. */
import type { RunDocument } from './run-document.ts'

type Labels = Readonly<Record<string, string>>
type Sample = readonly [labels: Labels, value: number]

/** Metrics by zone would be too many in a large account, so only so many of the listed zones have their own. */
const MAX_ZONES = 100

export function runMetrics(run: RunDocument): string {
  const { command, summary, targets, zones } = run
  const one = (value: number): Sample[] => [[{}, value]]
  const byTarget = (pick: (target: RunDocument['targets'][number]) => number): Sample[] =>
    targets.map((target) => [{ target: target.target }, pick(target)])
  const shown = zones.slice(0, MAX_ZONES)
  const families: readonly (readonly [name: string, help: string, samples: readonly Sample[]])[] = [
    ['timestamp_seconds', 'When the run ended, in seconds since 1970.', one(Date.parse(run.ended) / 1000)],
    ['duration_seconds', 'How long the run took.', one(run.seconds)],
    ['exit_status', 'The exit status: 0 is success.', one(run.exitStatus)],
    ['zones', 'Zones of the run.', one(summary.zones)],
    ['changes', 'Changes of the plan by action.', (['create', 'update', 'delete'] as const).map((action) => [{ action }, summary[action]])],
    [
      'outcomes',
      'Changes by what became of them.',
      (['applied', 'failed', 'skipped', 'unknown'] as const).map((outcome) => [{ outcome }, summary[outcome]]),
    ],
    ['refusals', 'Safety limits that refuse a plan, and zones of a saved plan that have moved.', one(summary.refusals)],
    ['differences', 'Differences that verify found.', summary.differences === null ? [] : one(summary.differences)],
    ['errors', 'Errors of the run.', one(summary.errors)],
    ['warnings', 'Warnings of the run.', one(summary.warnings)],
    ['calls', 'API requests that the plan needs.', byTarget(({ calls }) => calls)],
    ['calls_saved', 'Changes that share an API request with another one.', byTarget(({ callsSaved }) => callsSaved)],
    ['requests', 'Requests to the target, repeated ones included.', byTarget(({ requests }) => requests)],
    ['retries', 'Repeated requests.', byTarget(({ retries }) => retries)],
    [
      'zone_changes',
      'Changes of the plan of one zone; absent for zones without any, and for those beyond the first hundred.',
      shown.flatMap((zone): Sample[] => {
        const changes = zone.create + zone.update + zone.delete
        return changes === 0 ? [] : [[{ zone: zone.zone, target: zone.target }, changes]]
      }),
    ],
    [
      'zone_differences',
      'Differences that verify found in one zone; absent for zones without any, and for those beyond the first hundred.',
      shown.flatMap((zone): Sample[] =>
        (zone.differences ?? 0) > 0 ? [[{ zone: zone.zone, target: zone.target }, zone.differences ?? 0]] : [],
      ),
    ],
  ]
  return families
    .filter(([, , samples]) => samples.length > 0)
    .map(([name, help, samples]) =>
      family(
        `zonewright_run_${name}`,
        help,
        samples.map(([labels, value]) => [{ command, ...labels }, value]),
      ),
    )
    .join('')
}

const family = (name: string, help: string, samples: readonly Sample[]): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${samples.map(([labels, value]) => `${name}{${labelText(labels)}} ${value}\n`).join('')}`

const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')}"`)
    .join(',')
