import type { Finding, ProviderUsage, TokenCommand } from '../../dns/finding.ts'
import { counted } from '../../report/english.ts'
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
  const message = `${name} expires on ${own.expiry} UTC, in ${days < 2 ? counted(Math.max(0, Math.floor((expiry - now.getTime()) / HOUR)), 'hour') : counted(days, 'day')}`
  if (days >= WARN_DAYS) return { status: 'ok', check: 'token', message }
  return { status: 'warning', check: 'token', message, hint: 'make a new one before: tokens cannot be renewed' }
}

function unknownEnd({ code, message }: ProviderError): Finding {
  const lacksScope = code === 'provider-unauthorized' || code === 'provider-forbidden'
  const why = lacksScope ? 'it may not list tokens' : message
  const hint = lacksScope ? 'a token with account:read_only tells it' : undefined
  return { status: 'warning', check: 'token', message: `when the token expires cannot be told: ${why}`, hint }
}

/** Other names that instances of the interface have for its families of scopes. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = { instances: ['instances', 'linodes'] }

interface Need {
  readonly family: string
  readonly access: 'read_only' | 'read_write'
  readonly what: string
}

/** What each command does with zones. `verify` reads what `plan` reads; regions and name servers need no scope. */
const ACCESS_TO_ZONES = { plan: 'read_only', verify: 'read_only', apply: 'read_write' } as const

/** The scopes that a command needs for these zones and inventories. */
function needsOf(command: TokenCommand, { zones, inventory }: ProviderUsage, listsLoadBalancers: boolean): readonly Need[] {
  const needs: Need[] = []
  if (zones.length > 0) needs.push({ family: 'domains', access: ACCESS_TO_ZONES[command], what: 'changing zones' })
  if (inventory.has('instances')) needs.push({ family: 'instances', access: 'read_only', what: 'reading the addresses of instances' })
  if (inventory.has('loadbalancers')) {
    const family = listsLoadBalancers ? 'nodebalancers' : 'account'
    needs.push({ family, access: 'read_only', what: 'reading the addresses of load balancers' })
  }
  return needs
}

/**
 * Whether scopes (`domains:read_write account:read_only`, or `*`) are enough for what is wanted, and which of them each command does not need.
 * Scopes are null if they are not known.
 */
export function judgeScopes(scopes: string | null, wants: ProviderUsage, listsLoadBalancers: boolean): Finding[] {
  if (scopes === null || scopes === 'unknown')
    return [{ status: 'warning', check: 'scopes', message: 'what the token is good for cannot be told' }]
  const given = [...new Set(scopes.split(/[ ,]+/).filter((scope) => scope !== ''))].sort()
  const lacking = needsOf('apply', wants, listsLoadBalancers).filter((need) => !given.some((scope) => reaches(scope, need)))
  const enough: Finding = { status: 'ok', check: 'scopes', message: `the token has ${scopes === '*' ? 'all scopes' : scopes}` }
  return [
    ...(lacking.length === 0 ? [enough] : lacking.map((need) => lacks(scopes, need))),
    ...COMMANDS.map((command) => judgeExcess(command, given, needsOf(command, wants, listsLoadBalancers))),
  ]
}

const COMMANDS = Object.keys(ACCESS_TO_ZONES) as readonly TokenCommand[]

const lacks = (scopes: string, { family, access, what }: Need): Finding => ({
  status: 'error',
  check: 'scopes',
  message: `the token has ${scopes || 'no scopes'}; ${what} needs ${family}:${access}`,
  hint: 'scopes of a token cannot be changed: make a new one',
})

/** Scopes that no command needs and that are no reason for a warning: with them `doctor` reads when the token expires. */
const HARMLESS: ReadonlySet<string> = new Set(['account:read_only'])

/** The scopes beyond the ones a command needs: a warning if `apply`, which needs the most, does not need them either. */
function judgeExcess(command: TokenCommand, given: readonly string[], needs: readonly Need[]): Finding {
  const excess = given.filter((scope) => !needs.some((need) => covers(need, scope)))
  const needed = needs.map(({ family, access }) => `${family}:${access}`)
  const beyond = excess.includes('*') ? 'all other scopes' : excess.join(' ') || 'no other scope'
  const isTooMuch = command === 'apply' && excess.some((scope) => !HARMLESS.has(scope))
  return {
    status: isTooMuch ? 'warning' : 'ok',
    check: 'scopes',
    message: `${command} needs ${needed.join(' ') || 'no scope'}; beyond that the token has ${beyond}`,
    ...(isTooMuch && { hint: `whoever gets hold of the token can use them: make one with ${needed.join(' ') || 'no scope'} only` }),
    scopes: { command, needed, excess },
  }
}

const familiesOf = (family: string): readonly string[] => FAMILIES[family] ?? [family]

function reaches(scope: string, { family, access }: Need): boolean {
  const [name = '', given] = scope.split(':')
  return scope === '*' || (familiesOf(family).includes(name) && (given === access || given === 'read_write'))
}

/** Whether the need is for all that the scope allows. */
const covers = ({ family, access }: Need, scope: string): boolean =>
  familiesOf(family).some((name) => scope === `${name}:${access}` || scope === `${name}:read_only`)
