/**
 * Sends the requests of an AWS SDK through our HTTP client, which bounds time and size. The SDK makes, signs and reads the messages; it also asks other hosts for
 * credentials, such as the Security Token Service.
 */
import { createHttpClient, type HttpRequest, type HttpResponse } from './http-client.ts'

/** A request as the SDK hands it over: signed and serialized. */
export interface SdkRequest {
  readonly protocol: string
  readonly hostname: string
  readonly port?: number
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** As signatures encode it (RFC 3986 section 2.3). */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

export function httpRequestOf({ method, path, query = {}, headers, body }: SdkRequest): HttpRequest {
  const pairs = Object.entries(query).flatMap(([key, value]) => [value ?? ''].flat().map((one) => `${encoded(key)}=${encoded(one)}`))
  const text = body == null ? undefined : typeof body === 'string' ? body : new TextDecoder().decode(body as Uint8Array)
  return {
    method: method as HttpRequest['method'],
    path: pairs.length === 0 ? path : `${path}?${pairs.join('&')}`,
    headers: { ...headers, accept: 'application/xml' },
    text,
  }
}

export const sdkResponseOf = ({ status, headers, text }: HttpResponse) => ({
  statusCode: status,
  headers,
  body: new TextEncoder().encode(text),
})

export interface ElsewhereOptions {
  /** Throws if a host may not be contacted. */
  readonly checkHost: (url: URL) => void
  /** The proxy for a server; null for none. */
  readonly proxyFor: (server: URL) => URL | null
  /** Milliseconds. */
  readonly timeout: number
}

/** Sends a request of the SDK for credentials. */
export async function sendElsewhere(request: SdkRequest, { checkHost, proxyFor, timeout }: ElsewhereOptions): Promise<HttpResponse> {
  const origin = new URL(`${request.protocol}//${request.hostname}${request.port === undefined ? '' : `:${request.port}`}`)
  checkHost(origin)
  const http = createHttpClient({
    baseUrl: origin,
    headers: {},
    connections: 1,
    timeout,
    maxResponse: 1024 * 1024,
    proxy: proxyFor(origin),
  })
  try {
    return await http.request(httpRequestOf(request))
  } finally {
    await http.close()
  }
}

/**
 * Why the SDK made no request, mostly for want of credentials; null if the error is a bug. Its message may quote the output of programs, so only its first line is
 * shown.
 */
export function whyNoCredentials(error: unknown): string | null {
  // Of all that a request contains, only the credentials can have characters that headers cannot.
  const isMalformed = (error as { readonly code?: unknown }).code === 'ERR_INVALID_CHAR'
  if (!(error instanceof Error) || (error instanceof TypeError && !isMalformed)) return null
  const { name, message } = error
  const why = isMalformed ? 'a key or the session token has a line break' : message.split('\n', 1)[0]?.slice(0, 300)
  return `no AWS credentials: ${why} (${name.slice(0, 100)})`
}
