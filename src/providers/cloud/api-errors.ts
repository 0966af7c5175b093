/** How the cloud API reports errors. */
import type { HttpResponse } from '../../transport/http-client.ts'
import { type ApiDialect, statusError } from '../api-errors.ts'
import type { Fields } from '../json-shape.ts'
import type { ProviderError } from '../provider.ts'

/** One error of a request, as the API reports it. */
interface ApiProblem {
  readonly field: string | null
  readonly reason: string
}

export const CLOUD_DIALECT: ApiDialect = {
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
