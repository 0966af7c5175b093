import { isIP } from 'node:net'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import { parseServerAddress } from '../../dns/server-address.ts'
import { type CopiedZone, diagnosticOf, type Provider, type ProviderCallOptions, ProviderError } from '../../providers/provider.ts'
import type { ImportRequest } from '../importer.ts'

/**
 * Has the provider itself make the zones that are to be imported, where that is asked for: by a transfer from a name server, or as a
 * copy of another zone. Nothing is begun where it has one of them already. One after another; the first failure ends it.
 */
export async function copyAtProvider(provider: Provider, request: ImportRequest): Promise<Diagnostic[]> {
  const { zones, options, signal, stop, onZoneCreated = () => undefined } = request
  const { viaService, clone } = options
  if (viaService === undefined && clone === undefined) return []
  const call = { signal, stop }
  const copy = viaService === undefined ? await cloning(provider, clone ?? '', call) : transferring(provider, viaService, call)
  if (!('make' in copy)) return [copy]
  const there = await provider.findZones(zones, call)
  if (there.size > 0) return [...there.keys()].map((zone) => existsAlready(provider, zone))
  const diagnostics: Diagnostic[] = []
  for (const zone of zones) {
    if (stop?.aborted) return [...diagnostics, notBegun(provider, zone)]
    try {
      const { remarks } = await copy.make(zone)
      onZoneCreated(zone)
      for (const remark of remarks) {
        const message = `${provider.name} made ${zone} with a difference: ${remark}`
        diagnostics.push({ severity: 'warning', code: 'import-lossy', message })
      }
    } catch (error) {
      return [...diagnostics, diagnosticOf(error), ...(await lookAfter(provider, zone, error, onZoneCreated))]
    }
  }
  return diagnostics
}

/** Whether a zone was made after all, where the failure does not tell. */
async function lookAfter(
  provider: Provider,
  zone: DomainName,
  error: unknown,
  onZoneCreated: (zone: DomainName) => void,
): Promise<Diagnostic[]> {
  if (!(error instanceof ProviderError && error.ambiguous)) return []
  const found = await provider.findZones([zone]).then(
    (zones) => zones.has(zone),
    () => null,
  )
  if (found) {
    onZoneCreated(zone)
    return []
  }
  if (found === false && !error.mayCompleteLater) return []
  const message = `${provider.name} may have made ${zone}, or be at it still`
  return [{ severity: 'warning', code: 'zone-undefined', message, hint: importHint(provider.name, zone) }]
}

const existsAlready = (provider: Provider, zone: DomainName): Diagnostic => ({
  severity: 'error',
  code: 'zone-exists',
  message: `${provider.name} has ${zone} already, and nothing was made`,
  hint: importHint(provider.name, zone),
})

const notBegun = (provider: Provider, zone: DomainName): Diagnostic => ({
  severity: 'error',
  code: 'provider-stopped',
  message: `${provider.name}: ${zone} was not begun, since the run was stopped`,
})

const importHint = (provider: string, zone: DomainName): string =>
  `what it has is imported with: zonewright import --from ${provider} ${zone.slice(0, -1)}`

/** What is told of a zone that a provider has made, where no definition of it came of it. */
export const createdZoneWarning = (provider: string, zone: DomainName): Diagnostic => ({
  severity: 'warning',
  code: 'zone-undefined',
  message: `${provider} has ${zone} now, and nothing defines it`,
  hint: importHint(provider, zone),
})

interface Copy {
  readonly make: (zone: DomainName) => Promise<CopiedZone>
}

const unable = (provider: Provider, what: string): Diagnostic => ({
  severity: 'error',
  code: 'usage',
  message: `${provider.name} is of the type ${provider.type}, which does not ${what} zones itself`,
})

function transferring(provider: Provider, nameserver: string, call: ProviderCallOptions): Copy | Diagnostic {
  const { importZone } = provider
  return importZone ? { make: (zone) => importZone(zone, nameserver, call) } : unable(provider, 'import')
}

async function cloning(provider: Provider, text: string, call: ProviderCallOptions): Promise<Copy | Diagnostic> {
  const { cloneZone } = provider
  if (!cloneZone) return unable(provider, 'clone')
  const name = parseDomainName(text.endsWith('.') ? text : `${text}.`)
  if (!name.ok) return { severity: 'error', code: 'zone-name', message: name.message }
  const source = (await provider.findZones([name.value], call)).get(name.value)
  if (!source) return { severity: 'error', code: 'zone-unknown', message: `${provider.name} has no zone ${name.value}` }
  return { make: (zone) => cloneZone(source, zone, call) }
}

/** A host name in A-labels whose last label is no number, as those of addresses are (RFC 1123 section 2.1). */
const HOST_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?\.$/

/** The name server that a provider is to transfer from, as its interface takes it: an address, or a name without the final dot, and no port. */
export function parseNameServer(text: string): Result<string> {
  const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text
  if (isIP(bare) !== 0 && !bare.includes('%')) return ok(bare)
  const name = parseDomainName(text.endsWith('.') ? text : `${text}.`)
  if (name.ok && HOST_NAME.test(name.value)) return ok(name.value.slice(0, -1))
  const { host, port } = parseServerAddress(text)
  if (host !== text && host !== bare && parseNameServer(host).ok)
    return failure(`${JSON.stringify(text)} has a port, and the provider asks name servers at port 53 only (${port} cannot be meant)`)
  return failure(`${JSON.stringify(text)} is neither the address nor the name of a name server`)
}
