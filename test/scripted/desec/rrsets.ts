/** Which RRsets deSEC stores. The rules and texts are those of its source (api/desecapi/serializers/records.py, models/records.py). */
import { type Fields, Refusal } from '../base.ts'
import { ContentError, canonicalContent, typeProblem } from './content.ts'

export interface DesecRrset {
  readonly created: string
  readonly domain: string
  readonly subname: string
  /** Absolute. */
  readonly name: string
  readonly records: readonly string[]
  readonly ttl: number
  readonly type: string
  readonly touched: string
}

const MAX_TTL = 86_400
const SUBNAME = /^(?:[*]|(?:[*][.])?(?:[a-z0-9_-]{1,63}[.])*[a-z0-9_-]{1,63})$/
export const nameOf = (subname: string, domain: string): string => (subname === '' ? `${domain}.` : `${subname}.${domain}.`)

/** The parts of an RRset that a request sets. */
export interface Written {
  readonly subname: string
  readonly type: string
  /** Absent if a PATCH leaves them. */
  readonly ttl?: number | undefined
  /** In canonical form; empty to delete. */
  readonly records?: readonly string[] | undefined
}

/** Checks one RRset of a request, and returns it with canonical contents. Throws the error object of the RRset. */
export function checkedRrset(sent: Fields, domain: string, minimumTtl: number, before: DesecRrset | undefined, isPatch: boolean): Written {
  const { subname = '', type, ttl, records } = sent
  const errors: Record<string, string[]> = {}
  const isDeletion = Array.isArray(records) && records.length === 0
  const isPartial = isPatch && (before !== undefined || isDeletion)
  if (typeof subname !== 'string' || (subname !== '' && !SUBNAME.test(subname)))
    errors['subname'] = [
      "Subname can only use (lowercase) a-z, 0-9, ., -, and _, may start with a '*.', or just be '*'. Components may not exceed 63 characters.",
    ]
  else if (subname.length > 178) errors['subname'] = ['Ensure this field has no more than 178 characters.']
  if (type === undefined) errors['type'] = ['This field is required.']
  else if (typeof type !== 'string' || !/^[A-Z][A-Z0-9]*$/.test(type))
    errors['type'] = ['Type must be uppercase alphanumeric and start with a letter.']
  else {
    const problem = typeProblem(type)
    if (problem !== null) errors['type'] = [problem]
  }
  const seconds = typeof ttl === 'string' && /^\d+$/.test(ttl) ? Number(ttl) : ttl
  if (seconds === undefined) {
    if (!isPartial) errors['ttl'] = ['This field is required.']
  } else if (typeof seconds !== 'number' || !Number.isInteger(seconds)) errors['ttl'] = ['A valid integer is required.']
  else if (seconds > MAX_TTL) errors['ttl'] = [`Ensure this value is less than or equal to ${MAX_TTL}.`]
  else if (seconds < minimumTtl) errors['ttl'] = [`Ensure this value is greater than or equal to ${minimumTtl}.`]
  if (records === undefined) {
    if (!isPartial) errors['records'] = ['This field is required.']
  } else if (!Array.isArray(records) || records.some((record) => typeof record !== 'string')) errors['records'] = ['Must be a string.']
  if (Object.keys(errors).length > 0) throw new Refusal(400, errors)
  const contents = records === undefined ? undefined : canonicalRecords(String(type), String(subname), domain, records as readonly string[])
  return { subname: String(subname), type: String(type), ttl: seconds as number | undefined, records: contents }
}

function canonicalRecords(type: string, subname: string, domain: string, records: readonly string[]): string[] {
  const refuse = (text: string): Refusal => new Refusal(400, { non_field_errors: [text] })
  let contents: string[]
  try {
    contents = records.map((record) => canonicalContent(type, record))
  } catch (error) {
    if (error instanceof ContentError) throw refuse(error.message)
    throw error
  }
  if (new Set(contents.map((content) => content.toLowerCase())).size !== contents.length && !/^(?:TXT|SPF|DHCID|OPENPGPKEY)$/.test(type))
    throw refuse('Duplicate: records must be semantically unique')
  if (new Set(contents).size !== contents.length) throw refuse('Duplicate: records must be semantically unique')
  const length = 32 + nameOf(subname, domain).length + contents.reduce((sum, content) => sum + 12 + content.length, 0) + 256
  if (length > 65_535) throw refuse(`Total length of RRset exceeds limit by ${length - 65_535} bytes.`)
  if ((type === 'CNAME' || type === 'DNAME') && contents.length > 1) throw refuse(`${type} RRset cannot have multiple records.`)
  if ((type === 'CNAME' || type === 'DS') && subname === '' && contents.length > 0) throw refuse(`${type} RRset cannot have empty subname.`)
  if (type === 'DNSKEY' && subname !== '') throw refuse('DNSKEY RRset must have empty subname.')
  return contents
}

/** Throws the error object of an RRset that cannot be beside those that the zone has after the request. */
export function refuseClash({ subname, type }: Written, after: Iterable<{ readonly subname: string; readonly type: string }>): void {
  const others: string[] = []
  for (const other of after) if (other.subname === subname && (other.type === 'CNAME') !== (type === 'CNAME')) others.push(other.type)
  if (others.length > 0)
    throw new Refusal(400, {
      non_field_errors: [
        `RRset with conflicting type present: database (${others.sort().join(', ')}). (No other RRsets are allowed alongside CNAME.)`,
      ],
    })
}
