import { isIPv4 } from 'node:net'
import type { DomainName } from '../../../dns/domain-name.ts'
import type { RecordFields } from '../../store/record-store.ts'
import { invalid, type RequestProblem } from '../request-error.ts'
import { readHostName } from './host-name.ts'
import { fitsDomain, MAX_RECORD_NAME, readRecordName } from './record-name.ts'
import { recordProblems } from './record-rules.ts'
import { roundRecordTtl } from './ttl-values.ts'

/** The body of a request about a record, as its schema lets it through. */
export interface RecordBody {
  readonly type?: string
  readonly name?: string
  readonly target?: string
  readonly priority?: number
  readonly weight?: number
  readonly port?: number
  readonly service?: string | null
  readonly protocol?: string | null
  readonly tag?: string | null
  readonly ttl_sec?: number
}

export interface RecordContext {
  readonly domain: DomainName
  /** The address the request came from, for the target `[remote_addr]`. */
  readonly remoteAddress: string
}

const NAME_TYPES: ReadonlySet<string> = new Set(['NS', 'MX', 'CNAME', 'SRV', 'PTR'])

const EMPTY: Omit<RecordFields, 'type'> = {
  name: '',
  target: '',
  priority: 0,
  weight: 0,
  port: 0,
  service: null,
  protocol: null,
  tag: null,
  ttl_sec: 0,
}

/** The record a create asks for. Throws 400 with every fault of it. */
export function recordToCreate(body: RecordBody & { readonly type: string }, context: RecordContext): RecordFields {
  // Forms that have one entry for both kinds of address send AAAA.
  const type = body.type === 'AAAA' && isIPv4(body.target ?? '') ? 'A' : body.type
  return readRecord({ ...EMPTY, type }, body, context, requiredFaults(body))
}

/** An existing record with what an update changes of it. Throws 400 with every fault. */
export function recordToUpdate(existing: RecordFields, body: RecordBody, context: RecordContext): RecordFields {
  const changesType = body.type !== undefined && body.type !== existing.type
  return readRecord(existing, body, context, changesType ? [{ field: 'type', reason: 'type cannot be changed' }] : [])
}

/** Fields that must be given even though their value may be empty or 0. Others are required by the rules of their type. */
function requiredFaults(body: RecordBody): RequestProblem[] {
  const required = { MX: ['target'], CNAME: ['name'], SRV: ['priority', 'weight', 'port'] }[body.type ?? ''] ?? []
  return required
    .filter((field) => body[field as keyof RecordBody] === undefined)
    .map((field) => ({ field, reason: `${field} is required` }))
}

/**
 * `base` with what the body says. A name or target as it is stored stays what it is: the same text could mean something else to one who
 * writes it anew (a single label is completed, a name that ends in the domain is absolute), and what was read can be sent back.
 */
function readRecord(base: RecordFields, body: RecordBody, context: RecordContext, before: readonly RequestProblem[]): RecordFields {
  const problems: RequestProblem[] = [...before]
  const record = {
    ...base,
    priority: body.priority ?? base.priority,
    weight: body.weight ?? base.weight,
    port: body.port ?? base.port,
    tag: (body.tag === undefined ? base.tag : body.tag) || null,
    ttl_sec: body.ttl_sec === undefined ? base.ttl_sec : roundRecordTtl(body.ttl_sec),
    target: body.target === undefined || body.target === base.target ? base.target : readTarget(base.type, body.target, context, problems),
  }
  if (record.type === 'SRV') readService(record, body, context, problems)
  else {
    record.service = body.service || base.service
    record.protocol = body.protocol || base.protocol
    if (body.name !== undefined && body.name !== base.name) {
      const reading = readRecordName(body.name, context.domain)
      if ('name' in reading) record.name = reading.name
      else problems.push(...reading.problems)
    }
  }
  problems.push(...recordProblems(record, new Set(problems.map(({ field }) => field ?? ''))))
  if (problems.length > 0) throw invalid(...problems)
  return record
}

function readTarget(type: string, text: string, { domain, remoteAddress }: RecordContext, problems: RequestProblem[]): string {
  if (type === 'A' || type === 'AAAA') return text === '[remote_addr]' ? plainAddress(remoteAddress) : text
  if (!NAME_TYPES.has(type) || text === '') return text
  if (type === 'MX' && text === '.') return ''
  const name = readHostName(text, domain)
  if (name === null) problems.push({ field: 'target', reason: 'target is not valid' })
  return name ?? text
}

/** An IPv4 address that a socket gives in its IPv6 form, as IPv4. */
function plainAddress(address: string): string {
  const mapped = address.replace(/^::ffff:/i, '')
  return isIPv4(mapped) ? mapped : address
}

const SERVICE = /^[a-z0-9_-]{1,62}$/
const PROTOCOL = /^[a-z0-9-]{1,62}(?:\.[a-z0-9_-]{1,63})*$/

/**
 * Service and protocol are stored without their underscores; the name is made of them and never taken from the request. Below the
 * apex the rest of the name follows the protocol (`tcp.sub`).
 */
function readService(
  record: { -readonly [K in keyof RecordFields]: RecordFields[K] },
  body: RecordBody,
  { domain }: RecordContext,
  problems: RequestProblem[],
): void {
  const service = bareLabel(body.service === undefined ? record.service : body.service)
  const protocol = bareLabel(body.protocol === undefined ? record.protocol : body.protocol)
  record.service = service
  record.protocol = protocol
  record.name = `_${service}._${protocol}`
  const before = problems.length
  if (service === '') problems.push({ field: 'service', reason: 'service is required' })
  else if (!SERVICE.test(service)) problems.push({ field: 'service', reason: 'service is not valid' })
  if (protocol === '') problems.push({ field: 'protocol', reason: 'protocol is required' })
  else if (!PROTOCOL.test(protocol)) problems.push({ field: 'protocol', reason: 'protocol is not valid' })
  if (problems.length > before) return
  if (record.name.length > MAX_RECORD_NAME || !fitsDomain(record.name.length, domain)) {
    problems.push({ field: 'name', reason: `Length must be 1-${MAX_RECORD_NAME} characters` })
  }
}

/** Without the underscores and the dot that belong to the name, in lower case. */
const bareLabel = (text: string | null): string => (text ?? '').toLowerCase().replace(/^_+/, '').replace(/\.$/, '')
