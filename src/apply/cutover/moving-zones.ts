/** Zones that a cutover is moving. Other runs leave them out: their plans would undo what it did. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnostic, Severity } from '../../dns/diagnostic.ts'
import { BrokenState } from '../choreography/state-file.ts'
import type { RunContext } from '../run-context.ts'
import { cutoverFile } from './cutover-state.ts'

interface ZoneAtTarget {
  readonly zone: string
  /** Any target if absent. */
  readonly target?: string
}

/** An error for each zone that a cutover is moving from or to its target, and for each whose state of a cutover cannot be read. */
export async function movingZones<Zone extends ZoneAtTarget>(journal: string, zones: readonly Zone[]): Promise<Map<Zone, Diagnostic>> {
  if (!existsSync(join(journal, 'cutovers'))) return new Map()
  const found = await Promise.all(zones.map(async (one) => [one, await movingZone(journal, one)] as const))
  return new Map(found.flatMap(([one, diagnostic]) => (diagnostic === null ? [] : [[one, diagnostic] as const])))
}

async function movingZone(journal: string, { zone, target }: ZoneAtTarget): Promise<Diagnostic | null> {
  try {
    const state = await cutoverFile(journal, zone).read()
    if (state === null || (target !== undefined && state.from !== target && state.to !== target)) return null
    const message = `a cutover is moving ${zone} from ${state.from} to ${state.to} since ${state.started}`
    const hint = `go on with "zonewright cutover ${zone.replace(/\.$/, '')}", or end it with --abort`
    return { severity: 'error', code: 'zone-locked', message, hint }
  } catch (error) {
    if (!(error instanceof BrokenState)) throw error
    const hint = `if no cutover is moving ${zone}, remove the file`
    return { severity: 'error', code: 'journal-failed', message: error.message, hint }
  }
}

/**
 * The run without the zones that a cutover is moving, which are reported with this severity. Null if no zone is left: the run ends, and the reports are errors.
 */
export async function withoutMovingZones<Context extends RunContext>(context: Context, severity: Severity): Promise<Context | null> {
  const { output, workspace } = context
  const { jobs, journal, diagnostics, leftOut = [] } = workspace
  const zones = jobs.map((job) => ({ zone: job.desired.name, target: job.target, job }))
  const moving = await movingZones(journal, zones)
  if (moving.size === 0) return context
  const rest = zones.filter((zone) => !moving.has(zone)).map(({ job }) => job)
  const found = [...moving.values()].map((one): Diagnostic => (rest.length === 0 ? one : { ...one, severity }))
  output.diagnostics(found, { also: 'before-zones' })
  if (rest.length > 0) return { ...context, workspace: { ...workspace, jobs: rest, leftOut: [...leftOut, ...found] } }
  output.unplanned([...diagnostics, ...found])
  return null
}
