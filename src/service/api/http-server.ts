/** The HTTP application: limits, headers, TLS, error responses and the request log. `add-routes.ts` adds the operations. */
import { randomUUID, X509Certificate } from 'node:crypto'
import { METHODS } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSecureContext, Server as TlsServer } from 'node:tls'
import SerializerSelector from '@fastify/fast-json-stringify-compiler'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Fastify from 'fastify'
import ipaddr from 'ipaddr.js'
import ERRORS from '../../../schemas/service/errors.json' with { type: 'json' }
import { hostProblem, originForm } from '../host-header.ts'
import type { Log } from '../observability/log.ts'
import type { Metrics } from '../observability/observability.ts'
import type { Database } from '../store/database.ts'
import { actorOf, addOtherMethods, addRoutes } from './add-routes.ts'
import { routedUrl } from './alias-names.ts'
import { addUploadRoute, isReceiving, UPLOADS_PATH, withoutUploadKey } from './images/image-routes.ts'
import { addOpenApi } from './openapi.ts'
import { addressCaller, RateLimited, rateHeaders } from './rate-limit.ts'
import { errorBody, notFound, RequestError, type RequestProblem } from './request-error.ts'
import type { Route, Service } from './route.ts'
import { compileRequestValidator, ignoredFields } from './schema-validation.ts'

/** Largest request body, in octets. */
const BODY_LIMIT = 1024 * 1024

/** Largest request header section, `X-Filter` included, in octets. */
const HEADER_LIMIT = 32 * 1024

/** Milliseconds to wait for a complete request. */
const REQUEST_TIMEOUT = 60_000

/** The version of the API, and of its description. */
const VERSION_SEGMENT = '/v4'
const SPEC_VERSION = '4.150.0'

/** A certificate chain and its key, in PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

interface HttpAppOptions {
  readonly service: Service & { readonly database: Database }
  readonly routes: readonly Route[]
  /** Null for HTTP without TLS. */
  readonly tls: Certificate | null
  readonly log: Log
  readonly metrics: Metrics
  /** Called with every error that causes a response with status 500. */
  readonly onError: (error: unknown) => void
}

/**
 * TLS 1.2 and 1.3 (RFC 8996), only with ephemeral keys and authenticated encryption: recorded traffic stays unreadable even if the
 * certificate's key leaks later (RFC 9325 section 4.2).
 */
export const TLS_OPTIONS = {
  minVersion: 'TLSv1.2',
  honorCipherOrder: true,
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
} as const

/** Node does not check the `Host` header: `checkHost` does, with the API's error body. */
const SERVER_OPTIONS = { maxHeaderSize: HEADER_LIMIT, requireHostHeader: false } as const

/** Fastify's serializers, each compiled at its first response: all of them at once take a quarter of the time of a start. */
const buildSerializer: SerializerSelector.SerializerFactory = (...schemas) => {
  const compile = SerializerSelector()(...schemas)
  return (route) => {
    let serialize: ReturnType<typeof compile> | undefined
    return (body) => {
      serialize ??= compile(route)
      return serialize(body)
    }
  }
}

/** Creates the HTTP application, not yet listening. */
async function createHttpApp({ service, routes, tls, log, metrics, onError }: HttpAppOptions): Promise<FastifyInstance> {
  checkCertificate(tls)
  const app: FastifyInstance = Fastify({
    ...(tls === null ? { http: SERVER_OPTIONS } : { https: { ...tls, ...TLS_OPTIONS, ...SERVER_OPTIONS } }),
    rewriteUrl: (request) => routedUrl(request, originForm(request.url ?? '')),
    genReqId: () => randomUUID(),
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 500 },
    schemaController: { compilersFactory: { buildSerializer } },
    frameworkErrors: (_error, request, reply) => void sendError(reply, hostErrorOf(request) ?? notFound()),
    clientErrorHandler: respondToMalformedRequest,
  })
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  app.setValidatorCompiler(compileRequestValidator)
  app.addSchema({ $id: 'errors', ...ERRORS })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parseJson)
  app.addHook('onRequest', setCommonHeaders)
  app.addHook('onSend', setExactContentType)
  app.addHook('onRequest', checkHost)
  app.addHook('onRequest', ignoreTypeOfEmptyBody)
  app.addHook('onResponse', async (request, reply) => recordRequest(request, reply, log, metrics))
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const known = requestError(error, request)
    if (known === null) onError(error)
    if (known instanceof RateLimited) reply.headers({ 'retry-after': known.retryAfter, ...rateHeaders(known.allowance) })
    return sendError(reply, known ?? new RequestError(500, [requestProblem('Internal server error')]))
  })
  app.setNotFoundHandler((_request, reply) => sendError(reply, notFound()))
  await addOpenApi(app, VERSION_SEGMENT, SPEC_VERSION, routes, async ({ ip }, reply) => {
    reply.headers(rateHeaders(service.limiter.take(addressCaller(ip), 'GET /openapi.json')))
  })
  addOtherMethods(app, `${VERSION_SEGMENT}/openapi.json`, new Set(['GET', 'HEAD']))
  await app.register(
    (scope, _options, done) => {
      addRoutes(scope, routes, service)
      done()
    },
    { prefix: VERSION_SEGMENT },
  )
  await app.register((scope, _options, done) => {
    addUploadRoute(scope, service.uploads, service.limiter)
    done()
  })
  addOtherMethods(app, `${UPLOADS_PATH}:key`, new Set(['PUT']))
  return app
}

/** Throws a `RangeError` if the certificate and key do not work for TLS. */
function checkCertificate(tls: Certificate | null): void {
  if (tls === null) return
  // Node accepts empty texts, and then every handshake fails.
  if (tls.cert === '' || tls.key === '') throw new RangeError(`the ${tls.cert === '' ? 'certificate' : 'key of the certificate'} is empty`)
  try {
    createSecureContext(tls)
  } catch (error) {
    throw new RangeError(`the certificate and its key cannot be used: ${(error as Error).message}`, { cause: error })
  }
}

const requestProblem = (reason: string): RequestProblem => ({ field: null, reason })

async function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.headers({
    'x-request-id': request.id,
    'x-spec-version': SPEC_VERSION,
    'cache-control': 'private, no-store',
    vary: 'Authorization, X-Filter',
    'content-security-policy': "default-src 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    ...CROSS_ORIGIN,
  })
}

/**
 * JSON has no charset parameter (RFC 8259 section 11), and clients such as linodego compare the header literally. The framework adds the parameter
 * before this hook.
 */
async function setExactContentType(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (String(reply.getHeader('content-type') ?? '').startsWith('application/json')) reply.header('content-type', 'application/json')
}

function hostErrorOf({ raw: { rawHeaders, httpVersion }, originalUrl }: FastifyRequest): RequestError | null {
  const problem = hostProblem({ rawHeaders, httpVersion, target: originalUrl })
  return problem === null ? null : new RequestError(400, [requestProblem(problem)])
}

async function checkHost(request: FastifyRequest): Promise<void> {
  const error = hostErrorOf(request)
  if (error !== null) throw error
}

/** Any web page may call the service: access depends on the token it sends, never on a cookie. */
const CROSS_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'HEAD, GET, OPTIONS, POST, PUT, DELETE',
  'access-control-allow-headers': 'Authorization, Origin, X-Requested-With, Content-Type, Accept, X-Filter',
  'access-control-expose-headers':
    'X-OAuth-Scopes, X-Accepted-OAuth-Scopes, X-Spec-Version, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id, Allow',
} as const

/** Counts and logs a finished request, without secrets. */
function recordRequest(request: FastifyRequest, reply: FastifyReply, log: Log, metrics: Metrics): void {
  const { method } = request
  const status = reply.statusCode
  const url = request.routeOptions.url
  const route = url === undefined || url === '*' ? 'none' : url
  metrics.request({ method, route, status, seconds: reply.elapsedTime / 1000 })
  const actor = actorOf(request)
  const fields = { method, path: pathOf(request), status, ms: Math.round(reply.elapsedTime * 10) / 10, remote: request.ip, id: request.id }
  const ignored = ignoredFields(request.body)
  if (ignored.length > 0) log.debug({ method, path: fields.path, fields: ignored }, 'unknown fields ignored')
  log[status >= 500 ? 'error' : 'info']({ ...fields, ...(actor ? { user: actor.username, token: actor.tokenId } : {}) }, 'request')
}

/** The path for the log: without query string and upload key, at most 200 characters. */
const pathOf = ({ url, routeOptions }: FastifyRequest): string =>
  routeOptions.url?.startsWith(UPLOADS_PATH) ? routeOptions.url : withoutUploadKey(url.split('?', 1)[0] as string).slice(0, 200)

function sendError(reply: FastifyReply, error: RequestError): FastifyReply {
  return reply.code(error.status).type('application/json').serializer(JSON.stringify).send(errorBody(error.problems))
}

/** Media types that HTTP libraries send by default, even without a body. */
const DEFAULT_TYPE = /^(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\b/i

/** Ignores the media type of a request without a body. */
async function ignoreTypeOfEmptyBody({ raw: { headers } }: FastifyRequest): Promise<void> {
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
  if (isEmpty && DEFAULT_TYPE.test(headers['content-type'] ?? '')) delete headers['content-type']
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Parses JSON in UTF-8 (RFC 8259 section 8.1); an empty body is an empty object. A key `__proto__` is an unknown field like any other. */
async function parseJson(_request: FastifyRequest, body: Buffer): Promise<unknown> {
  if (body.length === 0) return {}
  try {
    return JSON.parse(UTF8.decode(body))
  } catch {
    throw new RequestError(400, [requestProblem('Invalid JSON')])
  }
}

/** Converts an error of the framework to the API's error; null if the request did not cause it. */
function requestError(error: FastifyError | RequestError, request: FastifyRequest): RequestError | null {
  if (error instanceof RequestError) return error
  // The client disconnected in the middle of its body: nobody reads this response, and it is not an internal error.
  if (request.raw.readableAborted) return new RequestError(400, [requestProblem('Bad request')])
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new RequestError(413, [requestProblem(`The request body is larger than ${BODY_LIMIT} octets`)])
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_TYPE':
      return new RequestError(415, [requestProblem('The request body must be application/json')])
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new RequestError(400, [requestProblem('The request body does not have its stated length')])
    default:
      return request.raw.destroyed || (error.statusCode ?? 500) >= 500 ? null : new RequestError(400, [requestProblem('Bad request')])
  }
}

/** Responds to bytes that are not a valid HTTP request. */
function respondToMalformedRequest(error: NodeJS.ErrnoException, socket: import('node:net').Socket): void {
  // An upload may take hours and has its own time limit; Node reports this timeout once per request.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isReceiving(socket)) return
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, reason] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', `The request headers are larger than ${HEADER_LIMIT} octets`]
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'The request is incomplete']
        : ['400 Bad Request', 'Bad request']
  const body = JSON.stringify(errorBody([requestProblem(reason)]))
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`
  socket.end(head + body)
}

export interface HttpServer {
  /** Includes the version segment: `http://127.0.0.1:8080/v4`. */
  readonly baseUrl: string
  /** See `Service`. */
  readonly uploadOrigin: () => string | null
  /** Replaces the certificate for new connections. Throws if it is unusable or the service has no TLS. */
  useCertificate(certificate: Certificate): void
  /** Stops accepting requests; resolves when the running ones have ended or timed out. */
  close(): Promise<void>
}

interface HttpServerOptions extends Omit<HttpAppOptions, 'service'> {
  readonly service: Omit<HttpAppOptions['service'], 'uploadOrigin'>
  readonly listen: { readonly host: string; readonly port: number }
  /** The origin that clients use; null for the address the service listens on. */
  readonly publicOrigin: string | null
  /** Further connections are closed at once. */
  readonly maxConnections: number | undefined
}

/** Maximum number of HTTP connections, because the database, the name server and `/readyz` need memory and descriptors, too. */
const MAX_CONNECTIONS = 10_000

/** Milliseconds that running requests get to end when the service stops. */
const GRACE = 10_000

/** Serves the API. Rejects if the address is not available. */
export async function startHttpServer({ listen, maxConnections, publicOrigin, ...options }: HttpServerOptions): Promise<HttpServer> {
  const uploadOrigin = (): string | null => publicOrigin ?? listeningOrigin(app.server.address() as AddressInfo, listen.host, options.tls)
  const app: FastifyInstance = await createHttpApp({ ...options, service: { ...options.service, uploadOrigin } })
  app.server.maxConnections = maxConnections ?? MAX_CONNECTIONS
  const origin = await app.listen(listen)
  const warn = (tls: Certificate): void => warnOfDates(tls, options.service.clock(), options.log)
  if (options.tls !== null) warn(options.tls)
  return {
    baseUrl: origin + VERSION_SEGMENT,
    uploadOrigin,
    useCertificate: (certificate) => {
      useCertificate(app, certificate)
      warn(certificate)
    },
    close: () => closeApp(app),
  }
}

/** The origin of a server that listens on one host; null if it listens on all addresses. */
function listeningOrigin({ address, port }: AddressInfo, host: string, tls: Certificate | null): string | null {
  if (ipaddr.process(address).range() === 'unspecified') return null
  return `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

async function closeApp(app: FastifyInstance): Promise<void> {
  const late = setTimeout(() => app.server.closeAllConnections(), GRACE)
  await app.close()
  clearTimeout(late)
}

function useCertificate(app: FastifyInstance, certificate: Certificate): void {
  if (!(app.server instanceof TlsServer)) throw new RangeError('the service has no TLS')
  checkCertificate(certificate)
  app.server.setSecureContext({ ...certificate, ...TLS_OPTIONS })
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Warns of each certificate of a chain that clients refuse now. It is used all the same: some service is better than none. */
function warnOfDates({ cert }: Certificate, now: number, log: HttpAppOptions['log']): void {
  for (const pem of cert.match(PEM_CERTIFICATE) ?? []) {
    const { subject, validFrom, validTo } = new X509Certificate(pem)
    if (now > Date.parse(validTo)) log.warn({ subject, validTo }, 'certificate has expired')
    else if (now < Date.parse(validFrom)) log.warn({ subject, validFrom }, 'certificate is not valid yet')
  }
}
