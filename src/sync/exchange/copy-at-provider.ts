import type { Diagnostic } from '../../model/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../model/domain-name.ts'
import type { CopiedZone, Provider } from '../../providers/provider.ts'
import { diagnosticOf } from '../diagnostic-of.ts'
import type { ImportRequest } from './importer.ts'

/**
 * Has the provider itself make the zones that are to be imported, where that is asked for: by a transfer from a name server, or as a
 * copy of another zone. One after another; the first failure ends it, and what was made before it is told.
 */
export async function copyAtProvider(provider: Provider, { zones, options, signal }: ImportRequest): Promise<Diagnostic[]> {
  const { viaService, clone } = options
  if (viaService === undefined && clone === undefined) return []
  const copy = viaService === undefined ? await cloning(provider, clone ?? '', signal) : transferring(provider, viaService, signal)
  if (!('make' in copy)) return [copy]
  const diagnostics: Diagnostic[] = []
  for (const [index, zone] of zones.entries()) {
    try {
      const { remarks } = await copy.make(zone)
      for (const remark of remarks) {
        const message = `${provider.name} made ${zone} with a difference: ${remark}`
        diagnostics.push({ severity: 'warning', code: 'import-lossy', message })
      }
    } catch (error) {
      return [...diagnostics, diagnosticOf(error), ...zones.slice(0, index).map((made) => madeAlready(provider, made))]
    }
  }
  return diagnostics
}

interface Copy {
  readonly make: (zone: DomainName) => Promise<CopiedZone>
}

const unable = (provider: Provider, what: string): Diagnostic => ({
  severity: 'error',
  code: 'usage',
  message: `${provider.name} is of the type ${provider.type}, which does not ${what} zones itself`,
})

function transferring(provider: Provider, nameserver: string, signal: AbortSignal | undefined): Copy | Diagnostic {
  const { importZone } = provider
  return importZone ? { make: (zone) => importZone(zone, nameserver, { signal }) } : unable(provider, 'import')
}

async function cloning(provider: Provider, text: string, signal: AbortSignal | undefined): Promise<Copy | Diagnostic> {
  const { cloneZone } = provider
  if (!cloneZone) return unable(provider, 'clone')
  const name = parseDomainName(text.endsWith('.') ? text : `${text}.`)
  if (!name.ok) return { severity: 'error', code: 'zone-name', message: name.message }
  const source = (await provider.findZones([name.value], { signal })).get(name.value)
  if (!source) return { severity: 'error', code: 'zone-unknown', message: `${provider.name} has no zone ${name.value}` }
  return { make: (zone) => cloneZone(source, zone, { signal }) }
}

const madeAlready = (provider: Provider, zone: DomainName): Diagnostic => ({
  severity: 'warning',
  code: 'zone-undefined',
  message: `${provider.name} has ${zone} now, and nothing defines it`,
  hint: `import it with: zonewright import --from ${provider.name} ${zone.slice(0, -1)}`,
})
