/** A provider that reads zones from a name server by transfer (AXFR, RFC 5936) and changes nothing: for `verify` and `import`. */
import type { ProviderConfig } from '../../config/config.ts'
import { serialOf, splitSoa } from '../../dns/soa.ts'
import type { ZoneSettings } from '../../dns/zone.ts'
import { type Capabilities, RRSET_STORE } from '../../plan/capabilities.ts'
import type { ReadOnlyReason } from '../../plan/make-plan.ts'
import {
  addressOf,
  examineNameServer,
  findServedZones,
  type NameServer,
  noZoneList,
  readServed,
  refusePseudoTypes,
  refuseServerTypes,
} from '../name-server.ts'
import { checkNameServer, nameServerEndpoints, readNameServer } from '../name-server-settings.ts'
import { type CreatedProvider, type Provider, type ProviderContext, ProviderError, type ProviderType } from '../provider.ts'
import { createTransferReader } from '../transfer-reader.ts'

/** What a zone can hold that is transferred. Nothing of it can be changed. */
const AXFR_CAPABILITIES: Capabilities = {
  ...RRSET_STORE,
  readOnly: true,
  settings: new Set(['type', 'soa_email', 'ttl_sec', 'refresh_sec', 'retry_sec', 'expire_sec']),
  // Knot DNS and NSD answer with lower-case names.
  lowersMailAddress: true,
  rules: [refusePseudoTypes, refuseServerTypes],
}

export const AXFR: ProviderType = {
  capabilities: AXFR_CAPABILITIES,
  checkSettings: checkNameServer,
  endpoints: nameServerEndpoints,
  create,
}

async function create(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const { server, diagnostics } = await readNameServer(config, context)
  return { provider: server && createAxfrProvider(server), diagnostics }
}

const READ_ONLY: ReadOnlyReason = {
  reason: 'a transfer only reads it',
  hint: '"zonewright verify" compares it; to change the zone, give its definition another target',
}

function createAxfrProvider(options: NameServer): Provider {
  const { provider, parallelism } = options
  const reader = createTransferReader(options)
  const provided: Provider = {
    name: provider,
    type: 'axfr',
    address: addressOf(options),
    capabilities: AXFR_CAPABILITIES,
    parallelism,
    async findZones(names, call) {
      const found = await findServedZones(options, names, call)
      // The settings come with the records.
      return new Map(found.map((name) => [name, { name, id: name, settings: {} }]))
    },
    async listZones() {
      throw noZoneList(provider)
    },
    async readZone({ name }, call) {
      const { soa, records, signerRecords } = await reader.read(name, call)
      const settings: ZoneSettings = { type: 'master', ...splitSoa(soa).settings }
      const zone = { name, id: name, settings, records, serial: serialOf(soa), signerRecords }
      return { ...zone, readOnly: READ_ONLY }
    },
    readNamedZone: (name, call) => readServed(options, name, () => provided.readZone({ name, id: name, settings: {} }, call), call),
    examine: (usage) =>
      examineNameServer(
        provided,
        options,
        { unsigned: null, missing: 'correct "server", or the targets of the zones', tryUpdate: null },
        usage,
      ),
    async apply(zone) {
      throw new ProviderError('zone-read-only', `${provider}: ${zone?.name ?? 'the zone'} cannot be changed: ${READ_ONLY.reason}`, {
        hint: READ_ONLY.hint,
      })
    },
    close: async () => undefined,
  }
  return provided
}
