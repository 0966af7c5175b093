/** The checks of `doctor`: what those of all providers share, and those of services with a token. */
import { counted, listed } from '../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../dns/doctor-finding.ts'
import { type Provider, type ProviderCallOptions, ProviderError } from './provider.ts'

/** Maximum names in one finding. */
export const MAX_LISTED = 5

type Check = DoctorFinding['check']

/** The check that an error of a service with a token belongs to. */
const tokenCheck = (code: string): Check => (code === 'provider-unauthorized' || code === 'provider-forbidden' ? 'token' : 'connection')

/** Collects the findings of an examination. */
export function createFindings() {
  const findings: DoctorFinding[] = []
  const add = (status: DoctorFinding['status'], check: Check, message: string, hint?: string): void =>
    void findings.push({ status, check, message, hint })
  /** Does a part of the examination. Its failure is a finding of the check that the code of the error belongs to; only bugs throw. */
  const attempt = async (work: () => Promise<void>, checkOf: (code: string) => Check = tokenCheck): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      add('error', checkOf(error.code), error.message, error.hint)
    }
  }
  return { findings, add, attempt }
}

/** How many of the zones exist, and which of them an apply creates. */
export function existingZones(zones: readonly string[], found: ReadonlyMap<string, unknown>): string {
  const missing = zones.filter((zone) => !found.has(zone))
  const message = `${zones.length - missing.length} of ${counted(zones.length, 'zone exists', 'zones exist')}`
  return missing.length === 0 ? message : `${message}; an apply would create ${listed(missing, MAX_LISTED)}`
}

export interface ExaminedService {
  readonly service: string
  /** Advice about zones that the token may not read, and that an apply creates if the provider can. */
  readonly missing?: string | undefined
}

/** The connection, the token, and which zones it may read. Nothing shows whether it may change them. */
export async function examineZones(
  provider: Provider,
  usage: ProviderUsage,
  { service, missing: advice }: ExaminedService,
  call?: ProviderCallOptions,
): Promise<DoctorFinding[]> {
  const { findings, add, attempt } = createFindings()
  await attempt(async () => {
    const found = await provider.findZones(usage.zones, call)
    if (usage.zones.length === 0) await provider.listZones(call)
    add('ok', 'connection', `${provider.address} responds`)
    add('ok', 'token', `${service} accepts the token`)
    const missing = usage.zones.filter((zone) => !found.has(zone))
    const message = `the token may read ${found.size} of ${counted(usage.zones.length, 'zone')}`
    if (missing.length > 0 && provider.capabilities.createsZones)
      add('ok', 'zones', `${message}; an apply would create ${listed(missing, MAX_LISTED)}`, advice)
    else if (missing.length > 0) add('error', 'zones', `${message}: not ${listed(missing, MAX_LISTED)}`, advice)
    else if (usage.zones.length > 0) add('ok', 'zones', message)
    const [zone] = found.values()
    if (zone !== undefined) await provider.readZone(zone, call)
  })
  return findings
}
