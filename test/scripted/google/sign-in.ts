/** Google's sign-in: signed assertions of a service account (RFC 7523), refresh tokens of people and the metadata server of a machine become access tokens. */
import { createVerify, type KeyObject } from 'node:crypto'
import { createTokens, jsonResponse as respond, secondsOf } from '../base.ts'
import type { ScriptedRequest, ScriptedResponse } from '../scripted-server.ts'

export interface Account {
  readonly email: string
  readonly publicKey: KeyObject
  /** The refresh token of a person, and the secret of the client. */
  readonly refreshToken?: string
  readonly clientSecret?: string
  /** A token of another identity provider for this audience, and the token with which a CI service gives it away. */
  readonly external?: { readonly audience: string; readonly subjectToken: string; readonly requestToken: string }
}

const TOKEN_PATHS: ReadonlySet<string> = new Set(['/token', '/oauth2/v4/token'])
/** Where a CI service gives away tokens, and where Google exchanges them (RFC 8693). */
const SUBJECT_PATH = '/idtoken'
const EXCHANGE_PATH = '/v1/token'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const METADATA_PATH = '/computeMetadata/v1/instance/service-accounts/default/token'
/** Seconds. */
const LIFETIME = 3599
const MAX_AGE = 3600

export interface SignIn {
  /** The answer to a request for a token; null if the request is another one. */
  answer(request: ScriptedRequest): ScriptedResponse | null
  accepts(authorization: string | undefined): boolean
}

export function createSignIn(token: string, account: Account | undefined): SignIn {
  const tokens = createTokens(token)
  const federated = new Set<string>()
  const issue = (): ScriptedResponse => respond(200, { access_token: tokens.issue(), expires_in: LIFETIME, token_type: 'Bearer' })
  return {
    accepts: tokens.accepts,
    answer({ method, path, query, headers, body }) {
      if (path === METADATA_PATH) return headers['metadata-flavor'] === 'Google' ? issue() : respond(403, { error: 'Missing header' })
      const external = account?.external
      if (path === SUBJECT_PATH && external !== undefined) {
        const isCi = headers['authorization'] === `Bearer ${external.requestToken}` && query.get('audience') === external.audience
        return isCi ? respond(200, { value: external.subjectToken }) : respond(401, 'Unauthorized')
      }
      if (method === 'POST' && path === EXCHANGE_PATH) {
        const problem = problemOfExchange(new URLSearchParams(body), account)
        if (problem !== null) return respond(400, { error: 'invalid_grant', error_description: problem })
        const access_token = tokens.issue()
        federated.add(access_token)
        return respond(200, { access_token, issued_token_type: ACCESS_TOKEN, token_type: 'Bearer', expires_in: LIFETIME })
      }
      if (method === 'POST' && path === `/v1/projects/-/serviceAccounts/${account?.email}:generateAccessToken`) {
        if (!federated.has(headers['authorization']?.slice(7) ?? ''))
          return respond(403, {
            error: { code: 403, message: "Permission 'iam.serviceAccounts.getAccessToken' denied", status: 'PERMISSION_DENIED' },
          })
        return respond(200, { accessToken: tokens.issue(), expireTime: secondsOf(new Date(Date.now() + LIFETIME * 1000)) })
      }
      if (method !== 'POST' || !TOKEN_PATHS.has(path)) return null
      if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded'))
        return respond(400, { error: 'invalid_request', error_description: 'Required parameter is missing: grant_type' })
      const form = new URLSearchParams(body)
      const problem =
        form.get('grant_type') === 'refresh_token'
          ? problemOfRefresh(form, account)
          : problemOfAssertion(form.get('assertion') ?? '', path, account)
      return problem === null ? issue() : respond(400, { error: 'invalid_grant', error_description: problem })
    },
  }
}

function problemOfRefresh(form: URLSearchParams, account: Account | undefined): string | null {
  const isKnown = account?.refreshToken !== undefined && form.get('refresh_token') === account.refreshToken
  return isKnown && form.get('client_secret') === account.clientSecret ? null : 'Bad Request'
}

function problemOfExchange(form: URLSearchParams, account: Account | undefined): string | null {
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:token-exchange') return 'Unsupported grant type.'
  if (form.get('requested_token_type') !== ACCESS_TOKEN || !form.has('subject_token_type')) return 'Invalid token type.'
  if (form.get('audience') !== account?.external?.audience) return 'Invalid value for "audience".'
  if (!/auth\/(?:ndev\.clouddns\.readwrite|cloud-platform|iam\b)/.test(form.get('scope') ?? '')) return 'Invalid scope.'
  return form.get('subject_token') === account?.external?.subjectToken
    ? null
    : `ID Token could not be verified: ${form.get('subject_token')}`
}

function problemOfAssertion(assertion: string, path: string, account: Account | undefined): string | null {
  const [header = '', claims = '', signature = ''] = assertion.split('.')
  if (account === undefined || !createVerify('RSA-SHA256').update(`${header}.${claims}`).verify(account.publicKey, signature, 'base64url'))
    return 'Invalid JWT Signature.'
  const { iss, aud, exp, iat, scope } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, string | number>
  if (iss !== account.email) return 'Invalid grant: account not found'
  if (!String(aud).endsWith(path)) return 'Invalid JWT: Failed audience check.'
  const now = Date.now() / 1000
  if (Number(exp) < now || Number(iat) > now + 60 || Number(exp) - Number(iat) > MAX_AGE)
    return 'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.'
  return /auth\/(?:ndev\.clouddns\.readwrite|cloud-platform)/.test(String(scope))
    ? null
    : 'Invalid OAuth scope or ID token audience provided.'
}
