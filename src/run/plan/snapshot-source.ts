/** The workspace of a run that plans against a snapshot: definitions and config as usual, live state from the file. Sends nothing and reads no secret. */
import { resolve } from 'node:path'
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import { durationText, listed } from '../../base/english.ts'
import { type ProviderConfig, unknownProvider } from '../../config/config.ts'
import { describeInventoryQuery, type InventoryQuery } from '../../dns/zone-source.ts'
import { loadDefinitions } from '../../load/load-definitions.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import { type Provider, ProviderError, type ZoneReference, type ZoneSnapshot } from '../../providers/provider.ts'
import { capabilitiesOf, endpointsOf, unknownType } from '../../providers/registry.ts'
import { readPlanText } from '../../stored/plans/saved-plan.ts'
import { readVerifyKey } from '../../stored/snapshots/signing-key.ts'
import { parseSnapshot, type Snapshot } from '../../stored/snapshots/snapshot.ts'
import { hostEntry } from '../../transport/allowed-hosts.ts'
import type { RunSetup, Workspace, WorkspaceOptions } from '../context/run-context.ts'
import { nameUndescribedZones } from '../load/removed-zones.ts'
import { NOT_OPENED, openWorkspace, type ProviderSource } from '../load/workspace.ts'
import { zonesOfSources } from '../read/read-sources.ts'
import type { PlannedJobs } from './plan-zones.ts'

/** The options of `plan` that concern snapshots. */
export interface SnapshotSourceOptions extends WorkspaceOptions {
  /** The snapshot to plan against instead of the live zones. */
  readonly snapshot?: string | undefined
  /** A reference to the public key that must have signed the snapshot. */
  readonly verifyKey?: string | undefined
  /** Seconds; an older snapshot is refused. */
  readonly maxAge?: number | undefined
}

/** Seconds. A snapshot is made after each apply and at least daily. */
export const DEFAULT_MAX_AGE = 86_400

/** Milliseconds by which the clock of the machine that made the snapshot may be ahead. */
const CLOCK_DIFFERENCE = 300_000

export interface SnapshotWorkspace extends Workspace {
  /** Marks a plan as made from the snapshot. */
  readonly mark: (planned: PlannedJobs) => PlannedJobs
}

/** Opens the snapshot that the options name, and the workspace of the named zones. */
export async function openSnapshotWorkspace(setup: RunSetup<SnapshotSourceOptions>, zones: readonly string[]): Promise<SnapshotWorkspace> {
  const read = await readSnapshot(setup)
  if (read.opened === null) return { ...NOT_OPENED, diagnostics: read.diagnostics, mark: (planned) => planned }
  const { opened } = read
  const workspace = await openWorkspace(setup, zones, sourceOf(opened))
  const storedTtls = new Map(opened.snapshot.zones.map((zone) => [keyOf(zone), new Map(zone.storedTtls)]))
  const problems = hasErrors(workspace.diagnostics) ? [] : await otherConfigProblems(workspace, opened)
  return {
    ...workspace,
    jobs: workspace.jobs.map((job) => ({ ...job, storedTtls: storedTtls.get(keyOf({ zone: job.desired.name, target: job.target })) })),
    isOffline: true,
    diagnostics: [...workspace.diagnostics, ...problems],
    mark: (planned) => marked(planned, workspace, opened),
  }
}

interface OpenedSnapshot {
  readonly file: string
  readonly snapshot: Snapshot
  readonly checksum: string
  readonly signature: 'verified' | 'unchecked' | 'none'
  /** Seconds. */
  readonly age: number
}

type OpenResult = { readonly opened: OpenedSnapshot } | { readonly opened: null; readonly diagnostics: readonly Diagnostic[] }

async function readSnapshot({ options, environment: { cwd, env, secrets, now } }: RunSetup<SnapshotSourceOptions>): Promise<OpenResult> {
  const { snapshot: file = '', verifyKey, maxAge = DEFAULT_MAX_AGE } = options
  const refuse = (diagnostic: Diagnostic): OpenResult => ({ opened: null, diagnostics: [diagnostic] })
  const verifying = verifyKey === undefined ? null : await readVerifyKey(verifyKey, { folder: cwd, env, loaded: secrets })
  if (verifying?.diagnostic) return refuse(verifying.diagnostic)
  const text = await readPlanText(resolve(cwd, file), 'snapshot')
  if (!text.ok) return refuse({ severity: 'error', code: 'snapshot-invalid', message: `${file} ${text.message}` })
  const parsed = parseSnapshot(text.value, file, verifying?.key ?? null)
  if (parsed.snapshot === null) return refuse(parsed.diagnostic)
  const { snapshot, checksum, isSigned } = parsed
  const milliseconds = now().getTime() - new Date(snapshot.created).getTime()
  const tooOld = ageProblem(snapshot.created, milliseconds, maxAge)
  if (tooOld !== null) return refuse({ severity: 'error', code: 'snapshot-too-old', message: `${file} ${tooOld}`, hint: NEWER })
  const signature = !isSigned ? 'none' : verifying === null ? 'unchecked' : 'verified'
  return { opened: { file, snapshot, checksum, signature, age: Math.max(0, Math.round(milliseconds / 1000)) } }
}

const NEWER = 'make a new one with "zonewright snapshot --out", or allow older ones with --max-age'

function ageProblem(created: string, milliseconds: number, maxAge: number): string | null {
  if (milliseconds < -CLOCK_DIFFERENCE) return `was made at ${created}, which is in the future`
  const age = Math.round(milliseconds / 1000)
  return milliseconds > maxAge * 1000 ? `was made at ${created}, ${durationText(age)} ago; --max-age allows ${durationText(maxAge)}` : null
}

/** The hosts that a provider contacts, as snapshots name them. */
export const endpointsText = (entry: ProviderConfig | undefined): string[] =>
  entry === undefined ? [] : [...new Set(endpointsOf(entry).map(({ endpoint }) => `${endpoint.scheme}://${hostEntry(endpoint)}`))].sort()

/** Providers that answer from the snapshot, with the capabilities that the config and the snapshot's facts give them. */
const sourceOf = ({ file, snapshot }: OpenedSnapshot): ProviderSource => ({
  offline: true,
  async open(_, config, names) {
    const diagnostics: Diagnostic[] = []
    const providers = new Map<string, Provider>()
    for (const name of names) {
      const entry = config.providers.get(name)
      if (entry === undefined) diagnostics.push(unknownProvider(name, config.providers.keys(), undefined))
      else {
        const target = snapshot.targets.find((one) => one.name === name)
        const capabilities = capabilitiesOf(entry, target?.facts)
        const [made, is] = [target && `${target.type} at ${listed(target.endpoints)}`, `${entry.type} at ${listed(endpointsText(entry))}`]
        if (capabilities === null) diagnostics.push(unknownType(entry))
        else if (made !== undefined && made !== is) diagnostics.push(otherTarget(file, entry, made, is))
        else providers.set(name, snapshotProvider(entry, capabilities, snapshot))
      }
    }
    return { ...NOT_OPENED, config, providers, journal: config.journal, diagnostics }
  },
})

const otherTarget = (file: string, { name, at }: ProviderConfig, made: string, is: string): Diagnostic => ({
  severity: 'error',
  code: 'snapshot-mismatch',
  message: `${file} was made when ${name} was of type ${made}; in this config it is of type ${is}`,
  at,
  hint: 'the live state at the new address is unknown until a snapshot is made with this config',
})

const keyOf = ({ zone, target }: { readonly zone: string; readonly target: string }): string => `${zone} ${target}`

/** An error if the snapshot has zones, and none of them is one of the config. */
async function otherConfigProblems({ config, jobs }: Workspace, { file, snapshot }: OpenedSnapshot): Promise<readonly Diagnostic[]> {
  const held = new Set<string>(snapshot.zones.map(({ zone }) => zone))
  if (config === null || held.size === 0 || jobs.some(({ desired }) => held.has(desired.name))) return []
  // The run may have selected only new zones.
  const { zones } = await loadDefinitions(config, { zones: [] })
  if (jobs.length === 0 || zones.some(({ zone }) => held.has(zone.name))) return []
  const message = `${file} has none of the zones of this config; it has ${listed([...held].sort(), MAX_NAMED)}`
  return [{ severity: 'error', code: 'snapshot-mismatch', message, hint: 'give the snapshot that was made with this config' }]
}

/** Zones in one message about another config. */
const MAX_NAMED = 3

const SIGNATURES = {
  verified: ' and signed',
  unchecked: '; its signature was not checked, since there is no --verify-key',
  none: ' and not signed',
} as const

/** Zones in the message about zones that the snapshot lacks. */
const MAX_LACKING = 100

function lackingZones(file: string, zones: readonly { readonly zone: string; readonly target: string }[]): Diagnostic {
  const names = zones.map(({ zone, target }) => `${zone} at ${target}`).sort()
  const [are, as] = names.length === 1 ? ['is', 'a zone that does'] : ['are', 'zones that do']
  return {
    severity: 'warning',
    code: 'snapshot-zone-missing',
    message: `${listed(names, MAX_LACKING)} ${are} not in the snapshot ${file}: planned as ${as} not exist`,
    hint: 'a plan of a job with credentials shows whether that is so',
  }
}

/** The plan, marked as made from the snapshot, with its age and the zones that the snapshot lacks. */
function marked(planned: PlannedJobs, workspace: Workspace, { file, snapshot, checksum, signature, age }: OpenedSnapshot): PlannedJobs {
  const { jobs } = workspace
  const { created } = snapshot
  const used: Diagnostic = {
    severity: 'notice',
    code: 'snapshot-used',
    message: `planned against the snapshot ${file} of ${created}, which is ${durationText(age)} old${SIGNATURES[signature]}`,
    hint: 'changes that were made at the targets since then do not show',
  }
  const held = new Set(snapshot.zones.map(keyOf))
  const lacking = jobs.map(({ desired, target }) => ({ zone: desired.name, target })).filter((zone) => !held.has(keyOf(zone)))
  const sources = zonesOfSources(jobs)
  const live = snapshot.zones.flatMap(({ zone, target, live: found }) =>
    found === null || sources.get(target)?.has(zone) ? [] : [{ name: zone, target, origin: `the snapshot ${file} has it` }],
  )
  const diagnostics = [
    used,
    ...(lacking.length === 0 ? [] : [lackingZones(file, lacking)]),
    ...planned.diagnostics,
    ...nameUndescribedZones(live, true, workspace, planned.diagnostics),
  ]
  return { ...planned, snapshot: { created, checksum, verified: signature === 'verified' }, diagnostics }
}

/** The provider of a config entry as the snapshot has it. A target that the snapshot lacks has no zone. */
export function snapshotProvider({ name, type }: ProviderConfig, capabilities: Capabilities, snapshot: Snapshot): Provider {
  const own = snapshot.zones.filter(({ target }) => target === name)
  const live = new Map(own.flatMap(({ zone, live: found }) => (found === null ? [] : [[zone, found] as const])))
  const answers = new Map(
    snapshot.inventory.flatMap(({ target, query, objects }) => (target === name ? [[queryKey(query), objects] as const] : [])),
  )
  const unchangeable = (): never => {
    throw new Error('the zones of a snapshot cannot be changed')
  }
  return {
    name,
    type,
    address: snapshot.targets.find((target) => target.name === name)?.address ?? '',
    capabilities,
    capabilityFacts: () => snapshot.targets.find((target) => target.name === name)?.facts ?? {},
    parallelism: 1,
    findZones: async (names) => new Map(names.flatMap((zone) => [live.get(zone) ?? []].flat().map((found) => [zone, referenceTo(found)]))),
    listZones: async () => ({ zones: [...live.values()].map(referenceTo), unusable: [] }),
    async readZone({ name: zone }) {
      const found = live.get(zone)
      if (found === undefined) throw new ProviderError('provider-not-found', `${name}: the snapshot has no zone ${zone}`)
      return found
    },
    async readInventory(query) {
      const objects = answers.get(queryKey(query))
      if (objects !== undefined) return objects
      const message = `the snapshot does not have the ${describeInventoryQuery(query)} of ${name}`
      throw new ProviderError('inventory-unreadable', message, { hint: 'a snapshot has what the definitions needed when it was made' })
    },
    apply: unchangeable,
    close: async () => undefined,
  }
}

const referenceTo = ({ name, id, settings, unknownSettings, ownApexNs }: ZoneSnapshot): ZoneReference => ({
  name,
  id,
  settings,
  unknownSettings,
  ownApexNs,
})

const queryKey = ({ kind, label, tag, region, group }: Omit<InventoryQuery, 'provider'>): string =>
  JSON.stringify([kind, label, tag, region, group])
