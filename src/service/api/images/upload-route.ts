/** The route that receives the data of an image, outside the API: its URL contains a secret key instead of a token. */
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ImageUploads } from '../../images/image-uploads.ts'
import { UploadProblem, type UploadRefusal } from '../../images/upload-limits.ts'
import { addressCaller, type RateLimiter, rateHeaders } from '../rate-limit.ts'
import { notFound, RequestError } from '../request-error.ts'

/** The path that image data is sent to by PUT, followed by the secret key of the upload. */
export const UPLOADS_PATH = '/uploads/'

/** The path without the upload key, for the log. */
export const withoutUploadKey = (path: string): string => path.replace(/^(.*?uploads(?:\/|%2f)).*$/i, '$1(secret)')

/** Sockets that are receiving image data: only the upload's own time limit applies to them. */
const receiving = new WeakSet<object>()

export const isReceiving = (socket: object): boolean => receiving.has(socket)

/** Milliseconds that a refused sender may continue to send, so that it can read the response. */
const DRAIN_TIME = 10_000

/** Adds `PUT /uploads/KEY`, which receives image data. The key is the only credential. */
export function addUploadRoute(app: FastifyInstance, uploads: ImageUploads, limiter: RateLimiter): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  app.route({
    method: 'PUT',
    url: `${UPLOADS_PATH}:key`,
    handler: async (request, reply) => {
      const { raw } = request
      receiving.add(raw.socket)
      try {
        reply.headers(rateHeaders(limiter.take(addressCaller(request.ip), 'PUT /uploads')))
        if (mediaTypeOf(request) !== 'application/octet-stream') throw new RequestError(415, [problem(NOT_OCTETS)])
        // A part of the data must not pass for the whole (RFC 9110 section 14.5).
        if (request.headers['content-range'] !== undefined) throw new RequestError(400, [problem('The data must be sent as a whole')])
        const announced = request.headers['content-length']
        const { key } = request.params as { readonly key: string }
        await uploads.receive(key, (request.body ?? []) as Readable, announced === undefined ? null : Number(announced))
        return {}
      } catch (error) {
        const isStopping = error instanceof UploadProblem && error.refusal === 'unavailable'
        if (isStopping) reply.header('connection', 'close')
        else if (!raw.complete && !raw.destroyed) drain(raw)
        if (!(error instanceof UploadProblem)) throw error
        if (error.refusal === 'too-many') reply.header('retry-after', 60)
        throw requestErrorOf(error)
      } finally {
        receiving.delete(raw.socket)
      }
    },
  })
}

/** Discards further data for a while: closing the connection on a sender would lose the response. */
function drain(stream: Readable): void {
  stream.removeAllListeners('readable')
  stream.on('data', () => undefined).resume()
  const late = setTimeout(() => stream.destroy(), DRAIN_TIME)
  stream.once('close', () => clearTimeout(late))
}

const mediaTypeOf = ({ headers }: FastifyRequest): string => (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

const NOT_OCTETS = 'The data must be application/octet-stream'

const RESPONSES: Readonly<Record<Exclude<UploadRefusal, 'unknown' | 'over-quota'>, readonly [status: number, reason: string]>> = {
  busy: [409, 'The data of this image is already being received'],
  'too-large': [413, 'The data is larger than'],
  inflates: [413, 'The data is too large:'],
  'no-gzip': [400, 'The data is not a valid gzip file:'],
  silent: [408, 'The data is incomplete'],
  'no-room': [507, 'There is not enough space for the data'],
  'too-many': [503, 'Too many uploads are running. Try again later.'],
  unavailable: [503, 'This service accepts no image data.'],
}

function requestErrorOf({ refusal, detail }: UploadProblem): RequestError {
  if (refusal === 'unknown') return notFound()
  if (refusal === 'over-quota') return new RequestError(400, [problem(String(detail))])
  const [status, reason] = RESPONSES[refusal]
  const more = detail === null ? '' : typeof detail === 'number' ? ` ${detail} octets` : ` ${detail}`
  return new RequestError(status, [problem(reason + more)])
}

const problem = (reason: string) => ({ field: null, reason })
