/** The body that creates a zone. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { ZoneSettings } from '../../dns/zone.ts'
import type { RrsetChange } from '../../plan/changesets.ts'
import { rdataToApi, typeToApi } from './rdata-format.ts'
import { newSoa } from './soa.ts'

/** What zones are created with, beside what definitions say. */
export interface NewZones {
  /** The kind of zones that are no secondaries. */
  readonly kind: 'Master' | 'Native' | 'Producer'
  /** How the server raises the serial after changes by the API; null for its default. */
  readonly soaEditApi: string | null
  readonly account: string | null
  /** Names of TSIG keys that may transfer the zone. */
  readonly primaryKeys: readonly string[]
  /** Names of TSIG keys with which the server transfers a secondary zone. */
  readonly secondaryKeys: readonly string[]
}

/** `rrsets`: those of the first call. */
export function creationBody(name: DomainName, settings: ZoneSettings, rrsets: readonly RrsetChange[], newZones: NewZones): object {
  const isSecondary = settings.type === 'slave'
  const nameserver = rrsets.find((rrset) => rrset.type === 'NS' && rrset.name === name)?.desired?.data[0]
  const soa = isSecondary ? null : newSoa(name, settings, nameserver)
  return {
    name,
    kind: isSecondary ? 'Slave' : newZones.kind,
    nameservers: [],
    masters: settings.master_ips ?? [],
    rrsets: [...(soa === null ? [] : [soa]), ...rrsets.map(apiRrset)],
    ...(newZones.soaEditApi !== null && { soa_edit_api: newZones.soaEditApi }),
    ...(newZones.account !== null && { account: newZones.account }),
    ...(newZones.primaryKeys.length > 0 && { master_tsig_key_ids: newZones.primaryKeys }),
    ...(newZones.secondaryKeys.length > 0 && { slave_tsig_key_ids: newZones.secondaryKeys }),
  }
}

const apiRrset = ({ name, type, desired }: RrsetChange): object => ({
  name,
  type: typeToApi(type),
  ttl: desired?.ttl ?? 0,
  records: (desired?.data ?? []).map((data) => ({ content: rdataToApi(type, data).content, disabled: false })),
})
