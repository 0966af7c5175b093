/** Refreshes `spfcache.json`: the SPF records that programs flatten. */
import { dirname, join } from 'node:path'
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import type { Config } from '../../config/config.ts'
import { parseAbsoluteName } from '../../dns/domain-name.ts'
import type { ServerAddress } from '../../dns/server-address.ts'
import { displayPath } from '../../files/file-path.ts'
import { readText } from '../../files/read-text.ts'
import type { OutputFile } from '../../files/write-files.ts'
import { findDefinitions } from '../../load/find-definitions.ts'
import { systemResolvers } from '../../transport/dns-client.ts'
import { querySpf } from '../../transport/spf-record.ts'
import { runDnsconfigFile } from '../load-program.ts'
import { SPF_CACHE } from './run-dnsconfig.ts'
import { printSpfCache, readSpfCache, type SpfCache } from './spf.ts'

export interface RefreshedCache {
  /** Its folder is absolute. */
  readonly folder: string
  readonly file: OutputFile
  /** One line per name whose record differs from that of the file. */
  readonly changes: readonly string[]
}

export interface RefreshedCaches {
  readonly caches: readonly RefreshedCache[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Queries what the programs of a config, or those in `paths`, flatten: `given` resolvers, or those of this machine. Writes nothing. */
export async function refreshSpf(
  config: Config,
  paths: readonly string[] | null,
  given: readonly ServerAddress[] | null,
): Promise<RefreshedCaches> {
  const resolvers = given ?? systemResolvers()
  const found = await findDefinitions(config, paths)
  const programs = found.definitions.filter(({ kind }) => kind === 'program')
  const diagnostics: Diagnostic[] = [...found.diagnostics]
  if (programs.length === 0 && !hasErrors(diagnostics))
    diagnostics.push({ severity: 'error', code: 'no-definitions', message: 'the config names no dnsconfig.js', hint: 'add its path' })
  const folders = new Map<string, Map<string, string>>()
  for (const { path } of hasErrors(diagnostics) ? [] : programs) {
    const folder = dirname(path)
    const cache = folders.get(folder) ?? new Map<string, string>()
    folders.set(folder, cache)
    diagnostics.push(...(await collect(path, config, cache, resolvers)))
  }
  const caches = await Promise.all(
    [...folders].filter(([, cache]) => cache.size > 0).map(([folder, cache]) => compare(folder, cache, config)),
  )
  return { caches, diagnostics }
}

/** Runs the program until it flattens nothing that is unknown. */
async function collect(
  path: string,
  config: Config,
  cache: Map<string, string>,
  resolvers: readonly ServerAddress[],
): Promise<readonly Diagnostic[]> {
  for (;;) {
    const missing = new Set<string>()
    const lookUpSpf = (name: string): string => {
      if (!cache.has(name)) missing.add(name)
      return cache.get(name) ?? 'v=spf1'
    }
    const { diagnostics } = await runDnsconfigFile(path, config, { lookUpSpf })
    if (hasErrors(diagnostics)) return diagnostics
    if (missing.size === 0) return []
    for (const text of missing) {
      const name = parseAbsoluteName(text)
      const record = name.ok ? await querySpf(name.value, resolvers) : name
      if (!record.ok) return [{ severity: 'error', code: 'nameserver-failed', message: `${text} ${record.message}` }]
      cache.set(text, record.value)
    }
  }
}

async function compare(folder: string, cache: SpfCache, config: Config): Promise<RefreshedCache> {
  const path = join(folder, SPF_CACHE)
  const text = await readText(path, displayPath(path, config.cwd), null)
  const former = (text.ok ? readSpfCache(text.text) : null) ?? new Map<string, string>()
  const changes = [...new Set([...former.keys(), ...cache.keys()])].sort().flatMap((name) => {
    const [from, to] = [former.get(name), cache.get(name)]
    return from === to ? [] : [to === undefined ? `${name}: no longer used` : `${name}: ${to}`]
  })
  return { folder, file: { path: SPF_CACHE, text: printSpfCache(cache) }, changes }
}
