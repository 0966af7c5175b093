/** `snapshot`: reads the live state of all zones and writes it to a file, so that a job without credentials and network can plan. */
import { resolve } from 'node:path'
import { type Diagnostic, hasErrors } from '../base/diagnostic.ts'
import { counted } from '../base/english.ts'
import { assertNoSecret } from '../base/secret-guard.ts'
import { compareText } from '../base/text.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone } from '../dns/zone.ts'
import type { ZoneJob } from '../plan/planned-zone.ts'
import type { Provider } from '../providers/provider.ts'
import { EXIT, type ExitStatus } from '../run/context/exit-status.ts'
import { type RunContext, type RunSetup, type Workspace, type WorkspaceOptions, withProgress } from '../run/context/run-context.ts'
import { openWorkspace, reportLoaded } from '../run/load/workspace.ts'
import { planZones } from '../run/plan/plan-zones.ts'
import { endpointsText } from '../run/plan/snapshot-source.ts'
import { createSourceReader, hasSources, zonesOfSources } from '../run/read/read-sources.ts'
import { readKnownFences } from '../run/run-plan.ts'
import { writePrivateFile } from '../run/saved/save-plan.ts'
import { isForeignFile, MAX_PLAN_OCTETS } from '../stored/plans/saved-plan.ts'
import { readSigningKey } from '../stored/snapshots/signing-key.ts'
import { parseSnapshot, type Snapshot, type SnapshotInventory, type SnapshotTarget, snapshotText } from '../stored/snapshots/snapshot.ts'
import { fenceOf } from '../stored/store/fences.ts'
import { storeContext } from '../stored/store/open-store.ts'

export interface SnapshotOptions extends WorkspaceOptions {
  /** The file to write. */
  readonly out: string
  /** A reference to the private key. */
  readonly signKey?: string | undefined
}

/** Writes a snapshot of the named zones, or of all. If a zone cannot be read, nothing is written. */
export async function runSnapshot(setup: RunSetup<SnapshotOptions>, zones: readonly string[]): Promise<ExitStatus> {
  const { options, output } = setup
  const { cwd, env, secrets } = setup.environment
  const { out, signKey } = options
  const signing = signKey === undefined ? null : await readSigningKey(signKey, { folder: cwd, env, loaded: secrets })
  const path = resolve(cwd, out)
  if (signing?.diagnostic) {
    output.diagnostics([signing.diagnostic])
    return EXIT.failure
  }
  if (await isForeignFile(path, 'snapshot')) {
    output.error('file-exists', `${out} exists and is not a snapshot, so it was not overwritten`, 'give --out another name')
    return EXIT.failure
  }
  const workspace = await openWorkspace(setup, zones)
  try {
    if (!reportLoaded(output, { diagnostics: workspace.diagnostics })) return EXIT.failure
    const { snapshot, diagnostics } = await readSnapshotOf({ ...setup, workspace })
    output.diagnostics(diagnostics)
    if (hasErrors(diagnostics)) {
      output.say(`${out} was not written.`)
      return EXIT.failure
    }
    const text = snapshotText(snapshot, signing?.key ?? null)
    assertNoSecret(secrets, text, out)
    const problem = Buffer.byteLength(text) > MAX_PLAN_OCTETS ? TOO_LARGE : parseSnapshot(text, out, null).diagnostic
    if (problem !== null) {
      output.diagnostics([{ ...problem, message: `${out} was not written: ${problem.message}` }])
      return EXIT.failure
    }
    if (!(await writePrivateFile(setup, out, text))) return EXIT.failure
    const records = snapshot.zones.reduce((sum, { live }) => sum + (live?.records.length ?? 0), 0)
    const signed = signing === null ? '' : ' (signed)'
    output.note(`Saved ${counted(snapshot.zones.length, 'zone')} with ${counted(records, 'record')} to ${out}${signed}.`)
    return EXIT.done
  } finally {
    await workspace.close()
  }
}

const TOO_LARGE: Diagnostic = {
  severity: 'error',
  code: 'snapshot-invalid',
  message: `it would have more than ${MAX_PLAN_OCTETS} octets`,
  hint: 'make several: name the zones of each on the command line',
}

interface ReadSnapshot {
  readonly snapshot: Snapshot
  readonly diagnostics: readonly Diagnostic[]
}

async function readSnapshotOf(context: RunContext<SnapshotOptions>): Promise<ReadSnapshot> {
  const { now, tool } = context.environment
  const { jobs, providers } = context.workspace
  const created = now()
  const asked = await readInventories(jobs, providers)
  // The plans are not needed, only what they are made from.
  const bare = [...jobs, ...sourceJobs(jobs)].map((job) => ({
    ...job,
    desired: { ...job.desired, sourced: undefined, sources: undefined },
  }))
  const planned = await withProgress(context.output, (onProgress) => planZones(bare, { providers, now: created, tool, onProgress }))
  const { fences, problems } = await readKnownFences(storeContext(context))
  const unread = planned.zones.flatMap(({ plan }) => plan.diagnostics.filter(({ code }) => code === 'rendered-unavailable'))
  return {
    snapshot: {
      created: created.toISOString(),
      tool,
      targets: targetsOf(context.workspace),
      inventory: asked.inventory,
      zones: planned.zones.map(({ plan: { zone, target }, existing, rendered }) => ({
        zone,
        target,
        live: existing && { ...existing, rendered },
        storedTtls: fences === null ? undefined : fenceOf(fences, { zone, target })?.ttls,
      })),
    },
    diagnostics: [...problems, ...planned.diagnostics, ...asked.diagnostics, ...unread],
  }
}

/** Jobs that read the zones of sources which no job describes. */
function sourceJobs(jobs: readonly ZoneJob[]): ZoneJob[] {
  const described = new Set(jobs.map(({ desired, target }) => `${desired.name} ${target}`))
  const [first] = jobs
  if (first === undefined) return []
  return [...zonesOfSources(jobs)].flatMap(([target, zones]) =>
    [...zones].flatMap((name): ZoneJob[] => {
      const { at } = first.desired
      const desired: DesiredZone = { ...DEFAULT_ZONE_OPTIONS, name, at, settings: {}, records: [] }
      return described.has(`${name} ${target}`) ? [] : [{ ...first, desired, target, owner: undefined }]
    }),
  )
}

/** The answers to all queries of the definitions. A query without objects is an answer too. */
async function readInventories(
  jobs: readonly ZoneJob[],
  providers: ReadonlyMap<string, Provider>,
): Promise<{ readonly inventory: readonly SnapshotInventory[]; readonly diagnostics: readonly Diagnostic[] }> {
  const inventory: SnapshotInventory[] = []
  const recording = new Map(
    [...providers].map(([target, provider]): [string, Provider] => {
      if (provider.readInventory === undefined) return [target, provider]
      const readInventory: Provider['readInventory'] = async (query, options) => {
        const objects = (await provider.readInventory?.(query, options)) ?? []
        const { provider: _, ...conditions } = query
        inventory.push({ target, query: conditions, objects })
        return objects
      }
      return [target, { ...provider, readInventory }]
    }),
  )
  const reader = createSourceReader(jobs, recording)
  // A zone that cannot be read is reported by its plan.
  const inventories = jobs.filter(({ desired }) => hasSources(desired)).map((job) => ({ ...job, desired: withoutZones(job.desired) }))
  const read = await Promise.all(inventories.map((job) => reader.read(job)))
  const diagnostics = read.flatMap(({ readings }) =>
    readings.flatMap(({ source, at, result }): Diagnostic[] =>
      result.state === 'read' ? [] : [{ ...result.problem, severity: 'error', message: `${source}: ${result.problem.message}`, at }],
    ),
  )
  const sorted = inventory.toSorted((a, b) => compareText(JSON.stringify([a.target, a.query]), JSON.stringify([b.target, b.query])))
  return { inventory: sorted, diagnostics }
}

const withoutZones = (desired: DesiredZone): DesiredZone => ({
  ...desired,
  sourced: desired.sourced?.filter(({ query }) => query.kind !== 'zone'),
  sources: undefined,
})

const targetsOf = ({ config, providers, jobs }: Workspace): SnapshotTarget[] =>
  [...providers.values()]
    .map((provider) => {
      const { name, type, address } = provider
      const zones = jobs.filter(({ target }) => target === name).map(({ desired }) => desired.name)
      return { name, type, address, endpoints: endpointsText(config?.providers.get(name)), facts: provider.capabilityFacts?.(zones) }
    })
    .sort((a, b) => compareText(a.name, b.name))
