/** Checks the signatures of requests to AWS (Signature Version 4). */
import { createHash, createHmac } from 'node:crypto'
import type { ScriptedRequest } from '../scripted-server.ts'
import { refusal } from './record-sets.ts'

export interface AccessKey {
  readonly id: string
  /** Null if signatures are not checked. */
  readonly secret: string | null
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const uri = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/** Throws a refusal unless the request is signed with the key. */
export function checkSignature({ method, path, query, headers, body }: ScriptedRequest, key: AccessKey): void {
  const header = headers['authorization'] ?? ''
  const [, id, scope = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]+)$/.exec(header) ?? []
  if (id === undefined) throw refusal(403, 'MissingAuthenticationToken', 'Missing Authentication Token')
  if (id !== key.id) throw refusal(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.')
  if (key.secret === null) return
  const canonicalQuery = [...query].map(([name, value]) => `${uri(name)}=${uri(value)}`).sort()
  const signed = names.split(';').map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}\n`)
  const canonical = [method, path, canonicalQuery.join('&'), signed.join(''), names, sha256(body)].join('\n')
  const [date = '', region = '', service = ''] = scope.split('/')
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const signingKey = hmac(hmac(hmac(hmac(`AWS4${key.secret}`, date), region), service), 'aws4_request')
  if (service !== 'route53' || hmac(signingKey, toSign).toString('hex') !== signature)
    throw refusal(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match the signature you provided.')
}
