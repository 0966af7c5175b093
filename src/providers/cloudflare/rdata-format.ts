/** Rdata as the API writes it: names without the final dot, and the parts of structured types in `data`. */
import type { Result } from '../../base/result.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { lenientRdata, type Part, parts, partsToApi, quoted, unquoted, withoutDot } from '../api-records.ts'
import type { ApiRecord } from './cloudflare-api.ts'

const CERTIFICATE = parts('usage:number selector:number matching_type:number certificate:text')

/** The structured types. The API takes their parts in `data`. */
const STRUCTURED: Readonly<Record<string, readonly Part[]>> = {
  CAA: parts('flags:number tag:text value:string'),
  CERT: parts('type:number key_tag:number algorithm:number certificate:text'),
  DNSKEY: parts('flags:number protocol:number algorithm:number public_key:text'),
  DS: parts('key_tag:number algorithm:number digest_type:number digest:text'),
  LOC: parts(
    'lat_degrees:number lat_minutes:number lat_seconds:number lat_direction:text long_degrees:number long_minutes:number long_seconds:number ' +
      'long_direction:text altitude:metres size:metres precision_horz:metres precision_vert:metres',
  ),
  NAPTR: parts('order:number preference:number flags:string service:string regex:string replacement:name'),
  SMIMEA: CERTIFICATE,
  SRV: parts('priority:number weight:number port:number target:name'),
  SSHFP: parts('algorithm:number type:number fingerprint:text'),
  TLSA: CERTIFICATE,
}

const SERVICE_TYPES: ReadonlySet<string> = new Set(['HTTPS', 'SVCB'])

/** The fields of a request that carry rdata. The data must be canonical. */
export function rdataToApi(type: string, data: string): Readonly<Record<string, unknown>> {
  const fields = rdataFields(data)
  const structure = STRUCTURED[type]
  if (structure !== undefined) return { data: partsToApi(structure, data) }
  const [first = '', second = '', ...rest] = fields
  if (SERVICE_TYPES.has(type)) return { data: { priority: Number(first), target: second, value: rest.join(' ') } }
  if (type === 'URI') return { priority: Number(first), data: { weight: Number(second), target: unquoted(rest.join(' ')) } }
  if (type === 'MX') return { priority: Number(first), content: withoutDot(second) }
  if (type === 'NS' || type === 'CNAME' || type === 'ALIAS' || type === 'PTR') return { content: withoutDot(data) }
  return { content: data }
}

/** Canonical rdata of a record of the API, or an error if it is malformed. How a text is split into strings is Cloudflare's business. */
export const rdataFromApi = (type: string, record: ApiRecord): Result<string> => lenientRdata(type, presentationOf(type, record))

function presentationOf(type: string, { content, priority, data }: ApiRecord): string {
  const structure = STRUCTURED[type]
  if (structure !== undefined && data !== null) {
    return structure
      .map(([name, form]) => {
        const text = String(data[name] ?? '')
        return form === 'string' ? quoted(text) : form === 'metres' ? `${text}m` : text
      })
      .join(' ')
  }
  if (type === 'URI')
    return data === null ? `${priority ?? 0} ${content}` : `${priority ?? 0} ${data['weight']} ${quoted(String(data['target']))}`
  if (type === 'MX' || type === 'SRV') return `${priority ?? 0} ${content}`
  return content
}
