import { isIP } from 'node:net'
import DOMAIN from '../../../../schemas/service/domain.json' with { type: 'json' }
import DOMAIN_IMPORT from '../../../../schemas/service/domain-import.json' with { type: 'json' }
import type { DomainName } from '../../../model/domain-name.ts'
import { isDomainTaken } from '../../store/domain-store.ts'
import { storeImport } from '../../store/import-store.ts'
import { isTransferFailure, type TransferFailure } from '../../transfers/transfer-failure.ts'
import type { TransferredZone } from '../../transfers/transfer-zone.ts'
import { grantToCreator } from '../grants.ts'
import { invalid, RequestError, type RequestFault } from '../request-error.ts'
import { defineRoute, type Service } from '../route.ts'
import { DOMAIN_NOT_VALID, domainTaken } from './domain-input.ts'
import { readDomain, readHostName } from './host-name.ts'
import { importZone } from './imported-zone.ts'
import { limitReached } from './record-limit.ts'

interface ImportBody {
  readonly domain: string
  readonly remote_nameserver: string
}

/** The zone is transferred first and stored afterwards, in one transaction: an import that ends early leaves nothing. */
export const IMPORT_ROUTE = defineRoute<ImportBody>({
  method: 'POST',
  path: '/domains/import',
  summary: 'Import a domain by zone transfer',
  scope: 'domains:read_write',
  needs: { global: 'add_domains' },
  body: DOMAIN_IMPORT,
  response: DOMAIN,
  handle: async ({ actor, body }, service) => {
    const { database, now, limits, nsNames, zoneChanged } = service
    const { zone, nameserver } = readImport(body)
    const domain = zone.slice(0, -1)
    // Before all the work; whether it still is free is decided with the insert.
    if (await database.read((connection) => isDomainTaken(connection, domain, 0))) throw domainTaken()
    const { settings, records, remarks } = await importZone(zone, await transfer(service, nameserver, zone), nsNames)
    if (records.length > limits.recordsPerDomain) throw invalid(limitReached(limits))
    const stored = await database.write(async (connection) => {
      const imported = await storeImport(connection, actor.accountId, { settings, records, remarks: remarks.join('\n') }, now())
      if (imported === null) throw domainTaken()
      await grantToCreator(connection, actor, 'domain', imported.id)
      return imported
    })
    zoneChanged(stored.id)
    return stored
  },
})

function readImport({ domain, remote_nameserver: text }: ImportBody): { readonly zone: DomainName; readonly nameserver: string } {
  const zone = readDomain(domain)
  const nameserver = isIP(text) !== 0 ? text : readHostName(text.endsWith('.') ? text : `${text}.`, '.' as DomainName)
  const faults: RequestFault[] = zone === null ? [DOMAIN_NOT_VALID] : []
  if (nameserver === null) faults.push({ field: 'remote_nameserver', reason: 'remote_nameserver is not valid' })
  if (zone === null || nameserver === null) throw invalid(...faults)
  return { zone, nameserver }
}

async function transfer({ transfers }: Service, nameserver: string, zone: DomainName): Promise<TransferredZone> {
  try {
    return await transfers.fetchZone(nameserver, zone)
  } catch (error) {
    if (!isTransferFailure(error)) throw error
    if (error.reason === 'stopped' || error.reason === 'busy') throw new RequestError(503, [{ field: null, reason: error.message }])
    throw invalid({ field: 'remote_nameserver', reason: failureText(nameserver, error, transfers.addresses) })
  }
}

/** What a name server, or a packet filter before it, does that does not let the service have a zone. */
const SHUT_OUT: ReadonlySet<TransferFailure['reason']> = new Set(['refused', 'timeout', 'unreachable'])

/** With the addresses that the name server must let transfer the zone, where it may be that it does not and they are known. */
function failureText(nameserver: string, { reason, message }: TransferFailure, addresses: readonly string[]): string {
  const advice = !SHUT_OUT.has(reason) || addresses.length === 0 ? '' : ` It must allow transfers (AXFR) to ${addresses.join(', ')}.`
  return `The zone could not be transferred: ${nameserver} ${message}.${advice}`
}
