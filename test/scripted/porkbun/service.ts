/**
 * A scripted Porkbun: domains and records in memory behind its API v3, with keys in the body, URL forwards and rate limits. The recordings show A, CNAME, NS and
 * TXT; the other rules are those of its API reference, of lego and of DNSControl's provider, which is tested at the real service.
 */
import { type Fields, fieldsOf, Refusal, type Result, scriptedService, type Throttling } from '../base.ts'
import { byTypeAndName, type PlainRecord, problemOf } from '../plain-records.ts'
import type { ScriptedRequest } from '../scripted-server.ts'

/** All values are texts; the name is absolute without the final dot. */
export interface PorkbunRecord {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly content: string
  readonly ttl: string
  readonly prio: string | null
  readonly notes: string | null
}

export interface PorkbunOptions extends Throttling {
  /** Null if every request has the right ones. */
  readonly keys: { readonly apikey: string; readonly secretapikey: string } | null
  readonly domains: readonly string[]
  /** Those of the first domain; by default those of a new one. */
  readonly records?: readonly PorkbunRecord[]
  /** The names, relative to the first domain, that lead to a web address elsewhere. */
  readonly forwards?: readonly string[]
}

const RULES = {
  types: new Set('A AAAA ALIAS CAA CNAME HTTPS MX NS SRV SVCB TLSA TXT'.split(' ')),
  minTtl: 600,
  hasPriority: true,
  text: /^[\x20-\x7e]*[\x21-\x7e]$/,
}
const BUSY =
  '<html>\r\n<head><title>503 Service Temporarily Unavailable</title></head>\r\n<body>\r\n<center><h1>503 Service Temporarily Unavailable</h1></center>\r\n<hr><center>openresty</center>\r\n</body>\r\n</html>\r\n'
const refusal = (message: string): Refusal => new Refusal(400, { status: 'ERROR', message })
const NAMESERVERS = ['maceio', 'salvador', 'fortaleza', 'curitiba']

/** The record as the tables of rules have it. */
export const plainRecord = ({ name, type, content, ttl, prio }: PorkbunRecord, domain: string): PlainRecord => ({
  ...{ name: name === domain ? '' : name.slice(0, -domain.length - 1), type, ttl: Number(ttl), data: content },
  ...(/^(?:MX|SRV)$/.test(type) && { priority: Number(prio) }),
})

export function createPorkbun(options: PorkbunOptions) {
  let lastId = 432_480_000
  const nextId = (): string => String(++lastId)
  const given = (name: string): PorkbunRecord[] =>
    NAMESERVERS.map((host) => ({ id: nextId(), name, type: 'NS', content: `${host}.porkbun.com`, ttl: '86400', prio: null, notes: null }))
  const state = new Map(options.domains.map((name, at) => [name, at === 0 && options.records ? [...options.records] : given(name)]))

  const stored = (id: string, domain: string, sent: Fields, others: readonly PorkbunRecord[], verb: string): PorkbunRecord => {
    const { name = '', type, content, ttl, prio = '0', notes = null } = sent
    // A lower TTL is raised.
    const seconds = Math.max(Number(ttl ?? 0), RULES.minTtl)
    const record = {
      ...{ id, name: name === '' ? domain : `${name}.${domain}`, type: String(type), content: String(content) },
      ...{ ttl: String(seconds), prio: String(prio), notes: notes as string | null },
    }
    const plain = others.map((one) => plainRecord(one, domain))
    // Two records may be the same at Porkbun's own names.
    if (problemOf(plainRecord(record, domain), plain, RULES) === null && !(record.type === 'NS' && record.name === domain)) return record
    throw refusal(`${verb} error: We were unable to ${verb.toLowerCase()} the DNS record.`)
  }
  const route = ({ path, body }: ScriptedRequest): Result => {
    const [, , , part, verb, domain = '', id] = path.slice(1).split('/').map(decodeURIComponent)
    const sent = fieldsOf(body, refusal('Invalid JSON.'))
    const { keys } = options
    if (keys !== null && (sent['apikey'] !== keys.apikey || sent['secretapikey'] !== keys.secretapikey))
      throw refusal('Invalid API key. (001)')
    if (part === 'ping') return success({ yourIp: '8.8.8.8', xForwardedFor: '8.8.8.8' })
    if (verb === 'listAll') {
      const from = Number(sent['start'] ?? 0)
      return success({ domains: [...state.keys()].slice(from, from + 1000).map((name) => ({ domain: name, status: 'ACTIVE' })) })
    }
    const records = state.get(domain)
    if (records === undefined) throw refusal('Invalid domain.')
    if (verb === 'getUrlForwarding') {
      const forwards = (domain === options.domains[0] ? (options.forwards ?? []) : []).map((subdomain, at) => ({
        id: String(at),
        subdomain,
      }))
      return success({ forwards })
    }
    if (verb === 'retrieve') {
      const sorted = records.toSorted((a, b) => byTypeAndName(plainRecord(a, domain), plainRecord(b, domain)))
      return success({ cloudflare: 'enabled', records: sorted })
    }
    if (verb === 'create') {
      const record = stored(nextId(), domain, sent, records, 'Create')
      records.push(record)
      return success({ id: Number(record.id) })
    }
    const at = records.findIndex((record) => record.id === id)
    const existing = records[at]
    if (existing === undefined) throw refusal('Invalid record ID.')
    const others = records.filter((one) => one !== existing)
    const { notes } = existing
    records.splice(at, 1, ...(verb === 'delete' ? [] : [stored(existing.id, domain, { notes, ...sent }, others, 'Edit')]))
    return success({})
  }
  const service = scriptedService(options, {
    print: (body) => (typeof body === 'string' ? body : JSON.stringify(body)),
    throttled: new Refusal(503, BUSY, { 'content-type': 'text/html' }),
    answer: route,
  })
  return { service, records: (domain: string): readonly PorkbunRecord[] => state.get(domain) ?? [] }
}

const success = (fields: Fields): Result => ({ body: { status: 'SUCCESS', ...fields } })
