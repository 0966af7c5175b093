/**
 * Converts a transferred zone to a domain: the SOA to its settings, each record to a record of the service. Remarks report everything that is
 * skipped or changed. Every record passes the rules of a create, so an import adds nothing that a request could not. The result is then
 * compared with the original, so no record changes its meaning unnoticed.
 */
import { isIP } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import DOMAIN from '../../../../schemas/service/domain.json' with { type: 'json' }
import DOMAIN_IMPORT from '../../../../schemas/service/domain-import.json' with { type: 'json' }
import { txtRdataToOctets, unescapeString } from '../../../dns/character-string.ts'
import { type DomainName, labelsOf, parentOf, relativeName } from '../../../dns/domain-name.ts'
import { rdataFields } from '../../../dns/rdata/canonical.ts'
import type { ServedRecord } from '../../nameserver/zone-data.ts'
import { claimZoneName, type DomainSettings, findNameConflict, lockZoneName, storeImport } from '../../store/domain-store.ts'
import type { RecordFields } from '../../store/record-store.ts'
import { isTransferFailure, type TransferFailure } from '../../transfers/peer.ts'
import type { OwnedZone } from '../../transfers/transfer-keys.ts'
import type { SoaFields, TransferredZone } from '../../transfers/transfer-zone.ts'
import { recordRdata } from '../../zone/render-zone.ts'
import { checkQuota } from '../check-quota.ts'
import { grantToCreator } from '../grants.ts'
import { badRequest, RequestError, type RequestProblem } from '../request-error.ts'
import type { Service } from '../route.ts'
import { DOMAINS, nameConflictError, parseNewName, roundDomainTime, zoneNameOf } from './domain-routes.ts'
import { parseEmail, parseHostName } from './name-input.ts'
import { type RecordBody, recordToCreate, tooManyRecords } from './record-routes.ts'

interface ImportedZone {
  readonly settings: DomainSettings
  /** In the order of the transfer. */
  readonly records: readonly RecordFields[]
  /** Everything that was skipped or changed, one remark per line. */
  readonly remarks: readonly string[]
}

/** Records converted per turn of the event loop: a large zone blocks other requests for a few milliseconds at most. */
const BATCH = 250

/** `nsNames` are the service's own name servers. Every zone has them at its apex, so NS records that repeat them are not imported. */
async function convertTransferredZone(
  zone: DomainName,
  transferred: TransferredZone,
  nsNames: readonly DomainName[],
): Promise<ImportedZone> {
  const report = createImportReport()
  const settings = readSettings(zone, transferred.soa, report)
  const ownServers = new Set<string>(nsNames)
  const records: RecordFields[] = []
  const known = new Set<string>()
  const names = new Map<string, NameUse>()
  for (const [index, record] of transferred.records.entries()) {
    if (index % BATCH === BATCH - 1) await setImmediate()
    if (record.type === 'SOA' || (record.type === 'NS' && record.name === zone && ownServers.has(record.data))) continue
    const subject = `${relativeName(record.name, zone) || '@'} ${record.type}`
    const key = `${subject} ${record.data}`
    if (known.has(key)) {
      report.add('skipped, duplicate', subject)
      continue
    }
    known.add(key)
    const fields = readRecord(record, zone, subject, report)
    if (fields === null) continue
    const conflict = addToName(names, fields)
    if (conflict === null) records.push(fields)
    else report.add(`skipped, ${conflict}`, subject)
  }
  if (transferred.outOfZone > 0) report.add('skipped, outside the zone', `${transferred.outOfZone} records`)
  return { settings, records, remarks: report.lines() }
}

function readSettings(zone: DomainName, soa: SoaFields, report: ImportReport): DomainSettings {
  const domain = zone.slice(0, -1)
  const time = (name: 'refresh' | 'retry' | 'expire' | 'minimum'): number => {
    // 0 would mean the default of the service.
    const seconds = roundDomainTime(Math.max(1, soa[name]))
    if (seconds !== soa[name]) report.add(`SOA ${name.toUpperCase()} changed`, `${soa[name]} to ${seconds}`)
    return seconds
  }
  return {
    domain,
    type: 'master',
    status: 'active',
    description: '',
    group: '',
    tags: [],
    soa_email: readMailbox(domain, soa.mailbox, report),
    master_ips: [],
    axfr_ips: [],
    refresh_sec: time('refresh'),
    retry_sec: time('retry'),
    expire_sec: time('expire'),
    ttl_sec: time('minimum'),
  }
}

/** The email address of a SOA's RNAME, whose first label is the local part (RFC 1035 section 8). */
function readMailbox(domain: string, mailbox: DomainName, report: ImportReport): string {
  const [local = Buffer.alloc(0)] = labelsOf(mailbox)
  const email = parseEmail(`${Buffer.from(local).toString('latin1')}@${parentOf(mailbox).slice(0, -1)}`)
  if (email !== null) return email
  const substitute = `hostmaster@${domain}`
  report.add('SOA RNAME changed', `${mailbox} to ${substitute}`)
  return substitute
}

const SUPPORTED_TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'NS', 'MX', 'CNAME', 'TXT', 'SRV', 'PTR', 'CAA'])

/** Converts a record; returns null and reports why if the service cannot have it. */
function readRecord(record: ServedRecord, zone: DomainName, subject: string, report: ImportReport): RecordFields | null {
  const skip = (why: string): null => {
    report.add(`skipped, ${why}`, subject)
    return null
  }
  if (!SUPPORTED_TYPES.has(record.type)) return skip('the service does not support this type')
  const body = bodyOf(record, zone)
  if (typeof body === 'string') return skip(body)
  const { name, type, ttl } = record
  let fields: RecordFields
  try {
    // A TTL of 0 would mean the default of the domain.
    fields = recordToCreate({ ...body, type, name, ttl_sec: Math.max(1, ttl) }, { domain: zone, remoteAddress: '' })
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return skip(error.problems.map(({ reason }) => reason).join(', '))
  }
  if (fields.name !== relativeName(name, zone)) return skip('the service cannot store this name for this type')
  const stored = recordRdata({ ...fields, id: 0 })
  const change = stored.ok ? changeOf(record, stored.value) : stored.message
  if (change === 'other') return skip('the service would serve other data')
  if (change !== null) report.add(change, subject)
  if (fields.ttl_sec !== ttl) report.add(`TTL changed to ${fields.ttl_sec}`, `${subject} (${ttl})`)
  return fields
}

/** The largest priority of the API; DNS allows larger ones. */
const MAX_PRIORITY = 255

const TAGS: ReadonlySet<string> = new Set(['issue', 'issuewild', 'iodef'])

/** The body of a create for this record, or a text that says why there is none. */
function bodyOf({ type, name, data }: ServedRecord, zone: DomainName): RecordBody | string {
  const fields = rdataFields(data)
  const [first = '', second = '', third = '', fourth = ''] = fields
  switch (type) {
    case 'TXT':
      return withText({}, txtRdataToOctets(data))
    case 'MX':
      return Number(first) > MAX_PRIORITY ? PRIORITY : { priority: Number(first), target: second }
    case 'SRV': {
      const [service = '', ...protocol] = relativeName(name, zone).split('.')
      if (Number(first) > MAX_PRIORITY) return PRIORITY
      return { service, protocol: protocol.join('.'), priority: Number(first), weight: Number(second), port: Number(third), target: fourth }
    }
    case 'CAA': {
      const value = unescapeString(third.slice(1, -1))
      if (!TAGS.has(second)) return 'its tag is not issue, issuewild or iodef'
      return value.ok ? withText({ tag: second }, value.value) : value.message
    }
    default:
      return { target: data }
  }
}

const PRIORITY = `its priority is above ${MAX_PRIORITY}`

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function withText(body: RecordBody, octets: Uint8Array): RecordBody | string {
  try {
    const target = UTF8.decode(octets)
    return target.includes('\0') ? 'its text contains a NUL' : { ...body, target }
  } catch {
    return 'its text is not UTF-8'
  }
}

/** Describes how the data has changed; null if it has not, `other` if its meaning has changed. */
function changeOf({ type, data }: ServedRecord, stored: string): string | null {
  if (stored === data) return null
  if (type === 'TXT' && Buffer.compare(txtRdataToOctets(data), txtRdataToOctets(stored)) === 0)
    return 'strings joined and split every 255 octets'
  if (type === 'CAA' && stored === data.replace(/^[0-9]+/, '0')) return 'flags dropped'
  return 'other'
}

/** The records at a name that exclude others. */
interface NameUse {
  cname: boolean
  mx: 'none' | 'some' | 'null'
}

/** Adds a record to its name; returns why it conflicts with earlier records there, or null (RFC 1034 section 3.6.2, RFC 7505 section 3). */
function addToName(names: Map<string, NameUse>, { name, type, target }: RecordFields): string | null {
  const at = names.get(name)
  const mx = type !== 'MX' ? 'none' : target === '' ? 'null' : 'some'
  if (!at) {
    names.set(name, { cname: type === 'CNAME', mx })
    return null
  }
  if (at.cname || type === 'CNAME') return 'a CNAME allows no other records at its name'
  if (mx !== 'none' && at.mx !== 'none' && (mx === 'null' || at.mx === 'null')) return 'a null MX allows no other MX records'
  if (mx !== 'none') at.mx = mx
  return null
}

/** Collects the remarks of an import. */
interface ImportReport {
  /** Adds a record or setting to those that a remark applies to. */
  add(remark: string, subject: string): void
  /** One line per remark; none if everything was imported unchanged. */
  lines(): string[]
}

/** Maximum number of subjects listed per remark. Only the number of the others is reported. */
const MAX_LISTED = 50

function createImportReport(): ImportReport {
  const remarks = new Map<string, { count: number; readonly named: string[] }>()
  return {
    add: (remark, subject) => {
      const entry = remarks.get(remark) ?? { count: 0, named: [] }
      remarks.set(remark, entry)
      entry.count += 1
      if (entry.named.length < MAX_LISTED) entry.named.push(subject)
    },
    lines: () =>
      [...remarks].map(([remark, { count, named }]) => {
        const others = count - named.length
        return `${remark}: ${named.join(', ')}${others === 0 ? '' : ` and ${others} more`}`
      }),
  }
}

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
