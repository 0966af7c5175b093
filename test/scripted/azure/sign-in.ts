/** The sign-in of Microsoft Entra: the secret or a signed assertion of an application, and the identity endpoint of a machine at Azure, become access tokens. */
import { createTokens, jsonResponse as respond } from '../base.ts'
import type { ScriptedRequest, ScriptedResponse } from '../scripted-server.ts'

export interface Application {
  readonly tenant: string
  readonly clientId: string
  readonly clientSecret: string
  /** A token of another identity provider that stands for the application. */
  readonly assertion?: string
}

/** Azure Resource Manager, by its present name or by that of its predecessor, for which Microsoft's Go client asks. */
const RESOURCE = /^https:\/\/management\.(?:azure\.com|core\.windows\.net)(?:\/|$)/
const LIFETIME = 3599
const MACHINE_PATH = '/metadata/identity/oauth2/token'

export interface SignIn {
  /** The answer to a request for a token, or about the tenant; null if the request is another one. */
  answer(request: ScriptedRequest): ScriptedResponse | null
  accepts(authorization: string | undefined): boolean
}

export function createSignIn(token: string, application: Application | undefined): SignIn {
  const tokens = createTokens(token)
  const issue = (expires: number | string): ScriptedResponse =>
    respond(200, { token_type: 'Bearer', expires_in: expires, access_token: tokens.issue() })
  const refuse = (error: string, text: string, status = 400): ScriptedResponse => respond(status, { error, error_description: text })
  return {
    accepts: tokens.accepts,
    answer({ method, path, query, headers, body }) {
      if (path === MACHINE_PATH) {
        if (headers['metadata'] !== 'true') return refuse('invalid_request', 'Required metadata header not specified')
        return RESOURCE.test(query.get('resource') ?? '') ? issue(String(LIFETIME)) : refuse('invalid_resource', 'AADSTS500011')
      }
      const [, tenant, rest] =
        /^\/([^/]+)\/(discovery\/instance|v2\.0\/\.well-known\/openid-configuration|oauth2\/(?:v2\.0\/)?token)$/.exec(path) ?? []
      if (tenant === undefined || rest === undefined) return null
      const authority = 'https://login.microsoftonline.com'
      if (rest === 'discovery/instance') {
        const [preferred_network, preferred_cache] = ['login.microsoftonline.com', 'login.windows.net']
        return respond(200, {
          tenant_discovery_endpoint: `${authority}/${application?.tenant}/v2.0/.well-known/openid-configuration`,
          metadata: [{ preferred_network, preferred_cache, aliases: [preferred_network] }],
        })
      }
      if (rest.startsWith('v2.0'))
        return respond(200, {
          token_endpoint: `${authority}/${tenant}/oauth2/v2.0/token`,
          authorization_endpoint: `${authority}/${tenant}/oauth2/v2.0/authorize`,
          issuer: `${authority}/${tenant}/v2.0`,
        })
      const form = new URLSearchParams(body)
      if (method !== 'POST' || form.get('grant_type') !== 'client_credentials') return refuse('invalid_request', 'AADSTS900144')
      const wanted = form.get('scope') ?? form.get('resource') ?? ''
      if (application === undefined || tenant !== application.tenant)
        return refuse('invalid_request', `AADSTS90002: Tenant '${tenant}' not found.`)
      if (form.get('client_id') !== application.clientId)
        return refuse('unauthorized_client', `AADSTS700016: Application with identifier '${form.get('client_id')}' was not found.`)
      if (!RESOURCE.test(wanted)) return refuse('invalid_scope', 'AADSTS1002012: The provided value for scope is not valid.')
      const isSecret = form.get('client_secret') === application.clientSecret
      const isAssertion = application.assertion !== undefined && form.get('client_assertion') === application.assertion
      if (!isSecret && !isAssertion) return refuse('invalid_client', 'AADSTS7000215: Invalid client secret provided.', 401)
      return issue(LIFETIME)
    },
  }
}
