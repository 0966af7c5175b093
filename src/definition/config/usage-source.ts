/** Where it is known how often names are asked for: the key `usage` of the config, and `--usage`. */
import { resolve } from 'node:path'
import type { SourcePosition } from '../../dns/diagnostic.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import { displayPath } from '../files/file-path.ts'

/** A CSV file, or an address that has one. */
export type UsageSource = { readonly shown: string; readonly at?: SourcePosition | undefined } & (
  | { readonly path: string; readonly url: null }
  | { readonly path: null; readonly url: URL }
)

export interface UsageConfig {
  readonly sources: readonly UsageSource[]
  /** Seconds: a name that was asked for within them is in use. */
  readonly inUse: number
}

/** The service's name server counts for a day. */
export const NO_USAGE: UsageConfig = { sources: [], inUse: 86_400 }

/** Parses a source. Paths are relative to `folder`, and shown relative to `cwd`; an address is shown without its query, which may be secret. */
export function parseUsageSource(text: string, folder: string, cwd: string): Result<UsageSource> {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    const path = resolve(folder, text)
    return ok({ path, url: null, shown: displayPath(path, cwd) })
  }
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return failure('an address begins with https:// or http://')
  if (url.username !== '' || url.password !== '') return failure('an address cannot have a user name or password')
  return ok({ path: null, url, shown: `${url.origin}${url.pathname}` })
}
