/** The operation that imports a domain by zone transfer. */
import { isIP } from 'node:net'
import DOMAIN from '../../../../schemas/service/domain.json' with { type: 'json' }
import DOMAIN_IMPORT from '../../../../schemas/service/domain-import.json' with { type: 'json' }
import type { DomainName } from '../../../dns/domain-name.ts'
import { storeImport } from '../../store/domain-store.ts'
import { claimZoneName, findNameConflict, lockZoneName } from '../../store/zone-name-store.ts'
import { isTransferFailure, type TransferFailure } from '../../transfers/transfer-failure.ts'
import type { OwnedZone } from '../../transfers/transfer-keys.ts'
import type { TransferredZone } from '../../transfers/transfer-zone.ts'
import { checkQuota } from '../check-quota.ts'
import { grantToCreator } from '../grants.ts'
import { badRequest, RequestError, type RequestProblem } from '../request-error.ts'
import type { Service } from '../route.ts'
import { nameConflictError, parseNewName, zoneNameOf } from './domain-input.ts'
import { DOMAINS } from './domain-routes.ts'
import { convertTransferredZone } from './import-zone.ts'
import { parseHostName } from './name-input.ts'
import { tooManyRecords } from './record-routes.ts'

interface ImportBody {
  readonly domain: string
  readonly remote_nameserver: string
}

/** Transfers the zone, then stores it in one transaction: an import that ends early leaves nothing behind. */
export const IMPORT_ROUTE = DOMAINS.action<ImportBody>(
  'POST',
  '/domains/import',
  'Import a domain by zone transfer',
  async ({ actor, body }, service) => {
    const { database, now, limits, quotas, nsNames, zoneChanged } = service
    const { domain, nameserver } = parseImport(body)
    const zone = zoneNameOf(domain)
    // Fail early. After the transfer the claim and the quota decide.
    await database.write((connection) => checkQuota(connection, actor, 'domains', quotas))
    const conflict = await database.read((connection) => findNameConflict(connection, actor, domain))
    if (conflict !== null) throw nameConflictError(conflict)
    const transferred = await transfer(service, nameserver, { name: zone, accountId: actor.accountId })
    const { settings, records, remarks } = await convertTransferredZone(zone, transferred, nsNames)
    if (records.length > limits.recordsPerDomain) throw badRequest(tooManyRecords(limits))
    const stored = await database.write(async (connection) => {
      const lock = await lockZoneName(connection, domain)
      await checkQuota(connection, actor, 'domains', quotas)
      const claim = await claimZoneName(connection, lock, actor, domain)
      if (!claim.ok) throw nameConflictError(claim.conflict)
      const zoneImport = { settings, records, remarks: remarks.join('\n') }
      const imported = await storeImport(connection, actor.accountId, claim.name, zoneImport, now())
      await grantToCreator(connection, actor, 'domain', imported.id)
      return imported
    })
    zoneChanged(stored.id)
    return stored
  },
  { body: DOMAIN_IMPORT, response: DOMAIN, errors: ['503'], global: 'add_domains' },
)

function parseImport({ domain, remote_nameserver: text }: ImportBody): { readonly domain: string; readonly nameserver: string } {
  const problems: RequestProblem[] = []
  const name = parseNewName(domain, problems)
  const nameserver = isIP(text) !== 0 ? text : parseHostName(text.endsWith('.') ? text : `${text}.`, '.' as DomainName)
  if (nameserver === null) problems.push({ field: 'remote_nameserver', reason: 'remote_nameserver is not valid' })
  if (problems.length > 0 || nameserver === null) throw badRequest(...problems)
  return { domain: name, nameserver }
}

async function transfer({ transfers }: Service, nameserver: string, zone: OwnedZone): Promise<TransferredZone> {
  try {
    return await transfers.fetchZone(nameserver, zone)
  } catch (error) {
    if (!isTransferFailure(error)) throw error
    if (error.reason === 'stopped' || error.reason === 'busy') throw new RequestError(503, [{ field: null, reason: error.message }])
    throw badRequest({ field: 'remote_nameserver', reason: failureText(nameserver, error, transfers.addresses) })
  }
}

/** Failures that a name server or firewall shows if it does not allow the transfer. */
const ACCESS_FAILURES: ReadonlySet<TransferFailure['reason']> = new Set(['refused', 'timeout', 'unreachable'])

/** The error text. If the name server may be refusing transfers, it lists the addresses to allow. */
function failureText(nameserver: string, { reason, message }: TransferFailure, addresses: readonly string[]): string {
  const advice = !ACCESS_FAILURES.has(reason) || addresses.length === 0 ? '' : ` It must allow transfers (AXFR) to ${addresses.join(', ')}.`
  return `The zone could not be transferred: ${nameserver} ${message}.${advice}`
}
