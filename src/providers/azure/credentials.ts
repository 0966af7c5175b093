/** Signs in at Microsoft Entra with an application's secret, a token from another identity provider, or an Azure machine's managed identity. */
import { createTokenEndpoint, fixedToken, type SignIn, type TokenEndpoint, type TokenRequest } from '../access-tokens.ts'
import type { ApiConnection } from '../json-api.ts'

export type Credentials =
  | {
      readonly kind: 'application'
      readonly clientId: string
      readonly proof: { readonly secret: string } | { readonly assertion: string }
    }
  /** `clientId` selects an identity if the machine has several. */
  | { readonly kind: 'machine'; readonly clientId: string | null }
  /** A token that was obtained elsewhere. */
  | { readonly kind: 'token'; readonly token: string }

const RESOURCE = 'https://management.azure.com'

export const tokenUrl = (tenant: string): string => `https://login.microsoftonline.com/${encodeURIComponent(tenant)}/oauth2/v2.0/token`
/** The metadata service of an Azure machine. */
export const MACHINE_URL = 'http://169.254.169.254/metadata/identity/oauth2/token'

/** Signs in at `connection.baseUrl`: `tokenUrl` or `MACHINE_URL`, unless the config sets another URL. */
export function createSignIn(credentials: Credentials, connection: ApiConnection): SignIn {
  if (credentials.kind === 'token') return fixedToken(credentials.token)
  const request = tokenRequest(credentials)
  const proof = credentials.kind === 'application' ? Object.values(credentials.proof)[0] : ''
  const endpoint: TokenEndpoint = createTokenEndpoint({ ...connection, token: proof ?? '' }, HINTS[credentials.kind])
  return { fetch: (options) => endpoint.request(request, options), close: () => endpoint.close() }
}

const HINTS = {
  application: 'check tenant, client_id, and that the secret of the application has not expired',
  machine: 'check that the machine has a managed identity, and client_id if it has several',
} as const

function tokenRequest(credentials: Exclude<Credentials, { kind: 'token' }>): TokenRequest {
  if (credentials.kind === 'machine') {
    const { clientId } = credentials
    return {
      headers: { metadata: 'true' },
      query: { 'api-version': '2018-02-01', resource: `${RESOURCE}/`, ...(clientId !== null && { client_id: clientId }) },
    }
  }
  const { clientId: client_id, proof } = credentials
  const form = { grant_type: 'client_credentials', client_id, scope: `${RESOURCE}/.default` }
  if ('secret' in proof) return { form: { ...form, client_secret: proof.secret } }
  const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
  return { form: { ...form, client_assertion_type, client_assertion: proof.assertion } }
}
