/** Zones behind a child process: finding one is reading it, because the code has no other way to say that it exists. */
import type { DomainName } from '../dns/domain-name.ts'
import { sleep } from '../transport/retry.ts'
import type { LoggedMessage } from './bridge-session.ts'
import { type ProviderCallOptions, ProviderError, type ZoneReference } from './provider.ts'
import { masterZone } from './zone-lists.ts'

interface BridgedZone {
  readonly exists: boolean
  readonly logs: readonly LoggedMessage[]
}

/** Milliseconds for which a zone that was read to find it is used instead of another read. */
const FRESH_FOR = 600_000
/** Milliseconds before a failed read is repeated. */
const READ_PAUSE = 500

export function bridgedZones<Zone extends BridgedZone>(
  provider: string,
  readOnce: (name: DomainName, call?: ProviderCallOptions) => Promise<Zone>,
) {
  /** Zones that were read to find them, until they are read. */
  const readings = new Map<DomainName, { readonly at: number; readonly zone: Zone | ProviderError }>()

  /** Much code repeats nothing, so a read that failed for the moment is repeated once. */
  async function read(name: DomainName, call?: ProviderCallOptions): Promise<Zone> {
    try {
      return await readOnce(name, call)
    } catch (error) {
      if (!(error instanceof ProviderError) || !isTransient(error)) throw error
      await sleep(READ_PAUSE, call?.stop ?? call?.signal).catch(() => undefined)
      return readOnce(name, call)
    }
  }

  return {
    /** The error of one zone does not hide the others. */
    async find(names: readonly DomainName[], call?: ProviderCallOptions): Promise<ReadonlyMap<DomainName, ZoneReference>> {
      const found = new Map<DomainName, ZoneReference>()
      const errors: ProviderError[] = []
      for (const name of new Set(names)) {
        const zone = await read(name, call).catch((error: unknown) => {
          if (!(error instanceof ProviderError) || ENDING.has(error.code)) throw error
          errors.push(error)
          return error
        })
        if (!(zone instanceof ProviderError) && !zone.exists) continue
        readings.set(name, { at: performance.now(), zone })
        found.set(name, masterZone(name, name))
      }
      const [error] = errors
      if (error !== undefined && errors.length === found.size) throw error
      return found
    },
    async read({ name }: ZoneReference, call?: ProviderCallOptions): Promise<Zone> {
      const known = readings.get(name)
      readings.delete(name)
      const zone = known !== undefined && performance.now() - known.at < FRESH_FOR ? known.zone : await read(name, call)
      if (zone instanceof ProviderError) throw zone
      if (!zone.exists) throw new ProviderError('provider-not-found', `${provider}: reading ${name}: the zone does not exist`)
      return zone
    },
    forget: (): void => readings.clear(),
  }
}

const isTransient = ({ code, status }: ProviderError): boolean => code === 'provider-unreachable' || (status !== null && status >= '500')

/** Errors that reading any other zone would meet, too. */
const ENDING: ReadonlySet<string> = new Set([
  'provider-unreachable',
  'provider-timeout',
  'provider-unauthorized',
  'provider-stopped',
  'provider-class',
])
