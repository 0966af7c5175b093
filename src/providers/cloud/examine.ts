/** Whether a token can do what a config asks of it, and for how long: told from the user's own profile, grants and tokens. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { Finding, ProviderUsage } from '../../dns/finding.ts'
import { type ProviderCallOptions, ProviderError, type UnnamedZone, type ZoneList, type ZoneReference } from '../provider.ts'
import type { Answer, ApiRequest } from './api-request.ts'
import { type ApiGrants, type ApiProfile, type ApiToken, grantsShape, profileShape, tokenShape } from './api-shapes.ts'
import type { CloudApi } from './cloud-api.ts'
import { judgeGrants, judgeInventory } from './judge-grants.ts'
import { judgeClock, judgeScopes, judgeToken } from './judge-token.ts'
import { listed } from './listed.ts'

/** Characters of a token, at the least, that tell it from others; lists show the first 16 (interface, Personal access token). */
const FEWEST = 6

export interface Examined {
  readonly api: CloudApi
  /** The provider's address, for messages. */
  readonly address: string
  readonly token: string
  /** Whether load balancers have a list of their own; else they are found by tags. */
  readonly listsLoadBalancers: boolean
  readonly listZones: (call?: ProviderCallOptions) => Promise<ZoneList>
}

/** Looks at connection, token, user and zones. `now` is the local time. Failures are findings; throws only on bugs. */
export async function examineCloud(
  examined: Examined,
  wants: ProviderUsage,
  now: Date,
  call?: ProviderCallOptions,
): Promise<readonly Finding[]> {
  const { api, address, token } = examined
  const profile = await attempt(() => api.request({ method: 'GET', path: '/profile', what: 'reading the profile', ...call }, profileShape))
  if (profile.failure) return [failed(profile.failure)]
  const { value: user, serverTime, grantedScopes } = profile.value as Answer<ApiProfile>
  const [tokens, grants, zones] = await Promise.all([
    attempt(() => api.list({ method: 'GET', path: '/profile/tokens', what: 'listing tokens', ...call }, tokenShape)),
    attempt(() => readGrants(api, user, call)),
    attempt(() => examined.listZones(call)),
  ])
  const found = zones.value ? new Map(zones.value.zones.map((zone) => [zone.name, zone])) : null
  const alike = entriesLike(tokens.value?.value ?? [], token)
  const scopes = alike.length === 1 ? (alike[0] as ApiToken).scopes : grantedScopes
  return [
    { status: 'ok', check: 'connection', message: `${address} answers` },
    ...judgeClock(serverTime, now),
    { status: 'ok', check: 'user', message: `${user.username}, ${user.restricted ? 'restricted to what is granted' : 'unrestricted'}` },
    judgeToken(alike, tokens.failure ?? null, new Date(serverTime ?? now)),
    ...judgeScopes(scopes, wants, examined.listsLoadBalancers),
    ...(grants.failure ? [failed(grants.failure)] : judgeGrants(grants.value ?? null, wants, found)),
    ...judgeInventory(user, wants),
    ...(zones.failure ? [failed(zones.failure)] : judgeZones(wants, found ?? new Map())),
    ...judgeUnnamed(zones.value?.unnamed ?? []),
  ]
}

/** The entries that may be the token's own, in a list that shows the beginnings of tokens. */
const entriesLike = (tokens: readonly ApiToken[], token: string): readonly ApiToken[] =>
  tokens.filter((one) => one.token.length >= FEWEST && token.startsWith(one.token))

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

const CHECK_OF_CODE: Readonly<Record<string, Finding['check']>> = {
  'provider-unauthorized': 'token',
  'provider-forbidden': 'scopes',
}

const failed = ({ code, message, hint }: ProviderError): Finding => ({
  status: 'error',
  check: CHECK_OF_CODE[code] ?? 'connection',
  message,
  hint,
})

/** The grants of a restricted user; null for one who may do everything, for whom the interface has none. */
async function readGrants(api: CloudApi, user: ApiProfile, call?: ProviderCallOptions): Promise<ApiGrants | null> {
  if (!user.restricted) return null
  const request: ApiRequest = { method: 'GET', path: '/profile/grants', what: 'reading the grants', ...call }
  return (await api.request(request, grantsShape)).value
}

function judgeZones({ zones }: ProviderUsage, found: ReadonlyMap<DomainName, ZoneReference>): Finding[] {
  if (zones.length === 0) return []
  const missing = zones.filter((name) => !found.has(name))
  const message = `${zones.length - missing.length} of ${zones.length} ${zones.length === 1 ? 'zone is' : 'zones are'} there`
  return [
    { status: 'ok', check: 'zones', message: missing.length === 0 ? message : `${message}; an apply would create ${listed(missing)}` },
  ]
}

/** Domains that no definition can be of. */
function judgeUnnamed(unnamed: readonly UnnamedZone[]): Finding[] {
  if (unnamed.length === 0) return []
  const names = unnamed.map(({ name, id, because }) => `${JSON.stringify(name)} (number ${id}): ${because}`)
  const hint = 'nothing here reads or changes them'
  return [{ status: 'warning', check: 'zones', message: `no definition can be of ${listed(names)}`, hint }]
}
