/** Where it is known how often names are queried: the key `usage` of the config, and `--usage`. */
import { resolve } from 'node:path'
import type { Diagnostic, SourcePosition } from '../base/diagnostic.ts'
import { failure, ok, type Result } from '../base/result.ts'
import { positionAt, type YamlNode } from '../definition/yaml/yaml-node.ts'
import { parseTtl } from '../dns/ttl.ts'
import { displayPath } from '../files/file-path.ts'
import type { ConfigDocument } from './config-document.ts'

/** A CSV file, or an address that has one. */
export type UsageSource = { readonly shown: string; readonly at?: SourcePosition | undefined } & (
  | { readonly path: string; readonly url: null }
  | { readonly path: null; readonly url: URL }
)

export interface UsageConfig {
  readonly sources: readonly UsageSource[]
  /** Seconds: a name that was queried within them is in use. */
  readonly inUse: number
}

/** The service's name server counts for a day. */
export const NO_USAGE: UsageConfig = { sources: [], inUse: 86_400 }

/** Reads the key `usage`. */
export function usageOf(
  { source, in_use: given }: NonNullable<ConfigDocument['usage']>,
  { root, diagnostics }: { readonly root: YamlNode; readonly diagnostics: Diagnostic[] },
  { folder, cwd }: { readonly folder: string; readonly cwd: string },
): UsageConfig {
  const refuse = (message: string, at: SourcePosition): void =>
    void diagnostics.push({ severity: 'error', code: 'schema-value', message, at })
  const sources = [source ?? []].flat().flatMap((text, i): UsageSource[] => {
    const at = positionAt(root, ['usage', 'source', ...(Array.isArray(source) ? [i] : [])])
    const parsed = parseUsageSource(text, folder, cwd)
    if (parsed.ok) return [{ ...parsed.value, at }]
    refuse(`usage.source: ${parsed.message}`, at)
    return []
  })
  const inUse = given === undefined ? ok(NO_USAGE.inUse) : parseTtl(String(given))
  if (inUse.ok && inUse.value > 0) return { sources, inUse: inUse.value }
  refuse(`usage.in_use: ${inUse.ok ? 'must be more than 0' : inUse.message}`, positionAt(root, ['usage', 'in_use']))
  return { sources, inUse: NO_USAGE.inUse }
}

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
