/** Rdata as the API writes it: names without the final dot, and the parts of structured types in `data`. */
import { octetsToTxtRdata, quoteString, txtRdataToOctets } from '../../dns/character-string.ts'
import { parseRdata, rdataFields } from '../../dns/rdata/canonical.ts'
import { ok, type Result } from '../../dns/result.ts'
import type { ApiRecord } from './cloudflare-api.ts'

/** A part of structured rdata: its name at the API and its form. The parts are in the order of presentation. */
type Part = readonly [name: string, form: 'number' | 'text' | 'name' | 'string' | 'metres']

const parts = (text: string): readonly Part[] => text.split(' ').map((part) => part.split(':') as unknown as Part)

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

const withoutDot = (name: string): string => (name === '.' ? name : name.slice(0, -1))

/** The text of a quoted string. Rules allow printable ASCII only. */
const unquoted = (string: string): string => Buffer.from(txtRdataToOctets(string)).toString('latin1')

const quoted = (text: string): string => quoteString(Buffer.from(text, 'utf8'))

/** The fields of a request that carry rdata. The data must be canonical. */
export function rdataToApi(type: string, data: string): Readonly<Record<string, unknown>> {
  const fields = rdataFields(data)
  const structure = STRUCTURED[type]
  if (structure !== undefined) {
    const values = structure.map(([name, form], index) => {
      const field = fields[index] ?? ''
      if (form === 'number') return [name, Number(field)]
      if (form === 'metres') return [name, Number.parseFloat(field)]
      return [name, form === 'name' ? withoutDot(field) : form === 'string' ? unquoted(field) : field]
    })
    return { data: Object.fromEntries(values) }
  }
  const [first = '', second = '', ...rest] = fields
  if (SERVICE_TYPES.has(type)) return { data: { priority: Number(first), target: second, value: rest.join(' ') } }
  if (type === 'URI') return { priority: Number(first), data: { weight: Number(second), target: unquoted(rest.join(' ')) } }
  if (type === 'MX') return { priority: Number(first), content: withoutDot(second) }
  if (type === 'NS' || type === 'CNAME' || type === 'ALIAS' || type === 'PTR') return { content: withoutDot(data) }
  return { content: data }
}

/** Canonical rdata of a record of the API, or an error if it is malformed. */
export function rdataFromApi(type: string, record: ApiRecord): Result<string> {
  const data = parseRdata(type, presentationOf(type, record))
  // How a text is split into strings is Cloudflare's business.
  return data.ok && type === 'TXT' ? ok(octetsToTxtRdata(txtRdataToOctets(data.value))) : data
}

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
  // Other clients write texts without quotes.
  if (type === 'TXT' && !content.startsWith('"')) return quotedText(content)
  return content
}

const quotedText = (text: string): string => octetsToTxtRdata(Buffer.from(text, 'utf8'))
