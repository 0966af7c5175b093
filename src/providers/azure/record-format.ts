/** Record sets as the API writes them: a property per type, with objects of named parts. Names have no final dot. */
import { type Part, parts, partsToApi, quoted } from '../api-records.ts'
import { type Fields, fieldsOf, listOf, ShapeError } from '../json-shape.ts'

export type Visibility = 'public' | 'private'

interface TypeFormat {
  /** In public zones. In private ones it begins with small letters. */
  readonly property: string
  readonly privateProperty: string | null
  readonly parts: readonly Part[]
  /** Whether a record set has one record, which is no list. */
  readonly isSingle?: true
}

const FORMATS: Readonly<Record<string, TypeFormat>> = {
  A: { property: 'ARecords', privateProperty: 'aRecords', parts: parts('ipv4Address:text') },
  AAAA: { property: 'AAAARecords', privateProperty: 'aaaaRecords', parts: parts('ipv6Address:text') },
  CAA: { property: 'caaRecords', privateProperty: null, parts: parts('flags:number tag:text value:string') },
  CNAME: { property: 'CNAMERecord', privateProperty: 'cnameRecord', parts: parts('cname:name'), isSingle: true },
  MX: { property: 'MXRecords', privateProperty: 'mxRecords', parts: parts('preference:number exchange:name') },
  NS: { property: 'NSRecords', privateProperty: null, parts: parts('nsdname:name') },
  PTR: { property: 'PTRRecords', privateProperty: 'ptrRecords', parts: parts('ptrdname:name') },
  SRV: { property: 'SRVRecords', privateProperty: 'srvRecords', parts: parts('priority:number weight:number port:number target:name') },
  TXT: { property: 'TXTRecords', privateProperty: 'txtRecords', parts: parts('value:strings') },
}

const propertyOf = (type: string, visibility: Visibility): string | null =>
  (visibility === 'public' ? FORMATS[type]?.property : FORMATS[type]?.privateProperty) ?? null

export const typesOf = (visibility: Visibility): ReadonlySet<string> =>
  new Set(Object.keys(FORMATS).filter((type) => propertyOf(type, visibility) !== null))

/** The properties of a record set with these data, which must be canonical. */
export function recordsToApi(type: string, data: readonly string[], visibility: Visibility): Fields {
  const { parts, isSingle } = FORMATS[type] as TypeFormat
  const records = data.map((text) => partsToApi(parts, text))
  return { [propertyOf(type, visibility) as string]: isSingle ? records[0] : records }
}

/** The texts of a record set in presentation form. Throws a `ShapeError` if its form is another one. */
export function recordsFromApi(type: string, properties: Fields, visibility: Visibility): string[] {
  const format = FORMATS[type]
  const found = properties[propertyOf(type, visibility) ?? '']
  if (format === undefined || found == null) return []
  const records = format.isSingle ? [found] : listOf(found, `the ${type} records`)
  return records.map((record) => presentationOf(format.parts, fieldsOf(record, 'a record')))
}

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
