/** Refreshes `spfcache.json`: the SPF records that programs flatten. */
import { dirname, join } from 'node:path'
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import type { Config } from '../../config/config.ts'
import { parseTxtRdata } from '../../dns/character-string.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import type { ServerAddress } from '../../dns/server-address.ts'
import { displayPath } from '../../files/file-path.ts'
import { readText } from '../../files/read-text.ts'
import type { OutputFile } from '../../files/write-files.ts'
import { findDefinitions } from '../../load/find-definitions.ts'
import { queryDns, systemResolvers } from '../../transport/dns-client.ts'
import { isDnsFailure } from '../../transport/dns-exchange.ts'
import { runDnsconfigFile } from '../load-program.ts'
import { isDnsconfig, SPF_CACHE } from './run-dnsconfig.ts'
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
  const programs = found.definitions.filter(({ path }) => isDnsconfig(path))
  const diagnostics: Diagnostic[] = [...found.diagnostics]
  if (programs.length === 0 && !hasErrors(diagnostics))
    diagnostics.push({
      severity: 'error',
      code: 'no-definitions',
      message: 'spf needs a dnsconfig.js with SPF records to flatten, and neither the command line nor the config names one',
      hint: 'name it, such as: zonewright spf ./dnsconfig.js; YAML definitions do not need spf',
    })
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

/** The SPF record of a name (RFC 7208 section 4.5), from the first resolver that answers. A failure is worded to follow the name. */
async function querySpf(name: DomainName, resolvers: readonly ServerAddress[]): Promise<Result<string>> {
  let problem = 'cannot be queried: this machine has no resolver'
  for (const resolver of resolvers) {
    try {
      const { rcode, answers } = await queryDns(resolver, { name, type: 'TXT', recursion: true })
      if (rcode !== 'NOERROR') {
        problem = `was answered with ${rcode} by ${resolver.host}`
        continue
      }
      const texts = answers.flatMap(({ type, data }) => (type === 'TXT' ? Buffer.from(parseTxtRdata(data) ?? []).toString('utf8') : []))
      const [record, ...more] = texts.filter((text) => /^v=spf1(?: |$)/i.test(text))
      if (record === undefined) return failure('has no SPF record')
      return more.length > 0 ? failure('has several SPF records') : ok(record)
    } catch (error) {
      if (!isDnsFailure(error)) throw error
      problem = `cannot be queried: ${error.message}`
    }
  }
  return failure(problem)
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
