/** The state of a cutover between runs (`schemas/cutover.schema.json`), and the zones that one is moving, which other runs leave out. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { validate } from '../../../generated/cutover-schema.js'
import type { Diagnostic, Severity } from '../../base/diagnostic.ts'
import { BrokenState, type StateFile, type StateMirror, stateFile } from '../../stored/states/state-file.ts'
import type { RunContext } from '../context/run-context.ts'

/**
 * `lower`: lower the TTL of the apex NS records. `copy`: when caches have forgotten the former TTL, copy the zone and compare the answers of both sides.
 * `unsign`: wait until the parent has no DS record. `delegate`: wait until the parent has the new name servers. `drain`: wait until caches have forgotten the
 * previous delegation. `restore`: set the previous TTL at the new provider.
 */
export type Step = 'lower' | 'copy' | 'unsign' | 'delegate' | 'drain' | 'restore'

export const STEPS: readonly Step[] = ['lower', 'copy', 'unsign', 'delegate', 'drain', 'restore']

export interface Cutover {
  readonly format: 'zonewright-cutover'
  readonly version: 1
  readonly zone: string
  readonly from: string
  readonly to: string
  readonly started: string
  /** The step to do next. */
  readonly step: Step
  /** Seconds, as all TTLs here. */
  readonly lowTtl: number
  /** The TTL of the apex NS records before the cutover. */
  readonly formerTtl: number
  /** The default TTL of the zone before it was lowered; 0 for that of the provider; null if it was not lowered. */
  readonly formerZoneTtl: number | null
  readonly lowered: boolean
  /** When the next step may begin: ISO 8601, UTC; null for at once. */
  readonly notBefore: string | null
  /** The names given for the new name servers, sorted; if empty, those that the new provider states. */
  readonly apexNs: readonly string[]
  /** The names of the new name servers; empty until they are known. */
  readonly nameservers: readonly string[]
  /** The longest TTL of the previous delegation, or of a DS record, at the parent. */
  readonly parentTtl: number
}

export const cutoverFile = (journal: string, zone: string, mirror?: StateMirror): StateFile<Cutover> =>
  stateFile(journal, 'cutovers', [zone], validate, mirror)

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
export async function leaveOutMovingZones<Context extends RunContext>(context: Context, severity: Severity): Promise<Context | null> {
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
