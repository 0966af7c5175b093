/** A client of the cloud API: requests with retries, checked responses, and complete lists. */
import type { HttpResponse } from '../../transport/http-client.ts'
import { type ApiDialect, statusError } from '../api-errors.ts'
import { type ApiConnection, createJsonApi, type ResponseHead } from '../json-api.ts'
import { type Fields, wholeNumberOf } from '../json-shape.ts'
import type { ProviderError } from '../provider.ts'
import { numberedLists } from '../read-pages.ts'
import type { ApiRequest } from '../send-request.ts'

export type CloudApi = ReturnType<typeof createCloudApi>

interface ListCall extends ApiRequest {
  /** An `X-Filter`. */
  readonly filter?: unknown
}

/** Creates a client of the API. It retries requests that are safe to repeat, checks every response, and throws `ProviderError`. */
export function createCloudApi(connection: ApiConnection) {
  const { provider, token } = connection
  const { request: send, close } = createJsonApi(connection, { authorization: `Bearer ${token}` }, CLOUD_DIALECT)
  const request: typeof send = (call, shape) =>
    send(call.run === undefined ? call : { ...call, headers: { ...call.headers, 'x-zonewright-run': call.run } }, shape)
  return {
    request,
    /** Reads all items of a list: pages after the first in parallel, and all again if the list changed. `onFirstPage` learns what the response with it says. */
    list: <T extends { readonly id: number | string }>(
      { filter, ...call }: ListCall,
      shape: (item: unknown) => T,
      onFirstPage?: (head: ResponseHead) => void,
    ): Promise<T[]> => {
      const list = numberedLists(
        provider,
        request,
        (fields, _, head) => {
          if (fields['page'] === 1) onFirstPage?.(head)
          return { pages: wholeNumberOf(fields, 'pages', 'a list'), total: wholeNumberOf(fields, 'results', 'a list') }
        },
        'page_size',
      )
      const headers = filter === undefined ? call.headers : { ...call.headers, 'x-filter': asciiJson(filter) }
      return list({ ...call, ...(headers && { headers }) }, { key: 'data', perPage: PAGE_SIZE, shape, idOf: ({ id }) => id })
    },
    close,
  }
}

/** JSON for a header (RFC 9110 section 5.5): all but printable ASCII is escaped (RFC 8259 section 7). */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Items per page: the maximum of the API. */
const PAGE_SIZE = 500

/** One error of a request, as the API reports it. */
interface ApiProblem {
  readonly field: string | null
  readonly reason: string
}

const CLOUD_DIALECT: ApiDialect = {
  errorOfResponse,
  isBusy: (response) => response.status === 400 && (problemsOf(response)?.some((problem) => problem.reason === 'Linode busy.') ?? false),
  addressHint: (provider) => `check that base_url of ${provider} is the URL of the API with its version, such as https://…/v4`,
  startHint: 'start the service with "zonewright serve"',
}

function errorOfResponse(provider: string, what: string, response: HttpResponse, mutates: boolean): ProviderError {
  const problems = problemsOf(response)
  const lacksScope = problems?.some((problem) => /not authorized to use this endpoint/i.test(problem.reason)) ?? false
  const reasons = problems?.map((problem) => (problem.field === null ? problem.reason : `${problem.field}: ${problem.reason}`))
  return statusError(provider, what, response, mutates, {
    text: reasons?.join('; ') ?? null,
    code: lacksScope ? 'provider-forbidden' : undefined,
    hint: (code) => hintFor(code, lacksScope, response),
  })
}

/** The problems that an error body lists; null if the body is not an error body of the API. */
function problemsOf(response: HttpResponse): ApiProblem[] | null {
  let body: unknown
  try {
    body = JSON.parse(response.text)
  } catch {
    return null
  }
  const errors = (body as { errors?: unknown } | null)?.errors
  if (!Array.isArray(errors) || errors.length === 0 || errors.some((entry: Fields | null) => typeof entry?.['reason'] !== 'string'))
    return null
  return errors.slice(0, 20).map(({ field, reason }: { field?: unknown; reason: string }) => ({
    field: typeof field === 'string' ? field.slice(0, 100) : null,
    reason: reason.slice(0, 500),
  }))
}

function hintFor(code: string, lacksScope: boolean, response: HttpResponse): string | undefined {
  if (lacksScope) {
    const held = response.headers['x-oauth-scopes']
    const needed = response.headers['x-accepted-oauth-scopes']
    return `the token lacks a scope${needed ? `: this needs ${needed}` : ''}${held ? `, it has ${held}` : ''}`
  }
  if (code === 'provider-unauthorized') return 'the token is wrong, revoked or expired'
  if (code === 'provider-forbidden') return "the token's user is restricted and lacks a grant for this"
  return undefined
}
