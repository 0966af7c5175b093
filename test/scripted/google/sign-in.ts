/** Google's sign-in: signed assertions of a service account (RFC 7523), refresh tokens of people and the metadata server of a machine become access tokens. */
import { createVerify, type KeyObject } from 'node:crypto'
import type { ScriptedRequest, ScriptedResponse } from '../scripted-server.ts'

export interface Account {
  readonly email: string
  readonly publicKey: KeyObject
  /** The refresh token of a person, and the secret of the client. */
  readonly refreshToken?: string
  readonly clientSecret?: string
}

const TOKEN_PATHS: ReadonlySet<string> = new Set(['/token', '/oauth2/v4/token'])
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
  const tokens = new Set([token])
  const issue = (): ScriptedResponse => {
    const access_token = `issued-token-${tokens.size}-${'x'.repeat(20)}`
    tokens.add(access_token)
    return respond(200, { access_token, expires_in: LIFETIME, token_type: 'Bearer' })
  }
  return {
    accepts: (authorization) => authorization?.startsWith('Bearer ') === true && tokens.has(authorization.slice(7)),
    answer({ method, path, headers, body }) {
      if (path === METADATA_PATH) return headers['metadata-flavor'] === 'Google' ? issue() : respond(403, { error: 'Missing header' })
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

const respond = (status: number, body: unknown): ScriptedResponse => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(body),
})
