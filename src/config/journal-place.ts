/** Reads the key `journal` of the config: where the journal of runs is. */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Diagnostic } from '../base/diagnostic.ts'
import { quoted } from '../base/text.ts'
import { positionAt, type YamlNode } from '../definition/yaml/yaml-node.ts'
import { parseTtl } from '../dns/ttl.ts'
import type { BucketConfig, Config, JournalStoreConfig } from './config.ts'
import type { JournalDocument } from './config-document.ts'

/** Seconds. */
const LEASE = 60
const SHORTEST_LEASE = 3
const LONGEST_LEASE = 3600

/** The journal of one machine. */
export const LOCAL_JOURNAL: JournalStoreConfig = { isShared: false, bucket: null, leaseSeconds: LEASE }

type JournalPlace = Pick<Config, 'journal' | 'journalStore'>

/** The folder and the store of the journal. Paths are relative to the `folder` of the config. */
export function journalOf(
  given: string | JournalDocument | undefined,
  { root, diagnostics }: { readonly root: YamlNode; readonly diagnostics: Diagnostic[] },
  folder: string,
  base: JournalPlace,
): JournalPlace {
  if (given === undefined) return { journal: base.journal, journalStore: base.journalStore }
  const document = typeof given === 'string' ? { dir: given } : given
  const refuse = (key: keyof JournalDocument, message: string, hint?: string): void =>
    void diagnostics.push({
      severity: 'error',
      code: 'schema-value',
      message: `journal.${key}: ${message}`,
      at: positionAt(root, ['journal', key]),
      hint,
    })
  const journal = document.dir === undefined ? base.journal : resolve(folder, document.dir)
  const local = { journal, journalStore: { ...base.journalStore, leaseSeconds: leaseOf(document, refuse) } }
  const place = document.url === undefined ? null : placeOf(document.url, refuse)
  const ofBucket = (['region', 'endpoint', 'profile'] as const).filter((key) => document[key] !== undefined)
  if (place === null || place.kind === 'folder') {
    for (const key of ofBucket) refuse(key, 'needs a url that begins with s3://')
    if (place === null) return local
    if (document.dir !== undefined) refuse('dir', 'cannot be used with a file: url, which names the folder')
    return { journal: place.path, journalStore: { ...local.journalStore, isShared: true } }
  }
  const { region = null, profile = null } = document
  const bucket: BucketConfig = {
    name: place.name,
    prefix: place.prefix,
    region,
    profile,
    endpoint: endpointOf(document.endpoint, refuse),
    at: positionAt(root, ['journal', 'url']),
  }
  return { journal, journalStore: { ...local.journalStore, isShared: true, bucket } }
}

type Refuse = (key: keyof JournalDocument, message: string, hint?: string) => void

function leaseOf({ lease }: JournalDocument, refuse: Refuse): number {
  if (lease === undefined) return LEASE
  const parsed = parseTtl(String(lease))
  if (parsed.ok && parsed.value >= SHORTEST_LEASE && parsed.value <= LONGEST_LEASE) return parsed.value
  refuse('lease', `${quoted(String(lease))} is not a time from ${SHORTEST_LEASE}s to ${LONGEST_LEASE / 3600}h`)
  return LEASE
}

type Place =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'bucket'; readonly name: string; readonly prefix: string }

/** Names of buckets (Amazon S3 user guide, "General purpose bucket naming rules"). */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

const PREFIX = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/|$))*$/

const MAX_PREFIX = 200

function placeOf(text: string, refuse: Refuse): Place | null {
  const [, bucket, path = ''] = /^s3:\/\/([^/?#]+)(?:\/([^?#]*))?$/.exec(text) ?? []
  const prefix = path.replace(/\/+$/, '')
  if (bucket !== undefined) {
    if (BUCKET.test(bucket) && PREFIX.test(prefix) && prefix.length <= MAX_PREFIX) return { kind: 'bucket', name: bucket, prefix }
  } else if (text.startsWith('file:///')) {
    try {
      return { kind: 'folder', path: fileURLToPath(text) }
    } catch {
      // Reported below.
    }
  }
  // The text before an @ may be a password.
  refuse(
    'url',
    `${quoted(text.replace(/\/\/.*@/, '//***@'))} is not the URL of a store`,
    'write file:///PATH, or s3://BUCKET/PREFIX without credentials',
  )
  return null
}

function endpointOf(text: string | undefined, refuse: Refuse): URL | null {
  if (text === undefined) return null
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '' && url.pathname === '/'
  if (isPlain && (url.protocol === 'https:' || url.protocol === 'http:')) return url
  refuse('endpoint', 'is not an https: or http: URL of a host, without a path', 'such as https://minio.example.com:9000')
  return null
}

// The host of a bucket.

type Environment = Readonly<Record<string, string | undefined>>

const REGION = 'us-east-1'

/** Where the requests for a bucket go. With its name in the path, one host serves all buckets of a region. */
export const endpointOfBucket = ({ endpoint, region }: Pick<BucketConfig, 'endpoint' | 'region'>, env: Environment): URL =>
  endpoint ?? new URL(`https://s3.${regionOf({ region }, env)}.amazonaws.com`)

/** The region of the config, or that of the environment. */
export const regionOf = ({ region }: Pick<BucketConfig, 'region'>, { AWS_REGION: own, AWS_DEFAULT_REGION: usual }: Environment): string =>
  region ?? (/^[a-z0-9-]+$/.exec(own || usual || '')?.[0] || REGION)
