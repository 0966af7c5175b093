/** What the scripted services share: how they refuse, count requests, check tokens, read bodies, cut lists into pages, and order and compare records. */
import type { ScriptedRequest, ScriptedResponse, ScriptedService } from './scripted-server.ts'

export type Fields = Readonly<Record<string, unknown>>
type Headers = Readonly<Record<string, string>>

/** Refuses a request with this answer. */
export class Refusal extends Error {
  readonly status: number
  readonly body: unknown
  readonly headers: Headers
  constructor(status: number, body: unknown, headers: Headers = {}) {
    super(JSON.stringify(body))
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** The answer to a request that is carried out. */
export interface Result {
  /** 200 if absent. */
  readonly status?: number
  readonly headers?: Headers
  /** None if undefined. */
  readonly body?: unknown
}

export interface Throttling {
  /** Requests that are answered before each refusal of the rate limit; by default none is refused. */
  readonly requestsPerPause?: number
}

export interface Dialect {
  readonly contentType?: string
  /** JSON if absent. */
  readonly print?: (body: unknown) => string
  /** The refusal of the rate limit. */
  readonly throttled: Refusal
  /** Answers what needs neither a token nor the rate limit, such as a sign-in; null for all other requests. */
  readonly before?: (request: ScriptedRequest) => ScriptedResponse | null
  /** Headers of all answers. */
  readonly headers?: (request: ScriptedRequest) => Headers
  readonly answer: (request: ScriptedRequest) => Result
}

/** A service that answers in one dialect. */
export function scriptedService({ requestsPerPause = Number.POSITIVE_INFINITY }: Throttling, dialect: Dialect): ScriptedService {
  const { contentType = 'application/json', print = JSON.stringify, throttled, before, headers, answer } = dialect
  let sinceRefusal = 0
  const resultOf = (request: ScriptedRequest): Result => {
    try {
      sinceRefusal += 1
      if (sinceRefusal > requestsPerPause) {
        sinceRefusal = 0
        throw throttled
      }
      return answer(request)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return error
    }
  }
  return (request) => {
    const early = before?.(request) ?? null
    if (early !== null) return early
    const common = headers?.(request)
    const { status = 200, headers: own, body } = resultOf(request)
    const type = body === undefined ? {} : { 'content-type': contentType }
    return { status, headers: { ...type, ...common, ...own }, body: body === undefined ? '' : print(body) }
  }
}

/** A response with JSON, for answers outside of a dialect. */
export const jsonResponse = (status: number, body: unknown): ScriptedResponse => {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(body) }
}

/** Refuses a request without the token. With `readOnly`, the token with `-readonly` at its end may read. */
export function checkToken({ method, headers }: ScriptedRequest, token: string, refused: Refusal, readOnly?: Refusal): void {
  const given = headers['authorization']
  const isReadOnly = readOnly !== undefined && given === `Bearer ${token}-readonly`
  if (given !== `Bearer ${token}` && !isReadOnly) throw refused
  if (isReadOnly && method !== 'GET') throw readOnly
}

/** The access tokens of a service with a sign-in. */
export function createTokens(first: string) {
  const tokens = new Set([first])
  return {
    issue(): string {
      const token = `issued-token-${tokens.size}-${'x'.repeat(20)}`
      tokens.add(token)
      return token
    },
    accepts: (authorization: string | undefined): boolean =>
      authorization?.startsWith('Bearer ') === true && tokens.has(authorization.slice('Bearer '.length)),
  }
}

/** The value in a body. */
export function jsonOf(body: string, refused: Refusal): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw refused
  }
}

/** The object in a body. */
export function fieldsOf(body: string, refused: Refusal): Fields {
  const fields = jsonOf(body, refused)
  if (typeof fields === 'object' && fields !== null) return fields as Fields
  throw refused
}

export interface PageRules {
  /** The parameter with the items of a page. */
  readonly size: string
  readonly usual: number
  readonly most: number
  /** Whether a larger page is refused, and not cut. */
  readonly refusesMore?: boolean
  readonly refuse: (parameter: string) => Refusal
}

/** The page of a list that a request asks for. Pages count from 1. */
export function pageOf<T>(items: readonly T[], query: URLSearchParams, { size, usual, most, refusesMore = false, refuse }: PageRules) {
  const numberOf = (parameter: string, standard: number): number => {
    const value = Number(query.get(parameter) ?? standard)
    if (Number.isInteger(value) && value >= 1 && !(refusesMore && parameter === size && value > most)) return value
    throw refuse(parameter)
  }
  const [page, perPage] = [numberOf('page', 1), Math.min(numberOf(size, usual), most)]
  return { page, perPage, last: Math.max(1, Math.ceil(items.length / perPage)), items: items.slice((page - 1) * perPage, page * perPage) }
}

/** Whether each of these fields has the value, or one of the values, that the query asks for. */
export const isAsked = (query: URLSearchParams, fields: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(fields).every(([key, value]) => !query.has(key) || query.getAll(key).some((one) => one === value))

type Owned = { readonly name: string; readonly type: string }

/** Another record at the name of a record, if one of both is a CNAME. `isAlone`: nor may a second CNAME be there. */
export function besideCname<T extends Owned>({ name, type }: Owned, others: Iterable<T>, isAlone = false): T | undefined {
  for (const other of others)
    if (other.name === name && (isAlone || other.type !== type) && (type === 'CNAME' || other.type === 'CNAME')) return other
  return undefined
}

export const isApexFrame = ({ name, type }: Owned, apex: string): boolean => name === apex && (type === 'NS' || type === 'SOA')
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The labels of a name from the last to the first, as a text that sorts. */
export const fromRoot = (name: string): string => name.split('.').reverse().join('\0')

export const isWholeNumber = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most

/** A name that can be created as a zone, without the final dot. */
export const isDomainName = (name: unknown): name is string =>
  typeof name === 'string' && /^(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}$/.test(name)

export const secondsOf = (time = new Date()): string => `${time.toISOString().slice(0, 19)}Z`

/** Times in ISO 8601 with milliseconds, each later than the last. */
export function risingMilliseconds(): () => string {
  let last = 0
  return () => {
    last = Math.max(last + 1, Date.now())
    return new Date(last).toISOString()
  }
}

/** Times in ISO 8601 with microseconds, each later than the last. */
export function risingClock(): () => string {
  let last = 0
  return () => {
    last = Math.max(last + 1, Date.now() * 1000)
    return `${new Date(Math.floor(last / 1000)).toISOString().slice(0, 19)}.${String(last % 1_000_000).padStart(6, '0')}Z`
  }
}

/** The fields of rdata by type. */
const RDATA: Readonly<Record<string, string>> = {
  ALIAS: 'host',
  CAA: 'number word string',
  CNAME: 'host',
  DS: 'number number number hex',
  HTTPS: 'number host params',
  MX: 'number host',
  NAPTR: 'number number string string string host',
  NS: 'host',
  PTR: 'host',
  SOA: 'host host seconds seconds seconds seconds seconds',
  SPF: 'texts',
  SRV: 'number number number host',
  SSHFP: 'number number hex',
  SVCB: 'number host params',
  TLSA: 'number number number hex',
  TXT: 'texts',
}

/** The forms of rdata that a service accepts, from its patterns of fields. `params`, which may be absent, begins with its space. */
export const rdataForms = (types: string, fields: Readonly<Record<string, string>>): Readonly<Record<string, RegExp>> =>
  Object.fromEntries(
    types.split(' ').map((type) => {
      const patterns = (RDATA[type] ?? '').split(' ').map((field) => fields[field] ?? '')
      return [type, new RegExp(`^${patterns.join(' ').replaceAll(` ${fields['params']}`, fields['params'] ?? '')}$`)]
    }),
  )
