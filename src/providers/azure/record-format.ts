/** Record sets as the API writes them: a property per type, with objects of named parts. Names have no final dot. */
import { quoteString, txtRdataToOctets } from '../../dns/character-string.ts'
import { parseRdata, rdataFields } from '../../dns/rdata/canonical.ts'
import { type Fields, fieldsOf, listOf, ShapeError } from '../json-shape.ts'

export type Visibility = 'public' | 'private'

/** A part of a record: its name at the API and its form. The parts are in the order of presentation. */
type Part = readonly [name: string, form: 'number' | 'text' | 'name' | 'string' | 'strings']

interface TypeFormat {
  /** In public zones. In private ones it begins with small letters. */
  readonly property: string
  readonly privateProperty: string | null
  readonly parts: readonly Part[]
  /** Whether a record set has one record, which is no list. */
  readonly isSingle?: true
}

const FORMATS: Readonly<Record<string, TypeFormat>> = {
  A: { property: 'ARecords', privateProperty: 'aRecords', parts: [['ipv4Address', 'text']] },
  AAAA: { property: 'AAAARecords', privateProperty: 'aaaaRecords', parts: [['ipv6Address', 'text']] },
  CAA: {
    property: 'caaRecords',
    privateProperty: null,
    parts: [
      ['flags', 'number'],
      ['tag', 'text'],
      ['value', 'string'],
    ],
  },
  CNAME: { property: 'CNAMERecord', privateProperty: 'cnameRecord', parts: [['cname', 'name']], isSingle: true },
  MX: {
    property: 'MXRecords',
    privateProperty: 'mxRecords',
    parts: [
      ['preference', 'number'],
      ['exchange', 'name'],
    ],
  },
  NS: { property: 'NSRecords', privateProperty: null, parts: [['nsdname', 'name']] },
  PTR: { property: 'PTRRecords', privateProperty: 'ptrRecords', parts: [['ptrdname', 'name']] },
  SRV: {
    property: 'SRVRecords',
    privateProperty: 'srvRecords',
    parts: [
      ['priority', 'number'],
      ['weight', 'number'],
      ['port', 'number'],
      ['target', 'name'],
    ],
  },
  TXT: { property: 'TXTRecords', privateProperty: 'txtRecords', parts: [['value', 'strings']] },
}

const propertyOf = (type: string, visibility: Visibility): string | null =>
  (visibility === 'public' ? FORMATS[type]?.property : FORMATS[type]?.privateProperty) ?? null

export const typesOf = (visibility: Visibility): ReadonlySet<string> =>
  new Set(Object.keys(FORMATS).filter((type) => propertyOf(type, visibility) !== null))

const withoutDot = (name: string): string => (name === '.' ? name : name.slice(0, -1))
const textOfString = (string: string): string => Buffer.from(txtRdataToOctets(string)).toString('latin1')

/** The properties of a record set with these data, which must be canonical. */
export function recordsToApi(type: string, data: readonly string[], visibility: Visibility): Fields {
  const { parts, isSingle } = FORMATS[type] as TypeFormat
  const records = data.map((text) => {
    const fields = rdataFields(text)
    return Object.fromEntries(
      parts.map(([name, form], index) => {
        const field = fields[index] ?? ''
        if (form === 'number') return [name, Number(field)]
        if (form === 'name') return [name, withoutDot(field)]
        if (form === 'strings') return [name, fields.map(textOfString)]
        return [name, form === 'string' ? textOfString(field) : field]
      }),
    )
  })
  return { [propertyOf(type, visibility) as string]: isSingle ? records[0] : records }
}

/** The data of a record set; malformed data stays as it is: text that no definition can contain. Throws a `ShapeError` if the form is another one. */
export function recordsFromApi(type: string, properties: Fields, visibility: Visibility): string[] {
  const format = FORMATS[type]
  const found = properties[propertyOf(type, visibility) ?? '']
  if (format === undefined || found == null) return []
  const records = format.isSingle ? [found] : listOf(found, `the ${type} records`)
  return records.map((record) => {
    const text = presentationOf(format.parts, fieldsOf(record, 'a record'))
    const data = parseRdata(type, text)
    return data.ok ? data.value : text
  })
}

const quoted = (text: unknown): string => quoteString(Buffer.from(String(text ?? ''), 'utf8'))

const presentationOf = (parts: readonly Part[], record: Fields): string =>
  parts
    .map(([name, form]) => {
      const value = record[name]
      if (form === 'strings') return listOf(value, 'a text').map(quoted).join(' ')
      if (form === 'string') return quoted(value)
      if (form === 'number' && typeof value !== 'number') throw new ShapeError(`a record has no number "${name}"`)
      // Other clients write names with the final dot.
      return form === 'name' ? String(value ?? '').replace(/\.?$/, '.') : String(value ?? '')
    })
    .join(' ')
