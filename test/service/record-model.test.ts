/**
 * A second, minimal implementation of the record rules: for any sequence of creates, updates and deletes, the service accepts the same records
 * and reports the same errors. It uses only the responses of the service.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { expect, test } from 'vitest'
import { fc } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'
import { startForTest } from './harness.ts'

const { client } = await startForTest()
const ZONE = 'model.example'
const TYPES = ['A', 'AAAA', 'NS', 'MX', 'CNAME', 'TXT', 'SRV', 'PTR', 'CAA']

interface Fields {
  readonly type: string
  readonly name: string
  readonly target: string
  readonly priority: number
  readonly weight: number
  readonly port: number
  readonly service: string | null
  readonly protocol: string | null
  readonly tag: string | null
  readonly ttl_sec: number
}

type Body = Readonly<Record<string, unknown>>

/** An error as `field: reason`. */
type DiagnosticCollector = readonly string[]
type Verdict = { readonly record: Fields } | { readonly problems: DiagnosticCollector }
const BLANK = { name: '', target: '', priority: 0, weight: 0, port: 0, service: null, protocol: null, tag: null, ttl_sec: 0 }

// ---- schema errors

const whole = (value: unknown, most: number): string | null => {
  if (typeof value !== 'number' || !Number.isInteger(value)) return 'is not valid'
  if (value >= 0 && value <= most) return null
  return most === Infinity ? 'is not valid' : `must be between 0 and ${most}`
}

/** The schema error of a single field; the reason begins with its name unless it has its own text. */
function formOf(field: string, value: unknown): string | null {
  switch (field) {
    case 'type':
      return TYPES.includes(value as string) ? null : 'Invalid record type'
    case 'name':
    case 'target':
      if (value === null) return null
      return typeof value === 'string' ? null : `${field} is not valid`
    case 'service':
    case 'protocol':
      if (value !== null && typeof value !== 'string') return `${field} is not valid`
      return (value?.length ?? 0) > 100 ? 'Length must be 1-100 characters' : null
    case 'tag':
      return ['issue', 'issuewild', 'iodef', '', null].includes(value as string) ? null : 'tag is not valid'
    case 'priority':
    case 'weight':
    case 'port':
    case 'ttl_sec': {
      if (value === null) return null
      const reason = whole(value, { priority: 255, weight: 65535, port: 65535, ttl_sec: Infinity }[field])
      return reason && `${field} ${reason}`
    }
    default:
      return null
  }
}

// ---- values

const VALID_TTLS = [300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600, 2419200]

function nearest(seconds: number): number {
  const wanted = Math.min(seconds, 2419200)
  return wanted === 0 ? 0 : ([...VALID_TTLS].sort((one, two) => Math.abs(one - wanted) - Math.abs(two - wanted) || one - two)[0] as number)
}

/** The stored form of a name, or its errors. Generated names are ASCII. */
function nameOf(text: string): string | DiagnosticCollector {
  const lower = text.toLowerCase()
  if (/[^a-z0-9*._-]/.test(lower)) return ['name: Name contains invalid characters', 'name: Invalid hostname']
  if (lower === '') return ''
  const absolute = `.${lower.replace(/\.$/, '')}`
  const belongs = absolute.endsWith(`.${ZONE}`)
  if (!belongs && lower.endsWith('.')) return ['name: Invalid hostname']
  const name = belongs ? absolute.slice(1, -ZONE.length - 1) : lower
  const labels = name.split('.')
  const isFine = (label: string, place: number): boolean => /^[a-z0-9_-]{1,63}$/.test(label) || (label === '*' && place === 0)
  if (labels.some((label) => label.length > 63) || (name !== '' && !labels.every(isFine))) return ['name: Invalid hostname']
  return name.length > 100 ? ['name: Length must be 1-100 characters'] : name
}

/** The stored form of a target name; null if it is not valid. */
function leadsTo(text: string): string | null {
  const bare = text.replace(/\.$/, '')
  if (!bare.split('.').every((label) => /^[A-Za-z0-9_-]{1,63}$/.test(label))) return null
  return bare.includes('.') || bare !== text ? bare : `${bare}.${ZONE}`
}

const isHost = (text: string): boolean =>
  text.includes('.') && text.split('.').every((label) => label.length < 64 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i.test(label))

/** The errors of a target in its stored form. */
function targetFault({ type, target, tag }: Fields): string | null {
  if (target === '') return type === 'MX' || type === 'SRV' ? null : 'target is required'
  if (type === 'A' && !isIPv4(target)) return 'Invalid IPv4 or IPv6 address'
  if (type === 'AAAA' && !isIPv6(target)) return 'Invalid IPv4 or IPv6 address'
  if (type !== 'CAA' || isHost(target)) return null
  const byMail = /^mailto:[a-z]+@/.test(target) || /^https:\/\/[a-z]/.test(target)
  const fits = (target === ';' && tag !== 'iodef') || (byMail && tag !== 'issue' && tag !== 'issuewild')
  return fits ? null : 'You have entered an invalid target'
}

const NEEDED: Record<string, string[]> = { MX: ['target'], CNAME: ['name'], SRV: ['priority', 'weight', 'port', 'target'] }
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  priority: ['MX', 'SRV'],
  weight: ['SRV'],
  port: ['SRV'],
  service: ['SRV'],
  protocol: ['SRV'],
  tag: ['CAA'],
}

/** The record that a body requests, based on an existing record or none. */
function judge(body: Body, existing: Fields | null, others: readonly Fields[]): Verdict {
  const form = Object.entries(body).flatMap(([field, value]) => {
    const reason = formOf(field, value)
    return reason === null ? [] : [`${field}: ${reason}`]
  })
  if (existing === null && body['type'] === undefined) form.push('type: type is required')
  const broken = new Set(form.map((problem) => problem.split(':')[0]))
  // Null is the same as no field, except for texts that a record may lack.
  const isGiven = (field: string, value: unknown): boolean =>
    !broken.has(field) && (value !== null || ['service', 'protocol', 'tag'].includes(field))
  const given = Object.fromEntries(Object.entries(body).filter(([field, value]) => isGiven(field, value)))
  if (existing === null && given['type'] === undefined) return { problems: form }
  const values = valuesOf(given, existing)
  const problems = [...form, ...values.problems.filter((problem) => !broken.has(problem.split(':')[0]))]
  if (problems.length > 0) return { problems }
  const conflict = conflictOf(values.record, others)
  return conflict === null ? { record: values.record } : { problems: [conflict] }
}

function valuesOf(body: Body, existing: Fields | null): { readonly record: Fields; readonly problems: DiagnosticCollector } {
  const problems: string[] = []
  const stated = (existing?.type ?? body['type']) as string
  const type = existing === null && stated === 'AAAA' && isIPv4(String(body['target'])) ? 'A' : stated
  if (existing && body['type'] !== undefined && body['type'] !== existing.type) problems.push('type: type cannot be changed')
  if (existing === null) {
    for (const field of NEEDED[type] ?? []) if (body[field] === undefined) problems.push(`${field}: ${field} is required`)
  }
  const base: Fields = existing ?? { type, ...BLANK }
  const record: { -readonly [K in keyof Fields]: Fields[K] } = { ...base }
  for (const field of ['A', 'AAAA', 'CNAME', 'TXT'].includes(type) ? [] : (['priority', 'weight', 'port'] as const))
    record[field] = (body[field] ?? base[field]) as number
  if (body['ttl_sec'] !== undefined) record.ttl_sec = nearest(body['ttl_sec'] as number)
  if (body['tag'] !== undefined) record.tag = (body['tag'] as string) || null

  const target = body['target'] as string | undefined
  if (target !== undefined && target !== base.target) {
    const named = ['NS', 'MX', 'CNAME', 'SRV', 'PTR'].includes(type) && target !== '' && !(['MX', 'SRV'].includes(type) && target === '.')
    const stored = named
      ? leadsTo(target)
      : ['MX', 'SRV'].includes(type)
        ? ''
        : target.replace(/^\[remote_addr\]$/, type[0] === 'A' ? '127.0.0.1' : '$&')
    if (stored === null) problems.push('target: target is not valid')
    record.target = stored ?? target
  }
  if (type === 'SRV') {
    const bare = (text: unknown): string =>
      String(text ?? '')
        .toLowerCase()
        .replace(/^_*/, '')
        .replace(/\.$/, '')
    record.service = bare(body['service'] === undefined ? base.service : body['service'])
    record.protocol = bare(body['protocol'] === undefined ? base.protocol : body['protocol']) || null
    record.name = `_${record.service}._${record.protocol ?? 'tcp'}`
    const before = problems.length
    if (record.service === '') problems.push('service: service is required')
    else if (!/^[a-z0-9_-]{1,62}$/.test(record.service)) problems.push('service: service is not valid')
    if (record.protocol !== null && !/^[a-z0-9-]{1,62}(\.[a-z0-9_-]{1,63})*$/.test(record.protocol))
      problems.push('protocol: protocol is not valid')
    if (problems.length === before && record.name.length > 100) problems.push('name: Length must be 1-100 characters')
  } else {
    record.service = (body['service'] as string) || base.service
    record.protocol = (body['protocol'] as string) || base.protocol
    if (body['name'] !== undefined && body['name'] !== base.name) {
      const name = nameOf(body['name'] as string)
      if (typeof name === 'string') record.name = name
      else problems.push(...name)
    }
  }

  const reported = new Set(problems.map((problem) => problem.split(':')[0]))
  const add = (field: string, reason: string): void => void (reported.has(field) || problems.push(`${field}: ${reason}`))
  for (const [field, owners] of Object.entries(OWNERS)) {
    if (!owners.includes(type) && record[field as keyof Fields]) add(field, `Cannot specify ${field} for ${type} record`)
  }
  if (type === 'CAA' && !record.tag) add('tag', 'tag is required')
  const problem = targetFault(record)
  if (problem !== null) add('target', problem)
  if (type === 'NS' && record.name.startsWith('*')) add('name', 'NS records cannot have wildcard names')
  if (type === 'CNAME' && record.name === '') add('name', 'CNAME records cannot be at the root of the domain')
  if (type === 'MX' && record.target === '' && record.priority !== 0 && !reported.has('target'))
    add('priority', 'priority must be 0 for a null MX record')
  return { record, problems }
}

function conflictOf(record: Fields, others: readonly Fields[]): string | null {
  const sameName = others.filter(({ name }) => name === record.name)
  const isAlone = record.type === 'CNAME' ? sameName.length === 0 : sameName.every(({ type }) => type !== 'CNAME')
  if (!isAlone) return 'name: Record conflict - CNAMES must be unique'
  const mails = sameName.filter(({ type }) => type === 'MX')
  if (record.type !== 'MX' || mails.length === 0) return null
  if (mails.some(({ target }) => target === ''))
    return 'type: Cannot add a new MX record for a domain that already advertises a null MX record.'
  return record.target === '' ? 'type: Cannot add a null MX record for a domain that has other MX records.' : null
}

// ---- requests

const name = fc.constantFrom(
  ...['', 'a', 'A', 'b', '*', '*.a', 'a.*', '_x.a', 'a b', '@', 'a..b', '.', 'a.', ZONE, `a.${ZONE}`, `A.${ZONE.toUpperCase()}.`],
  ...[`${ZONE}.${ZONE}.`, '_sip._tcp', 'x'.repeat(63), 'x'.repeat(64), `${'x.'.repeat(50)}x`, 'a.example.net.', `x${ZONE}`],
)
const target = fc.constantFrom(
  ...['', 'a b', `${'x'.repeat(64)}.b`],
  ...'. mail mail. Mail.Example.NET. a.b a..b *.a.b 192.0.2.1 192.0.2.01 2001:db8::1 2001:DB8::1 [remote_addr] ;'.split(' '),
  ...'ca.example.net mailto:ca@example.net https://ca.example.net/x ftp://a.b -a.b'.split(' '),
)
const number = fc.constantFrom<unknown>(0, 0, 1, 10, 255, 256, 65535, 65536, 1950, 1951, 5400, 2419201, 1e300, -1, 0.5, '1', null)
const label = fc.constantFrom<unknown>(
  ...['', null, 'a b', 's'.repeat(62), 's'.repeat(101), 5],
  ...'sip _sip __sip SIP. tcp _tcp tcp.sub'.split(' '),
)
const tag = fc.constantFrom<unknown>('issue', 'issuewild', 'iodef', '', null, 'x')

const fine = fc.constantFrom<Body>(
  { type: 'A', target: '192.0.2.1' },
  { type: 'AAAA', target: '2001:db8::1' },
  { type: 'NS', name: 'sub', target: 'ns.example.net' },
  { type: 'MX', target: 'mail.example.net', priority: 10 },
  { type: 'MX', target: '' },
  { type: 'MX', name: 'a', target: 'mail.example.net' },
  { type: 'MX', name: 'a', target: '.' },
  { type: 'CNAME', name: 'a', target: 'www' },
  { type: 'CNAME', name: 'a', target: 'www' },
  { type: 'A', name: 'a', target: '192.0.2.2' },
  { type: 'TXT', target: 'text' },
  { type: 'SRV', service: 'sip', protocol: 'tcp', priority: 1, weight: 0, port: 3, target: 'sip.example.net' },
  { type: 'SRV', service: '__SIP.', protocol: '_udp.sub', priority: 0, weight: 0, port: 0, target: 'sip' },
  { type: 'PTR', name: 'b', target: 'host.example.net' },
  { type: 'CAA', tag: 'issue', target: ';' },
)
const change: fc.Arbitrary<Body> = fc.oneof(
  { weight: 5, arbitrary: fc.record<Body>({ name }) },
  { weight: 4, arbitrary: fc.record<Body>({ target }) },
  fc.tuple(fc.constantFrom('priority', 'weight', 'port', 'ttl_sec', 'ttl_sec'), number).map(([field, value]) => ({ [field]: value })),
  fc.tuple(fc.constantFrom('service', 'protocol'), label).map(([field, value]) => ({ [field]: value })),
  fc.record<Body>({ tag }),
  fc.constantFrom<Body>(
    { more: 1 },
    { id: 'x', created: null },
    { name: 5 },
    { target: null },
    { more: null },
    { type: 'TXT' },
    { type: 'X' },
  ),
)
const changes = fc.array(change, { maxLength: 3, size: 'small' }).map((list): Body => Object.assign({}, ...list))
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(fine, fc.oneof(fc.constant({}), changes))
      .map(([body, more]) => ({ method: 'POST', pick: 0, body: { ...body, ...more } })),
  },
  { weight: 4, arbitrary: fc.tuple(fc.nat(), changes).map(([pick, body]) => ({ method: 'PUT', pick, body })) },
  { weight: 1, arbitrary: fc.nat().map((pick) => ({ method: 'PUT', pick, body: null })) },
  { weight: 1, arbitrary: fc.nat().map((pick) => ({ method: 'DELETE', pick, body: undefined })) },
)

interface Step {
  readonly method: string
  /** The index of an existing record. */
  readonly pick: number
  /** Null for the record as it was returned. */
  readonly body: Body | null | undefined
}

test('the service and the minimal rules agree on every change', async () => {
  const seen = { taken: 0, refused: 0, conflicts: 0 }

  const play = async (path: string, steps: readonly Step[]) => {
    const model = new Map<number, Fields>()
    for (const { method, pick, body: sent } of steps) {
      const ids = [...model.keys()]
      const id = ids[pick % Math.max(1, ids.length)]
      if (method !== 'POST' && id === undefined) continue
      if (method === 'DELETE') {
        await client.ok('DELETE', `${path}/${id}`)
        model.delete(id as number)
        continue
      }
      const existing = method === 'PUT' ? (model.get(id as number) as Fields) : null
      const body = sent ?? (await client.ok('GET', `${path}/${id}`))
      const others = [...model].filter(([other]) => method === 'POST' || other !== id).map(([, record]) => record)
      const verdict = judge(body, existing, others)
      const answer = await client.call(method, method === 'POST' ? path : `${path}/${id}`, body)
      if ('problems' in verdict) {
        const problems = answer.body.errors?.map(({ field, reason }: { field: string; reason: string }) => `${field}: ${reason}`).sort()
        expect([body, answer.status, problems]).toEqual([body, 400, [...verdict.problems].sort()])
        seen.refused += 1
        if (verdict.problems[0]?.includes('CNAMES') || verdict.problems[0]?.includes('Cannot add')) seen.conflicts += 1
      } else {
        const { id: number, created: _, updated: _u, ...fields } = answer.body
        expect([body, answer.status, fields]).toEqual([body, 200, verdict.record])
        if (sent === null) expect(verdict.record).toEqual(existing)
        model.set(number, verdict.record)
        seen.taken += 1
      }
    }
    const { data, results } = await client.ok('GET', path)
    const stored = data.map(({ created: _, updated: _u, ...record }: { created: string; updated: string }) => record)
    expect(stored).toEqual([...model].map(([id, record]) => ({ id, ...record })).sort((one, two) => one.id - two.id))
    expect(results).toBe(model.size)
  }
  const playInZone = async (steps: readonly Step[]) => {
    const { id } = await client.ok('POST', '/domains', { type: 'master', soa_email: 'a@model.example', domain: ZONE })
    await play(`/domains/${id}/records`, steps).finally(() => client.ok('DELETE', `/domains/${id}`))
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), playInZone), { numRuns: rounds(60) })
  expect(seen.taken).toBeGreaterThan(rounds(120))
  expect(seen.refused).toBeGreaterThan(rounds(120))
  expect(seen.conflicts).toBeGreaterThan(rounds(12))
})
