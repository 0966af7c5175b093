/**
 * Sends the requests of an AWS SDK, which is an optional package, through our HTTP client, which bounds time and size. The SDK makes, signs and reads the
 * messages; it also asks other hosts for credentials, such as the Security Token Service.
 */
import { Readable } from 'node:stream'
import { createHttpClient, type HttpClient, type HttpRequest, type HttpResponse, TransportError } from './http-client.ts'

/** Loads an SDK with the first request, and again with the next one if that failed. */
export function loadOnce<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loaded: Promise<Loaded> | null = null
  return () => {
    loaded ??= load()
    return loaded.catch((error: unknown) => {
      loaded = null
      throw error
    })
  }
}

/** What the handler gets with each request of ours, and what became of it. */
export interface Exchange {
  readonly limits?: Pick<HttpRequest, 'signal' | 'silenceTimeout' | 'totalTimeout'>
  response: HttpResponse | null
  failure: TransportError | null
}

export interface SdkHandlerOptions extends ElsewhereOptions {
  readonly http: HttpClient
  /** Receives the session token of a request, so that it never appears anywhere. */
  readonly onSessionToken: (token: string) => void
}

/** The part of an SDK that sends its requests. Those without an `Exchange` are for credentials. */
export const sdkHandler = ({ http, onSessionToken, ...elsewhere }: SdkHandlerOptions) => ({
  handle: async (request: SdkRequest, options: unknown) => {
    const exchange = (options as { readonly exchange?: Exchange } | undefined)?.exchange
    if (exchange === undefined) return { response: sdkResponseOf(await sendElsewhere(request, elsewhere)) }
    const token = request.headers['x-amz-security-token']
    if (token !== undefined) onSessionToken(token)
    try {
      exchange.response = await http.request({ ...exchange.limits, ...httpRequestOf(request) })
    } catch (error) {
      if (error instanceof TransportError) exchange.failure = error
      throw error
    }
    return { response: sdkResponseOf(exchange.response) }
  },
})

/** A request as the SDK hands it over: signed and serialized. */
interface SdkRequest {
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

function httpRequestOf({ method, path, query = {}, headers: { expect: _, ...headers }, body }: SdkRequest): HttpRequest {
  const pairs = Object.entries(query).flatMap(([key, value]) => [value ?? ''].flat().map((one) => `${encoded(key)}=${encoded(one)}`))
  const text = body == null ? undefined : typeof body === 'string' ? body : new TextDecoder().decode(body as Uint8Array)
  return {
    method: method as HttpRequest['method'],
    path: pairs.length === 0 ? path : `${path}?${pairs.join('&')}`,
    headers: { ...headers, accept: 'application/xml' },
    text,
  }
}

const sdkResponseOf = ({ status, headers, text }: HttpResponse) => ({
  statusCode: status,
  headers,
  body: Readable.from([Buffer.from(text)]),
})

interface ElsewhereOptions {
  /** Throws if a host may not be contacted. */
  readonly checkHost: (url: URL) => void
  /** The proxy for a server; null for none. */
  readonly proxyFor: (server: URL) => URL | null
  /** Milliseconds. */
  readonly timeout: number
}

/** Sends a request of the SDK for credentials. */
async function sendElsewhere(request: SdkRequest, { checkHost, proxyFor, timeout }: ElsewhereOptions): Promise<HttpResponse> {
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
