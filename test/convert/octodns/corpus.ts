import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../corpora/octodns/', import.meta.url))

/** A zone that a project manages with octoDNS, or a fixture of octoDNS's own tests. */
export interface CorpusCase {
  readonly id: string
  readonly zone: string
  readonly files: readonly { readonly file: string; readonly text: string }[]
  readonly isSplit: boolean
  readonly defaultTtl: number
  /** Owner (relative) and type of records that octoDNS supports only with a provider's module. */
  readonly unsupported: readonly (readonly [name: string, type: string])[]
  /** The RRsets that octoDNS loads from the files. */
  readonly expected: readonly ExpectedRrset[]
}

export type ExpectedRrset = { name: string; type: string; ttl: number; values: readonly string[]; extra?: Record<string, unknown> }

const lines = (path: string): string[] =>
  readFileSync(ROOT + path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')

export const CORPUS: readonly CorpusCase[] = lines('cases.jsonl').map((line) => {
  const entry = JSON.parse(line)
  return {
    id: entry.id,
    zone: entry.zone,
    files: entry.files.map((file: string) => ({ file, text: readFileSync(`${ROOT}${entry.dir}/${file}`, 'utf8') })),
    isSplit: entry.split_extension !== null,
    defaultTtl: entry.default_ttl,
    unsupported: entry.unsupported ?? [],
    expected: entry.expected ? lines(entry.expected).map((expected) => JSON.parse(expected)) : [],
  }
})
