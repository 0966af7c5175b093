/** The checks of `doctor` for a cloud provider: connection, user, token and its expiry, scopes, grants, and zones. */
import { listed } from '../../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { existingZones, MAX_LISTED } from '../examine-zones.ts'
import type { ResponseHead } from '../json-api.ts'
import { type ProviderCallOptions, ProviderError, type UnusableZone, type ZoneList, type ZoneReference } from '../provider.ts'
import type { ApiRequest } from '../send-request.ts'
import { type ApiGrants, type ApiProfile, type ApiToken, grantsShape, profileShape, tokenShape } from './api-responses.ts'
import type { CloudApi } from './cloud-api.ts'
import { judgeClock, judgeScopes, judgeToken } from './judge-token.ts'

/** Minimum characters of a token that identify it. Lists show the first 16. */
const MIN_PREFIX = 6

export interface Examined {
  readonly api: CloudApi
  /** The provider's address, for messages. */
  readonly address: string
  readonly token: string
  /** Whether there is a list of load balancers; otherwise they are found by tags. */
  readonly listsLoadBalancers: boolean
  readonly listZones: (call?: ProviderCallOptions) => Promise<ZoneList>
}

/** Checks connection, token, user and zones. `now` is the local time. Failures are findings; only bugs throw. */
export async function examineCloud(
  examined: Examined,
  usage: ProviderUsage,
  now: Date,
  call?: ProviderCallOptions,
): Promise<readonly DoctorFinding[]> {
  const { api, address, token } = examined
  const profile = await attempt(() => api.request({ method: 'GET', path: '/profile', what: 'reading the profile', ...call }, withHead))
  if (profile.failure) return [failed(profile.failure)]
  const { user, serverTime, headers } = profile.value as ReturnType<typeof withHead>
  const [tokens, grants, zones] = await Promise.all([
    attempt(() => api.list({ method: 'GET', path: '/profile/tokens', what: 'listing tokens', ...call }, tokenShape)),
    attempt(() => readGrants(api, user, call)),
    attempt(() => examined.listZones(call)),
  ])
  const found = zones.value ? new Map(zones.value.zones.map((zone) => [zone.name, zone])) : null
  const alike = tokensLike(tokens.value ?? [], token)
  const scopes = alike.length === 1 ? (alike[0] as ApiToken).scopes : (headers['x-oauth-scopes'] ?? null)
  return [
    { status: 'ok', check: 'connection', message: `${address} responds` },
    ...judgeClock(serverTime, now),
    { status: 'ok', check: 'user', message: `${user.username}, ${user.restricted ? 'restricted to what is granted' : 'unrestricted'}` },
    judgeToken(alike, tokens.failure ?? null, new Date(serverTime ?? now)),
    ...judgeScopes(scopes, usage, examined.listsLoadBalancers),
    ...(grants.failure ? [failed(grants.failure)] : judgeGrants(grants.value ?? null, usage, found)),
    ...judgeInventory(user, usage),
    ...(zones.failure ? [failed(zones.failure)] : judgeZones(usage, found ?? new Map())),
    ...judgeUnusable(zones.value?.unusable ?? []),
  ]
}

const withHead = (body: unknown, head: ResponseHead): ResponseHead & { readonly user: ApiProfile } => ({
  ...head,
  user: profileShape(body),
})

/** The listed tokens that may be this one. Lists show only the first characters of tokens. */
const tokensLike = (tokens: readonly ApiToken[], token: string): readonly ApiToken[] =>
  tokens.filter((one) => one.token.length >= MIN_PREFIX && token.startsWith(one.token))

interface Attempt<T> {
  readonly value?: T
  readonly failure?: ProviderError
}

async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await work() }
  } catch (error) {
    if (error instanceof ProviderError) return { failure: error }
    throw error
  }
}

const CHECK_BY_CODE: Readonly<Record<string, DoctorFinding['check']>> = {
  'provider-unauthorized': 'token',
  'provider-forbidden': 'scopes',
}

const failed = ({ code, message, hint }: ProviderError): DoctorFinding => ({
  status: 'error',
  check: CHECK_BY_CODE[code] ?? 'connection',
  message,
  hint,
})

/** The grants of a restricted user; null for an unrestricted one, who has none. */
async function readGrants(api: CloudApi, user: ApiProfile, call?: ProviderCallOptions): Promise<ApiGrants | null> {
  if (!user.restricted) return null
  const request: ApiRequest = { method: 'GET', path: '/profile/grants', what: 'reading the grants', ...call }
  return api.request(request, grantsShape)
}

const judgeZones = ({ zones }: ProviderUsage, found: ReadonlyMap<DomainName, ZoneReference>): DoctorFinding[] =>
  zones.length === 0 ? [] : [{ status: 'ok', check: 'zones', message: existingZones(zones, found) }]

/** A warning about domains that no definition can describe. */
function judgeUnusable(unusable: readonly UnusableZone[]): DoctorFinding[] {
  if (unusable.length === 0) return []
  const names = unusable.map(({ name, id, reason }) => `${JSON.stringify(name)} (number ${id}): ${reason}`)
  const hint = 'Zonewright does not read or change them'
  return [{ status: 'warning', check: 'zones', message: `no definition can describe ${listed(names, MAX_LISTED)}`, hint }]
}

/**
 * Whether a restricted user may change the zones. `grants` is null for an unrestricted user, `found` if the zones could not be listed. A zone without a
 * grant is not listed, so it looks like a missing one.
 */
function judgeGrants(
  grants: ApiGrants | null,
  { zones }: ProviderUsage,
  found: ReadonlyMap<DomainName, ZoneReference> | null,
): DoctorFinding[] {
  if (grants === null) return []
  const findings: DoctorFinding[] = []
  const writable = new Set(grants.domains.filter(({ permissions }) => permissions === 'read_write').map(({ id }) => id))
  const readOnly = zones.filter((name) => {
    const reference = found?.get(name)
    return reference !== undefined && !writable.has(Number(reference.id))
  })
  const missing = found === null ? [] : zones.filter((name) => !found.has(name))
  if (readOnly.length > 0) {
    const message = `the user may not change ${listed(readOnly, MAX_LISTED)}`
    findings.push({ status: 'error', check: 'grants', message, hint: 'grant read_write on the domain' })
  }
  if (missing.length > 0 && !grants.addDomains) {
    const message = `the user cannot see ${listed(missing, MAX_LISTED)} and may not create domains`
    const hint = 'grant the domain, or add_domains if it should be created'
    findings.push({ status: 'error', check: 'grants', message, hint })
  }
  if (findings.length === 0) findings.push({ status: 'ok', check: 'grants', message: 'every zone is granted' })
  return findings
}

/** A warning for restricted users: objects without a grant are missing from the inventory without any error. */
function judgeInventory({ restricted }: ApiProfile, { inventory }: ProviderUsage): DoctorFinding[] {
  if (!restricted || inventory.size === 0) return []
  const message = 'addresses come from inventory, and the user sees only granted objects: any other object is missing'
  return [{ status: 'warning', check: 'inventory', message, hint: 'use a token of an unrestricted user, or grant every object' }]
}
