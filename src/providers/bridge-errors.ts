/** Failures of a child process, and of the Python code that it runs, as `ProviderError`s. */
import { oneLine } from '../base/diagnostic.ts'
import type { DiagnosticCode } from '../base/diagnostic-codes.ts'
import { excerpt } from '../base/text.ts'
import type { Message, ProcessError } from './bridge-process.ts'
import { ProviderError } from './provider.ts'

/** Characters of an exception, and of the body of a response, in a message. */
const SHOWN = 400

export const textOf = (value: unknown, length = SHOWN): string => (typeof value === 'string' ? excerpt(oneLine(value), length) : '')

export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.map((one) => textOf(one, 200)).filter((one) => one !== '') : []

/** The error of a child that did not respond. `what` names the request and the code for messages, such as `lab: reading example.com.: package.Class` */
export function errorOfProcess(what: string, { problem, message }: ProcessError, changes: boolean, timeoutHint: string): ProviderError {
  const text = `${what} ${message}`
  if (problem === 'stopped') return new ProviderError('provider-stopped', text, { ambiguous: changes, mayCompleteLater: changes })
  const code = problem === 'silent' ? 'provider-timeout' : problem === 'garbled' ? 'provider-garbled' : 'provider-failed'
  // What the process sent before it ended may still be carried out.
  return new ProviderError(code, text, {
    ambiguous: changes,
    mayCompleteLater: changes,
    hint: problem === 'silent' ? timeoutHint : undefined,
  })
}

/** The error of a request that raised an exception. `logs` has what was logged as an error meanwhile. */
export function errorOfException(what: string, error: Message, logs: readonly string[]): ProviderError {
  const type = textOf(error['type'], 200)
  // The page of a gateway says nothing that the status does not say.
  const body = textOf(error['body']).replace(/^\s*<.*/s, '')
  const shown = [textOf(error['message']), ...(body === '' ? logs : [body])].filter((one) => one !== '')
  const message = `${what}: ${[type, ...new Set(shown)].join(': ')}`
  const classes = textsOf(error['classes'])
  const connection = connectionProblem(new Set(classes))
  const stated = Number.isInteger(error['status']) ? (error['status'] as number) : null
  const status = stated ?? (connection === null ? impliedStatus(classes) : null)
  const code = codeOfStatus(status) ?? connection ?? 'provider-failed'
  const isRefusal = status !== null && status < 500 && status !== 408
  return new ProviderError(code, message, {
    // The code may have sent other changes before the one that failed.
    ambiguous: error['applying'] === true && !isRefusal,
    mayCompleteLater: error['applying'] === true && code === 'provider-timeout',
    status: status === null ? undefined : String(status),
  })
}

function codeOfStatus(status: number | null): DiagnosticCode | null {
  if (status === 401) return 'provider-unauthorized'
  if (status === 403) return 'provider-forbidden'
  if (status === 429) return 'provider-rate-limited'
  return status !== null && status >= 400 && status < 500 ? 'provider-rejected' : null
}

/** Statuses in the names of exceptions, such as GandiClientUnauthorized, that carry no response. */
const NAMED_STATUSES: readonly (readonly [names: RegExp, status: number])[] = [
  [/Unauthori[sz]ed|Authentication/, 401],
  [/Forbidden|AccessDenied|PermissionDenied/, 403],
  [/RateLimit|TooManyRequests|Throttl/, 429],
]

const impliedStatus = (classes: readonly string[]): number | null =>
  NAMED_STATUSES.find(([names]) => classes.some((name) => names.test(name)))?.[1] ?? null

/** Names of exceptions and of error numbers. urllib3's NewConnectionError is a timeout by inheritance only, and the timeouts of requests are connection errors. */
const CONNECTION_PROBLEMS: readonly (readonly [code: DiagnosticCode, names: readonly string[]])[] = [
  ['provider-unreachable', ['NewConnectionError', 'ConnectionRefusedError', 'gaierror', 'EHOSTUNREACH', 'ENETUNREACH']],
  ['provider-timeout', ['Timeout', 'TimeoutError', 'ConnectTimeoutError', 'ReadTimeoutError', 'LifetimeTimeout']],
  ['provider-unreachable', ['ConnectionError', 'EndpointConnectionError', 'ServiceRequestError', 'ConnectError']],
]

const connectionProblem = (classes: ReadonlySet<string>): DiagnosticCode | null =>
  CONNECTION_PROBLEMS.find(([, names]) => names.some((name) => classes.has(name)))?.[0] ?? null
