/** `zonewright/testing`: a provider in memory, and the suite that every provider must pass, as functions for any test runner. */
import { type Diagnostic, isError } from '../base/diagnostic.ts'
import { noSecrets } from '../base/secret-guard.ts'
import type { ProviderConfig } from '../config/config.ts'
import { CONFORMANCE_SUITE, runConformance } from '../conformance/run-conformance.ts'
import { parseAbsoluteName } from '../dns/domain-name.ts'
import type { ZoneSettings } from '../dns/zone.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import { createMemory, type InMemoryProvider, type MemoryOptions } from '../providers/memory/memory-provider.ts'
import { capabilitiesOfType, createProvider, type ProviderValue, typesOfValues, useGivenTypes } from '../providers/registry.ts'

export type { FaultChoice, InMemoryProvider, MemoryFault, MemoryRequest } from '../providers/memory/memory-provider.ts'

/** What a provider in memory is like. */
export interface InMemoryOptions extends Omit<MemoryOptions, 'capabilities'> {
  /** The type of provider whose capabilities it has, such as `cloudflare`. */
  readonly type: string
  /** Other capabilities than those of the type. */
  readonly capabilities?: Partial<Capabilities> | undefined
}

/** Creates a provider in memory. It stores and refuses what a service of that type does. */
export const inMemoryProvider = ({ type, capabilities, ...options }: InMemoryOptions): InMemoryProvider =>
  createMemory({ ...options, capabilities: { ...capabilitiesOfType(type), ...capabilities } })

/** A provider to test, with a zone. Every record of the zone is deleted. */
export interface ConformanceOptions {
  readonly provider: ProviderValue
  /** The name of the zone. */
  readonly zone: string
  /** The settings of a new zone that the provider needs. */
  readonly zoneSettings?: ZoneSettings | undefined
  /** The settings of the provider as in the config. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined
  /** The environment variables that its secrets come from, and that limit the hosts; those of the process if absent. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** The folder that the settings are relative to; that of the process if absent. */
  readonly cwd?: string | undefined
  /** Only the groups with these names; all of `conformanceGroups` if absent. */
  readonly groups?: readonly string[] | undefined
  /** Steps with more records are left out. */
  readonly maxSize?: number | undefined
}

/** The result of a step. */
export interface ConformanceStep {
  readonly group: string
  readonly step: string
  readonly state: 'passed' | 'failed' | 'skipped'
  /** Why the step failed or was skipped; null if it passed. */
  readonly reason: string | null
}

/** The names of the groups of the suite, in their order. */
export const conformanceGroups: readonly string[] = CONFORMANCE_SUITE.map(({ name }) => name)

/** Runs the suite and yields the result of each step as it ends. Throws if the provider cannot be created, or fails where no step expects it. */
export async function* conformance(options: ConformanceOptions): AsyncGenerator<ConformanceStep> {
  const { zone, zoneSettings, settings = {}, env = process.env, cwd: folder = process.cwd(), groups, maxSize } = options
  const name = parseAbsoluteName(`${zone.replace(/\.$/, '')}.`)
  if (!name.ok) throw new Error(`${zone} is not a domain name: ${name.message}`)
  const at = { file: 'conformance', line: 1, column: 1 }
  const entry: ProviderConfig = { name: 'provider', type: 'npm:provider', settings, at, placeOf: () => at }
  const { types, diagnostics } = await typesOfValues({ provider: options.provider })
  throwFirst([...diagnostics, ...useGivenTypes(new Map([[entry.name, entry]]), types)])
  const created = await createProvider(entry, { secrets: { folder, env, loaded: noSecrets() } })
  const { provider } = created
  if (provider === null) return throwFirst(created.diagnostics)
  try {
    const only = groups && new Set(groups)
    const suite = CONFORMANCE_SUITE.filter((one) => only?.has(one.name) ?? true)
    for await (const { group, step, state, reason } of runConformance(
      { provider, zone: name.value, settings: zoneSettings },
      { suite, maxSize },
    ))
      yield { group: group.name, step, state, reason }
  } finally {
    await provider.close()
  }
}

function throwFirst(diagnostics: readonly Diagnostic[]): void {
  const error = diagnostics.find(isError)
  if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code })
}
