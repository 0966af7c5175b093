/** Zones that a provider holds and no definition describes. */
import type { Diagnostic } from '../dns/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { type Provider, ProviderError } from '../providers/provider.ts'
import { agreeing, counted, listed } from '../report/english.ts'
import { deletesZones } from './removed-zones.ts'
import type { Workspace } from './run-context.ts'

/** Maximum zones that a message names. */
const MAX_NAMED = 10

interface UndescribedZones {
  readonly provider: Provider
  /** In the order of names. */
  readonly names: readonly DomainName[]
}

/** The zones of a provider without a definition; null if it cannot list its zones. */
export async function listUndescribedZones(
  provider: Provider,
  isDescribed: NonNullable<Workspace['isDescribed']>,
  signal?: AbortSignal,
): Promise<UndescribedZones | null> {
  try {
    const { zones } = await provider.listZones({ signal })
    const names = zones.map(({ name }) => name).filter((name) => !isDescribed(name, provider.name))
    return { provider, names: names.sort() }
  } catch (error) {
    if (error instanceof ProviderError) return null
    throw error
  }
}

/** What to report about such zones: one sentence, and what to do. */
export function describeUndescribed({ provider, names }: UndescribedZones): { readonly message: string; readonly hint: string } {
  const deletion = deletesZones(provider) ? 'deletes them after a definition with "absent: true"' : 'cannot delete them: do that there'
  return {
    message: `${counted(names.length, 'zone')} ${agreeing(names.length, 'has', 'have')} no definition: ${listed(names, MAX_NAMED)}`,
    hint: `"zonewright import provider ${provider.name} ZONE" writes a definition; a plan ${deletion}`,
  }
}

/** Such zones at the providers of a plan of all zones. The list is one more request, which a plan of a single zone at a provider does not make. */
export async function findUndescribed(
  { isDescribed, jobs, providers }: Pick<Workspace, 'isDescribed' | 'jobs' | 'providers'>,
  signal?: AbortSignal,
): Promise<readonly UndescribedZones[]> {
  if (isDescribed === undefined) return []
  const asked = [...providers.values()].filter(({ name }) => jobs.filter(({ target }) => target === name).length > 1)
  const found = await Promise.all(asked.map((provider) => listUndescribedZones(provider, isDescribed, signal)))
  return found.filter((one) => one !== null)
}

/** A notice per provider, without the zones that the plan deletes or names already. */
export function noticesOfUndescribed(
  found: readonly UndescribedZones[],
  { jobs }: Pick<Workspace, 'jobs'>,
  known: readonly Diagnostic[],
): Diagnostic[] {
  const named = known.filter(({ code }) => code === 'zone-removed').map(({ message }) => message)
  return found.flatMap(({ provider, names }): Diagnostic[] => {
    const deleted = new Set(jobs.flatMap(({ desired, target }) => (target === provider.name ? [desired.name] : [])))
    const rest = names.filter(
      (name) => !deleted.has(name) && !named.some((message) => message.startsWith(`${name} is at ${provider.name},`)),
    )
    if (rest.length === 0) return []
    const { message, hint } = describeUndescribed({ provider, names: rest })
    return [{ severity: 'notice', code: 'zone-undescribed', message: `${provider.name}: ${message}`, hint }]
  })
}
