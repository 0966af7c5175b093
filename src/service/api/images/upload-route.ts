import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ImageUploads } from '../../images/image-uploads.ts'
import { UploadProblem, type UploadRefusal } from '../../images/upload-limits.ts'
import { addressCaller, type RateLimiter, rateHeaders } from '../rate-limit.ts'
import { notFound, RequestError } from '../request-error.ts'

/** Where the data of an image is sent to, by PUT; what follows is the secret of one upload. */
export const UPLOADS_PATH = '/uploads/'

/** The path with the secret taken out, for logs. */
export const withoutUploadKey = (path: string): string => path.replace(/^(.*?uploads(?:\/|%2f)).*$/i, '$1(secret)')

/** Connections on which data arrives, for which no time is set but that of the upload. */
const receiving = new WeakSet<object>()

export const isReceiving = (socket: object): boolean => receiving.has(socket)

/** Milliseconds that a sender who has been refused may go on sending, so that it can read why. */
const LINGER = 10_000

/** Adds `PUT /uploads/KEY`, which takes the data of an image: no JSON, and no token but the key. */
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
        // RFC 9110, section 14.5: a part of the data is not to be taken for all of it.
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
        throw refusalOf(error)
      } finally {
        receiving.delete(raw.socket)
      }
    },
  })
}

/** Reads on and forgets, for a while: a connection that is closed on a sender takes the answer with it. */
function drain(stream: Readable): void {
  stream.removeAllListeners('readable')
  stream.on('data', () => undefined).resume()
  const late = setTimeout(() => stream.destroy(), LINGER)
  stream.once('close', () => clearTimeout(late))
}

const mediaTypeOf = ({ headers }: FastifyRequest): string => (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

const NOT_OCTETS = 'The data must be application/octet-stream'

const WORDS: Readonly<Record<Exclude<UploadRefusal, 'unknown' | 'over-quota'>, readonly [status: number, words: string]>> = {
  busy: [409, 'The data of this image is being received already'],
  'too-large': [413, 'The data is larger than'],
  inflates: [413, 'The data is too large:'],
  'no-gzip': [400, 'The data is no gzip file:'],
  silent: [408, 'The data did not come to its end'],
  'no-room': [507, 'There is no space for the data'],
  'too-many': [503, 'Too many uploads are under way. Try again later.'],
  unavailable: [503, 'This service takes no data of images.'],
}

function refusalOf({ refusal, detail }: UploadProblem): RequestError {
  if (refusal === 'unknown') return notFound()
  if (refusal === 'over-quota') return new RequestError(400, [problem(String(detail))])
  const [status, words] = WORDS[refusal]
  const more = detail === null ? '' : typeof detail === 'number' ? ` ${detail} octets` : ` ${detail}`
  return new RequestError(status, [problem(words + more)])
}

const problem = (reason: string) => ({ field: null, reason })
