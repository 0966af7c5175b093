/** Makes a provider create zones, by transfer or as copies, before their import. */
import { isIP } from 'node:net'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { parseServerAddress } from '../../dns/server-address.ts'
import { type CopiedZone, diagnosticOf, type Provider, type ProviderCallOptions, ProviderError } from '../../providers/provider.ts'
import type { ImportRequest } from '../importer.ts'

/**
 * Has the provider create the zones to import (`viaService`, `clone`): by a transfer from a name server or as copies of another zone. Does
 * nothing if one of them already exists. Creates one zone at a time and stops at the first failure.
 */
export async function copyZones(provider: Provider, request: ImportRequest): Promise<Diagnostic[]> {
  const { zones, options, signal, stop, onZoneCreated = () => undefined } = request
  const { viaService, clone } = options
  if (viaService === undefined && clone === undefined) return []
  const call = { signal, stop }
  const copy = viaService === undefined ? await cloneFrom(provider, clone ?? '', call) : transferFrom(provider, viaService, call)
  if (!('make' in copy)) return [copy]
  const existing = await provider.findZones(zones, call)
  if (existing.size > 0) return [...existing.keys()].map((zone) => zoneExists(provider, zone))
  const diagnostics: Diagnostic[] = []
  for (const zone of zones) {
    if (stop?.aborted) return [...diagnostics, notSent(provider, zone)]
    try {
      const { remarks } = await copy.make(zone)
      onZoneCreated(zone)
      for (const remark of remarks) {
        const message = `${provider.name} created ${zone} with a difference: ${remark}`
        diagnostics.push({ severity: 'warning', code: 'import-lossy', message })
      }
    } catch (error) {
      return [...diagnostics, diagnosticOf(error), ...(await checkAfterFailure(provider, zone, error, onZoneCreated))]
    }
  }
  return diagnostics
}

/** Checks whether a zone was created although the call failed without saying so. */
async function checkAfterFailure(
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
  const message = `${provider.name} may have created ${zone}, or may still be doing so`
  return [{ severity: 'warning', code: 'zone-undefined', message, hint: importHint(provider.name, zone) }]
}

const zoneExists = (provider: Provider, zone: DomainName): Diagnostic => ({
  severity: 'error',
  code: 'zone-exists',
  message: `${provider.name} already has ${zone}, so nothing was created`,
  hint: importHint(provider.name, zone),
})

const notSent = (provider: Provider, zone: DomainName): Diagnostic => ({
  severity: 'error',
  code: 'provider-stopped',
  message: `${provider.name}: ${zone} was not created, because the run was stopped`,
})

const importHint = (provider: string, zone: DomainName): string =>
  `import it with: zonewright import --from ${provider} ${zone.slice(0, -1)}`

/** Warns of a zone that a provider has created without a definition being written. */
export const createdZoneWarning = (provider: string, zone: DomainName): Diagnostic => ({
  severity: 'warning',
  code: 'zone-undefined',
  message: `${provider} now has ${zone}, and no definition for it was written`,
  hint: importHint(provider, zone),
})

interface Copy {
  readonly make: (zone: DomainName) => Promise<CopiedZone>
}

const unsupported = (provider: Provider, what: string): Diagnostic => ({
  severity: 'error',
  code: 'usage',
  message: `${provider.name} has the type ${provider.type}, which cannot ${what} zones`,
})

function transferFrom(provider: Provider, nameserver: string, call: ProviderCallOptions): Copy | Diagnostic {
  const { importZone } = provider
  return importZone ? { make: (zone) => importZone(zone, nameserver, call) } : unsupported(provider, 'import')
}

async function cloneFrom(provider: Provider, text: string, call: ProviderCallOptions): Promise<Copy | Diagnostic> {
  const { cloneZone } = provider
  if (!cloneZone) return unsupported(provider, 'clone')
  const name = parseAbsoluteName(text)
  if (!name.ok) return { severity: 'error', code: 'zone-name', message: name.message }
  const source = (await provider.findZones([name.value], call)).get(name.value)
  if (!source) return { severity: 'error', code: 'zone-unknown', message: `${provider.name} has no zone ${name.value}` }
  return { make: (zone) => cloneZone(source, zone, call) }
}

/** A host name in A-labels. Its last label is not numeric, as that of an address would be (RFC 1123 section 2.1). */
const HOST_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?\.$/

/** Parses the name server that a provider will transfer from. Returns an address, or a name without the final dot; a port is an error. */
export function parseNameServer(text: string): Result<string> {
  const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text
  if (isIP(bare) !== 0 && !bare.includes('%')) return ok(bare)
  const name = parseAbsoluteName(text)
  if (name.ok && HOST_NAME.test(name.value)) return ok(name.value.slice(0, -1))
  const { host, port } = parseServerAddress(text)
  if (host !== text && host !== bare && parseNameServer(host).ok)
    return failure(`${JSON.stringify(text)} has the port ${port}, but the provider asks name servers at port 53 only`)
  return failure(`${JSON.stringify(text)} is neither the address nor the name of a name server`)
}
