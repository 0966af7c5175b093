/** Judges a token: its expiry, and its scopes compared with those that each command needs. */
import { counted } from '../../base/english.ts'
import type { DoctorFinding, ProviderUsage, TokenCommand } from '../../dns/doctor-finding.ts'
import type { ProviderError } from '../provider.ts'
import type { ApiToken } from './api-responses.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A token that expires within this many days gets a warning. */
const WARN_DAYS = 14

/** Maximum difference of the clocks, in milliseconds, without a warning. */
const CLOCK_TOLERANCE = 60_000

/** A token that expires after this date never expires: the service writes the year 2999. */
const NEVER = Date.UTC(2900, 0)

/** A warning if the server's clock and the local one differ. */
export function judgeClock(serverTime: number | null, now: Date): DoctorFinding[] {
  const difference = serverTime === null ? 0 : Math.abs(serverTime - now.getTime())
  if (difference <= CLOCK_TOLERANCE) return []
  const message = `the server's clock and the local one differ by ${Math.round(difference / 1000)} s`
  return [{ status: 'warning', check: 'clock', message, hint: 'times in reports may be wrong; set the local clock' }]
}

/** Checks when the token expires. `alike` are the listed tokens that may be this one; `failure` says why there is no list. */
export function judgeToken(alike: readonly ApiToken[], failure: ProviderError | null, now: Date): DoctorFinding {
  const [own, ...others] = alike
  if (failure !== null) return unknownExpiry(failure)
  if (own === undefined || others.length > 0) {
    const why =
      own === undefined
        ? "it is not one of the user's personal access tokens"
        : `${alike.length} tokens of the user begin with the same characters`
    return { status: 'warning', check: 'token', message: `the expiry of the token is unknown: ${why}` }
  }
  const name = `the token ${JSON.stringify(own.label)}`
  const expiry = own.expiry === null ? Number.POSITIVE_INFINITY : Date.parse(`${own.expiry.replace(/Z$/, '')}Z`)
  if (Number.isNaN(expiry)) return { status: 'warning', check: 'token', message: `${name} expires at ${own.expiry}` }
  if (expiry >= NEVER) return { status: 'ok', check: 'token', message: `${name} does not expire` }
  const days = Math.floor((expiry - now.getTime()) / DAY)
  const message = `${name} expires on ${own.expiry} UTC, in ${days < 2 ? counted(Math.max(0, Math.floor((expiry - now.getTime()) / HOUR)), 'hour') : counted(days, 'day')}`
  if (days >= WARN_DAYS) return { status: 'ok', check: 'token', message }
  return { status: 'warning', check: 'token', message, hint: 'create a new one in time: tokens cannot be renewed' }
}

function unknownExpiry({ code, message }: ProviderError): DoctorFinding {
  const lacksScope = code === 'provider-unauthorized' || code === 'provider-forbidden'
  const why = lacksScope ? 'it may not list tokens' : message
  const hint = lacksScope ? 'a token with account:read_only can read it' : undefined
  return { status: 'warning', check: 'token', message: `the expiry of the token is unknown: ${why}`, hint }
}

/** The names of scope families at known instances of the API. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = { instances: ['instances', 'linodes'] }

interface Need {
  readonly family: string
  readonly access: 'read_only' | 'read_write'
  readonly what: string
}

/** The access to zones that each command needs. Regions and name servers need no scope. */
const ACCESS_TO_ZONES = { plan: 'read_only', verify: 'read_only', apply: 'read_write' } as const

/** The scopes that a command needs. */
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

/** Reports missing scopes, and for each command the scopes that it does not need. `scopes` is like `domains:read_write account:read_only`, or `*`; null if unknown. */
export function judgeScopes(scopes: string | null, usage: ProviderUsage, listsLoadBalancers: boolean): DoctorFinding[] {
  if (scopes === null || scopes === 'unknown')
    return [{ status: 'warning', check: 'scopes', message: 'the scopes of the token are unknown' }]
  const given = [...new Set(scopes.split(/[ ,]+/).filter((scope) => scope !== ''))].sort()
  const lacking = needsOf('apply', usage, listsLoadBalancers).filter((need) => !given.some((scope) => reaches(scope, need)))
  const enough: DoctorFinding = { status: 'ok', check: 'scopes', message: `the token has ${scopes === '*' ? 'all scopes' : scopes}` }
  return [
    ...(lacking.length === 0 ? [enough] : lacking.map((need) => lacks(scopes, need))),
    ...COMMANDS.map((command) => judgeExcess(command, given, needsOf(command, usage, listsLoadBalancers))),
  ]
}

const COMMANDS = Object.keys(ACCESS_TO_ZONES) as readonly TokenCommand[]

const lacks = (scopes: string, { family, access, what }: Need): DoctorFinding => ({
  status: 'error',
  check: 'scopes',
  message: `the token has ${scopes || 'no scopes'}; ${what} needs ${family}:${access}`,
  hint: 'the scopes of a token cannot change: create a new one',
})

/** Scopes that no command needs and that get no warning: `doctor` uses them to read the expiry of the token. */
const HARMLESS: ReadonlySet<string> = new Set(['account:read_only'])

/** Reports the scopes that a command does not need: as a warning only for `apply`, which needs more than the others. */
function judgeExcess(command: TokenCommand, given: readonly string[], needs: readonly Need[]): DoctorFinding {
  const excess = given.filter((scope) => !needs.some((need) => covers(need, scope)))
  const needed = needs.map(({ family, access }) => `${family}:${access}`)
  const beyond = excess.includes('*') ? 'all other scopes' : excess.join(' ') || 'no other scope'
  const isTooMuch = command === 'apply' && excess.some((scope) => !HARMLESS.has(scope))
  return {
    status: isTooMuch ? 'warning' : 'ok',
    check: 'scopes',
    message: `${command} needs ${needed.join(' ') || 'no scope'}; beyond that the token has ${beyond}`,
    ...(isTooMuch && { hint: `they are a risk if the token is stolen: create a token with only ${needed.join(' ') || 'no scope'}` }),
    scopes: { command, needed, excess },
  }
}

const familiesOf = (family: string): readonly string[] => FAMILIES[family] ?? [family]

function reaches(scope: string, { family, access }: Need): boolean {
  const [name = '', given] = scope.split(':')
  return scope === '*' || (familiesOf(family).includes(name) && (given === access || given === 'read_write'))
}

/** Whether the need covers everything that the scope allows. */
const covers = ({ family, access }: Need, scope: string): boolean =>
  familiesOf(family).some((name) => scope === `${name}:${access}` || scope === `${name}:read_only`)
