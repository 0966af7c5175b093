/**
 * Makes a domain of a zone that was transferred: its settings of the SOA, one record of each record. What the service cannot hold, or
 * holds in another way, is told in words. Every record passes the rules of a create, so that an import brings nothing in that could
 * not be written by hand, and is then compared with what it came from, so that nothing comes to say something else.
 */
import { setImmediate } from 'node:timers/promises'
import { txtRdataToOctets, unescapeString } from '../../../dns/character-string.ts'
import { type DomainName, labelsOf, parentOf, relativeName } from '../../../dns/domain-name.ts'
import { rdataFields } from '../../../dns/rdata/canonical.ts'
import type { ServedRecord } from '../../nameserver/zone-data.ts'
import type { DomainSettings } from '../../store/domain-store.ts'
import type { RecordFields } from '../../store/record-store.ts'
import type { SoaFields, TransferredZone } from '../../transfers/transfer-zone.ts'
import { recordRdata } from '../../zone/render-zone.ts'
import { RequestError } from '../request-error.ts'
import { roundDomainTime } from './domain-input.ts'
import { parseEmail } from './name-input.ts'
import { type RecordBody, recordToCreate } from './record-input.ts'

export interface ImportedZone {
  readonly settings: DomainSettings
  /** In the order of the transfer. */
  readonly records: readonly RecordFields[]
  /** What is not as it was, one remark a line. */
  readonly remarks: readonly string[]
}

/** Records between two turns of the event loop: others wait no longer than a few milliseconds for a large zone. */
const TURN = 250

/** `nsNames` are the service's own name servers: every zone has them at its apex, so records that repeat them there are not taken over. */
export async function convertTransferredZone(
  zone: DomainName,
  transferred: TransferredZone,
  nsNames: readonly DomainName[],
): Promise<ImportedZone> {
  const report = createImportReport()
  const settings = readSettings(zone, transferred.soa, report)
  const served = new Set<string>(nsNames)
  const records: RecordFields[] = []
  const known = new Set<string>()
  const names = new Map<string, Occupants>()
  for (const [index, record] of transferred.records.entries()) {
    if (index % TURN === TURN - 1) await setImmediate()
    if (record.type === 'SOA' || (record.type === 'NS' && record.name === zone && served.has(record.data))) continue
    const subject = `${relativeName(record.name, zone) || '@'} ${record.type}`
    const key = `${subject} ${record.data}`
    if (known.has(key)) {
      report.note('left out, sent more than once', subject)
      continue
    }
    known.add(key)
    const fields = readRecord(record, zone, subject, report)
    if (fields === null) continue
    const conflict = occupy(names, fields)
    if (conflict === null) records.push(fields)
    else report.note(`left out, ${conflict}`, subject)
  }
  if (transferred.outOfZone > 0) report.note('left out, outside the zone', `${transferred.outOfZone} records`)
  return { settings, records, remarks: report.lines() }
}

function readSettings(zone: DomainName, soa: SoaFields, report: ImportReport): DomainSettings {
  const domain = zone.slice(0, -1)
  const time = (name: 'refresh' | 'retry' | 'expire' | 'minimum'): number => {
    // 0 would stand for the default of the service.
    const seconds = roundDomainTime(Math.max(1, soa[name]))
    if (seconds !== soa[name]) report.note(`SOA ${name.toUpperCase()} changed`, `${soa[name]} to ${seconds}`)
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

/** The mail address of a SOA's RNAME: its first label is the local part (RFC 1035 section 8). */
function readMailbox(domain: string, mailbox: DomainName, report: ImportReport): string {
  const [local = Buffer.alloc(0)] = labelsOf(mailbox)
  const email = parseEmail(`${Buffer.from(local).toString('latin1')}@${parentOf(mailbox).slice(0, -1)}`)
  if (email !== null) return email
  const substitute = `hostmaster@${domain}`
  report.note('SOA RNAME changed', `${mailbox} to ${substitute}`)
  return substitute
}

const HELD: ReadonlySet<string> = new Set(['A', 'AAAA', 'NS', 'MX', 'CNAME', 'TXT', 'SRV', 'PTR', 'CAA'])

/** The record as the service holds it; null, and told why, where it cannot. */
function readRecord(record: ServedRecord, zone: DomainName, subject: string, report: ImportReport): RecordFields | null {
  const leaveOut = (why: string): null => {
    report.note(`left out, ${why}`, subject)
    return null
  }
  if (!HELD.has(record.type)) return leaveOut('the service has no records of this type')
  const body = bodyOf(record, zone)
  if (typeof body === 'string') return leaveOut(body)
  const { name, type, ttl } = record
  let fields: RecordFields
  try {
    // A TTL of 0 would stand for the default of the domain.
    fields = recordToCreate({ ...body, type, name, ttl_sec: Math.max(1, ttl) }, { domain: zone, remoteAddress: '' })
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return leaveOut(error.problems.map(({ reason }) => reason).join(', '))
  }
  if (fields.name !== relativeName(name, zone)) return leaveOut('the service has no such name for this type')
  const stored = recordRdata({ ...fields, id: 0 })
  const change = stored.ok ? changeOf(record, stored.value) : stored.message
  if (change === 'other') return leaveOut('the service would serve other data')
  if (change !== null) report.note(change, subject)
  if (fields.ttl_sec !== ttl) report.note(`TTL changed to ${fields.ttl_sec}`, `${subject} (${ttl})`)
  return fields
}

/** The largest priority of the interface; DNS has larger ones. */
const MAX_PRIORITY = 255

const TAGS: ReadonlySet<string> = new Set(['issue', 'issuewild', 'iodef'])

/** What a create would say of the record's data, or why none can say it. */
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
    return target.includes('\0') ? 'its text has a NUL' : { ...body, target }
  } catch {
    return 'its text is not UTF-8'
  }
}

/** What has become of the data in words; null where nothing has, `other` where it says something else now. */
function changeOf({ type, data }: ServedRecord, stored: string): string | null {
  if (stored === data) return null
  if (type === 'TXT' && Buffer.compare(txtRdataToOctets(data), txtRdataToOctets(stored)) === 0)
    return 'strings joined, and cut anew after 255 octets'
  if (type === 'CAA' && stored === data.replace(/^[0-9]+/, '0')) return 'flags dropped'
  return 'other'
}

/** What stands at a name, as far as other records care. */
interface Occupants {
  cname: boolean
  mx: 'none' | 'some' | 'null'
}

/** Takes the record's place at its name; in words why it has none there (RFC 1034 section 3.6.2, RFC 7505 section 3). */
function occupy(names: Map<string, Occupants>, { name, type, target }: RecordFields): string | null {
  const at = names.get(name)
  const mx = type !== 'MX' ? 'none' : target === '' ? 'null' : 'some'
  if (!at) {
    names.set(name, { cname: type === 'CNAME', mx })
    return null
  }
  if (at.cname || type === 'CNAME') return 'a CNAME stands alone at its name'
  if (mx !== 'none' && at.mx !== 'none' && (mx === 'null' || at.mx === 'null')) return 'a null MX stands without other MX records'
  if (mx !== 'none') at.mx = mx
  return null
}

/** What became of records that an import could not take over as they are: for a reader, complete in its counts and short in its text. */

interface ImportReport {
  /** Adds a record, or a setting, to those of which one thing is to be told. */
  note(remark: string, subject: string): void
  /** One line for each remark; none where all was taken over as it is. */
  lines(): string[]
}

/** Subjects that are named for each remark; the others are counted. */
const NAMED = 50

function createImportReport(): ImportReport {
  const remarks = new Map<string, { count: number; readonly named: string[] }>()
  return {
    note: (remark, subject) => {
      const entry = remarks.get(remark) ?? { count: 0, named: [] }
      remarks.set(remark, entry)
      entry.count += 1
      if (entry.named.length < NAMED) entry.named.push(subject)
    },
    lines: () =>
      [...remarks].map(([remark, { count, named }]) => {
        const others = count - named.length
        return `${remark}: ${named.join(', ')}${others === 0 ? '' : ` and ${others} more`}`
      }),
  }
}
