import type { ZoneJob } from '../apply/zone-job.ts'
import type { Config } from '../definition/config/config.ts'
import { unknownProvider } from '../definition/config/read-config.ts'
import type { LoadedZone } from '../definition/load/configured-zone.ts'
import { loadDefinitions } from '../definition/load/load-definitions.ts'
import { type Diagnostic, hasErrors } from '../dns/diagnostic.ts'
import type { RefusalName } from '../dns/zone.ts'
import type { Preference } from '../plan/break-cycles.ts'
import type { OnThrottled, Provider } from '../providers/provider.ts'
import { createProvider } from '../providers/registry.ts'
import type { CliIo } from './io.ts'
import { loadRunConfig } from './run-config.ts'

export interface WorkspaceOptions {
  readonly config?: string | undefined
  /** Only these zones; all where empty. */
  readonly zones: readonly string[]
  /** Only this target. */
  readonly target?: string | undefined
  readonly allow?: readonly string[] | undefined
  readonly parallelism?: number | undefined
  readonly prefer?: Preference | undefined
  readonly onThrottled?: OnThrottled | undefined
}

/** One zone at one target with what `verify` needs beside. */
export interface WorkspaceJob extends ZoneJob {
  readonly nameservers: readonly string[] | null
}

/** Config, definitions and providers of a run. */
export interface Workspace {
  readonly jobs: readonly WorkspaceJob[]
  readonly providers: ReadonlyMap<string, Provider>
  /** The journal's folder, absolute; empty where there is no config. */
  readonly journal: string
  /** Everything found on the way. With an error among them, nothing may be asked of a provider. */
  readonly diagnostics: readonly Diagnostic[]
  close(): Promise<void>
}

/** Reads config and definitions and makes the providers that are needed. Opens no connection. */
export async function openWorkspace(io: CliIo, options: WorkspaceOptions): Promise<Workspace> {
  const { config, diagnostics } = await loadRunConfig(io, options.config)
  if (config === null || hasErrors(diagnostics))
    return { jobs: [], providers: new Map(), journal: '', diagnostics, close: async () => undefined }
  const workspace = await openConfig(io, config, options)
  return { ...workspace, diagnostics: [...diagnostics, ...workspace.diagnostics] }
}

/** The same for a config that was read already. */
export async function openConfig(io: CliIo, config: Config, options: WorkspaceOptions): Promise<Workspace> {
  const loaded = await loadDefinitions(config, { zones: options.zones })
  const diagnostics: Diagnostic[] = [...loaded.diagnostics]
  const jobs = loaded.zones.flatMap((zone) => jobsOf(zone, options))
  if (options.target !== undefined) diagnostics.push(...checkTarget(options.target, config, loaded.zones, options.zones))
  const providers = new Map<string, Provider>()
  for (const target of new Set(jobs.flatMap((job) => [job.target, ...inventoryProviders(job)]))) {
    const entry = config.providers.get(target)
    if (!entry) continue
    const { parallelism, onThrottled } = options
    const made = await createProvider(entry, {
      secrets: { folder: config.folder, env: io.env, loaded: io.secrets },
      parallelism,
      onThrottled,
    })
    diagnostics.push(...made.diagnostics)
    if (made.provider) providers.set(target, made.provider)
  }
  return {
    jobs,
    providers,
    journal: config.journal,
    diagnostics,
    close: async () => {
      await Promise.all([...providers.values()].map((provider) => provider.close()))
    },
  }
}

/** The providers that addresses of the zone are asked of, beside its target. */
const inventoryProviders = ({ desired }: ZoneJob): string[] =>
  (desired.inventory ?? []).flatMap(({ query }) => (query.provider === null ? [] : [query.provider]))

/** Whether the target is there, and has the zones that were asked for, or any. */
function checkTarget(target: string, config: Config, zones: readonly LoadedZone[], asked: readonly string[]): Diagnostic[] {
  if (!config.providers.has(target)) return [unknownProvider(target, config.providers.keys(), undefined)]
  const elsewhere = zones.filter(({ targets }) => !targets.includes(target))
  if (asked.length > 0) {
    return elsewhere.map(({ zone, targets }) => ({
      severity: 'error',
      code: 'target-missing',
      message: `${zone.name} does not go to ${target}, but to ${targets.join(', ') || 'no target'}`,
      at: zone.at,
    }))
  }
  if (zones.length > elsewhere.length) return []
  return [{ severity: 'warning', code: 'target-missing', message: `no zone goes to ${target}` }]
}

function jobsOf({ zone, targets, policy, allow, thresholds, nameservers }: LoadedZone, options: WorkspaceOptions): WorkspaceJob[] {
  return targets
    .filter((target) => options.target === undefined || options.target === target)
    .map((target) => ({
      desired: zone,
      target,
      policy,
      thresholds,
      prefer: options.prefer,
      allow: new Set<RefusalName>([...allow, ...((options.allow ?? []) as RefusalName[])]),
      nameservers,
    }))
}
