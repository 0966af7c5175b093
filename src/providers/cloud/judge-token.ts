import type { Finding, Wants } from '../../model/finding.ts'
import type { ProviderError } from '../provider.ts'
import type { ApiToken } from './api-shapes.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Days before its end from which on a token is warned of. */
const WARN_DAYS = 14

/** Milliseconds by which clocks may differ. */
const CLOCK_TOLERANCE = 60_000

/** From this year on an end stands for none: the service writes 2999. */
const NEVER = Date.UTC(2900, 0)

/** Whether the clock of the server agrees with the local one. */
export function judgeClock(serverTime: number | null, now: Date): Finding[] {
  const difference = serverTime === null ? 0 : Math.abs(serverTime - now.getTime())
  if (difference <= CLOCK_TOLERANCE) return []
  const message = `the clock of the server and the one here differ by ${Math.round(difference / 1000)} s`
  return [{ status: 'warning', check: 'clock', message, hint: 'what a run says about times may be off; set the clock here' }]
}

/** How long the token lives; `alike` are the entries in the user's list of tokens that may be its own, `failure` why there is no list. */
export function judgeToken(alike: readonly ApiToken[], failure: ProviderError | null, now: Date): Finding {
  const [own, ...others] = alike
  if (failure !== null) return unknownEnd(failure)
  if (own === undefined || others.length > 0) {
    const why =
      own === undefined ? "it is not one of the user's personal access tokens" : `${alike.length} tokens of the user begin as it does`
    return { status: 'warning', check: 'token', message: `when the token expires cannot be told: ${why}` }
  }
  const name = `the token ${JSON.stringify(own.label)}`
  const expiry = own.expiry === null ? Number.POSITIVE_INFINITY : Date.parse(`${own.expiry.replace(/Z$/, '')}Z`)
  if (Number.isNaN(expiry)) return { status: 'warning', check: 'token', message: `${name} expires at ${own.expiry}` }
  if (expiry >= NEVER) return { status: 'ok', check: 'token', message: `${name} does not expire` }
  const days = Math.floor((expiry - now.getTime()) / DAY)
  const message = `${name} expires on ${own.expiry} UTC, in ${days < 2 ? counted((expiry - now.getTime()) / HOUR, 'hour') : counted(days, 'day')}`
  if (days >= WARN_DAYS) return { status: 'ok', check: 'token', message }
  return { status: 'warning', check: 'token', message, hint: 'make a new one before: tokens cannot be renewed' }
}

function unknownEnd({ code, message }: ProviderError): Finding {
  const lacksScope = code === 'provider-unauthorized' || code === 'provider-forbidden'
  const why = lacksScope ? 'it may not list tokens' : message
  const hint = lacksScope ? 'a token with account:read_only tells it' : undefined
  return { status: 'warning', check: 'token', message: `when the token expires cannot be told: ${why}`, hint }
}

const counted = (count: number, word: string): string => {
  const whole = Math.max(0, Math.floor(count))
  return `${whole} ${word}${whole === 1 ? '' : 's'}`
}

/** Other names that instances of the interface have for its families of scopes. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = { instances: ['instances', 'linodes'] }

/** Whether scopes (`domains:read_write account:read_only`, or `*`) reach for what is wanted; null where they are not known. */
export function judgeScopes(scopes: string | null, { zones, inventory }: Wants, listsLoadBalancers: boolean): Finding[] {
  if (scopes === null || scopes === 'unknown')
    return [{ status: 'warning', check: 'scopes', message: 'what the token is good for cannot be told' }]
  const needs: { readonly family: string; readonly access: 'read_only' | 'read_write'; readonly what: string }[] = []
  if (zones.length > 0) needs.push({ family: 'domains', access: 'read_write', what: 'changing zones' })
  if (inventory.has('instances')) needs.push({ family: 'instances', access: 'read_only', what: 'reading the addresses of instances' })
  if (inventory.has('loadbalancers')) {
    const family = listsLoadBalancers ? 'nodebalancers' : 'account'
    needs.push({ family, access: 'read_only', what: 'reading the addresses of load balancers' })
  }
  const lacking = needs.filter(({ family, access }) => !reaches(scopes, family, access))
  if (lacking.length === 0) return [{ status: 'ok', check: 'scopes', message: `the token has ${scopes === '*' ? 'all scopes' : scopes}` }]
  return lacking.map(({ family, access, what }) => ({
    status: 'error',
    check: 'scopes',
    message: `the token has ${scopes || 'no scopes'}; ${what} needs ${family}:${access}`,
    hint: 'scopes of a token cannot be changed: make a new one',
  }))
}

function reaches(scopes: string, family: string, access: 'read_only' | 'read_write'): boolean {
  const names = FAMILIES[family] ?? [family]
  return scopes.split(/[ ,]+/).some((scope) => {
    const [name = '', given] = scope.split(':')
    return scope === '*' || (names.includes(name) && (given === access || given === 'read_write'))
  })
}
