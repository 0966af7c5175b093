/** Reads the sources of usage: files, and addresses such as `/usage` of the service. Never throws: a source that fails makes the usage incomplete. */
import type { UsageConfig, UsageSource } from '../../definition/config/usage-source.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import type { Usage } from '../../plan/usage.ts'
import { durationText } from '../../report/english.ts'
import { endpointOfUrl, readHostPolicy } from '../../transport/allowed-hosts.ts'
import { createHttpClient, TransportError } from '../../transport/http-client.ts'
import { proxyFor } from '../../transport/proxy.ts'
import type { ProcessEnvironment } from '../run-context.ts'
import { readPlanText } from '../saved-plan/saved-plan.ts'
import { type ParsedUsage, parseUsage } from './parse-usage.ts'

/** Octets of a response: a million rows. */
const MAX_OCTETS = 64 * 1024 * 1024

/** Milliseconds without an octet of the response. */
const TIMEOUT = 10_000

/** The usage of the zones, from all sources together: a name is unused if no source has it. */
export async function readUsage(
  { sources, inUse }: UsageConfig,
  zones: ReadonlySet<DomainName>,
  { env, now }: Pick<ProcessEnvironment, 'env' | 'now'>,
  signal?: AbortSignal,
): Promise<Usage> {
  const read = await Promise.all(
    sources.map(async (source) => {
      const text = source.url === null ? await readPlanText(source.path, 'file with usage') : await readUrl(source.url, env, signal)
      const parsed = text.ok ? parseUsage(text.value, zones) : text
      return { source, parsed }
    }),
  )
  const found = read.flatMap(({ parsed }) => (parsed.ok ? [parsed.value] : []))
  const problems = read.flatMap(({ source, parsed }) => sourceProblem(source, parsed, inUse, now().getTime()) ?? [])
  return {
    source: sources.map(({ shown }) => shown).join(', '),
    window: found.length === 0 ? null : { from: Math.max(...found.map(({ from }) => from)), to: endOf(found, now()) },
    queried: new Map([...zones].map((zone) => [zone, found.flatMap(({ queried }) => queried.get(zone) ?? [])])),
    covered: new Set([...zones].filter((zone) => found.every(({ queried }) => queried.has(zone)))),
    incomplete: new Set(found.flatMap(({ incomplete }) => [...incomplete])),
    problem: problems[0] ?? null,
  }
}

const endOf = (found: readonly ParsedUsage[], now: Date): number => Math.min(now.getTime(), ...found.map(({ to }) => to))

/** Why a source does not show that a name is unused; null if it may. */
function sourceProblem({ shown }: UsageSource, parsed: Result<ParsedUsage>, inUse: number, now: number): string | null {
  if (!parsed.ok) return `${shown} cannot be used: ${parsed.message}`
  const { to, isIncomplete } = parsed.value
  if (isIncomplete) return `${shown} does not have the counts of all names`
  return now - to > inUse * 1000
    ? `the counts of ${shown} end at ${new Date(to).toISOString()}, more than in_use, ${durationText(inUse)}, ago`
    : null
}

async function readUrl(url: URL, env: ProcessEnvironment['env'], signal: AbortSignal | undefined): Promise<Result<string>> {
  const refused = readHostPolicy(env).check('usage', endpointOfUrl(url))
  if (refused !== null) return failure(refused.message)
  const diagnostics: Parameters<typeof proxyFor>[2] = []
  const proxy = proxyFor(url, env, diagnostics)
  if (diagnostics[0] !== undefined) return failure(diagnostics[0].message)
  const headers = { 'user-agent': 'zonewright', accept: 'text/csv' }
  const client = createHttpClient({
    baseUrl: new URL(url.origin),
    headers,
    connections: 1,
    timeout: TIMEOUT,
    maxResponse: MAX_OCTETS,
    proxy,
  })
  try {
    const { status, text } = await client.request({ method: 'GET', path: url.pathname + url.search, signal })
    return status === 200 ? ok(text) : failure(`it answers ${status}`)
  } catch (error) {
    if (error instanceof TransportError) return failure(error.message)
    if (signal?.aborted) return failure('the run was interrupted')
    throw error
  } finally {
    await client.close()
  }
}
