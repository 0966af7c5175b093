/** The edit that `record` requests. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { listed } from '../../base/english.ts'
import { didYouMean } from '../../base/nearest-word.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { readTargetName } from '../../definition/parse/read-scalar.ts'
import { valueForm } from '../../definition/parse/value-forms.ts'
import { stringToTxtRdata } from '../../dns/character-string.ts'
import { type DomainName, isAtOrBelow, parseAbsoluteName, parseDomainName } from '../../dns/domain-name.ts'
import { canonicalRdata } from '../../dns/rdata/canonical.ts'
import { presentationTokens } from '../../dns/rdata/field.ts'
import { parseGenericForm } from '../../dns/rdata/generic-form.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import type { Ttl } from '../../dns/ttl.ts'

/** A change of one RRset, as asked for on the command line. */
export interface RecordEdit {
  readonly action: 'add' | 'set' | 'remove'
  readonly zone: DomainName
  readonly name: DomainName
  readonly type: string
  /** Canonical, without duplicates. With `remove`, an empty list means all values. */
  readonly data: readonly string[]
  readonly ttl: Ttl | null
}

export interface RecordArguments {
  readonly zone: string
  readonly name: string
  readonly type: string
  readonly values: readonly string[]
  readonly ttl: Ttl | null
}

/** Parses the arguments of the command line. */
export function parseRecordEdit(action: RecordEdit['action'], words: RecordArguments): Result<RecordEdit> {
  const zone = parseAbsoluteName(words.zone)
  if (!zone.ok) return zone
  const name = parseOwner(words.name, zone.value)
  if (!name.ok) return name
  const type = parseTypeWord(words.type)
  if (!type.ok) return type
  if (type.value === 'SOA') return failure('the fields of the SOA are settings of the zone')
  if (action !== 'remove' && words.values.length === 0) return failure(`${action} needs a value`)
  const data = new Set<string>()
  for (const text of words.values) {
    const value = parseValue(type.value, text, zone.value)
    if (!value.ok) {
      const more = inQuotes(type.value, words.values, zone.value) || fieldsOf(type.value)
      return failure(`${name.value} ${type.value}: ${value.message}${more}`)
    }
    data.add(value.value)
  }
  return ok({ action, zone: zone.value, name: name.value, type: type.value, data: [...data], ttl: words.ttl })
}

/** A record type on the command line. */
export function parseTypeWord(text: string): ReturnType<typeof parseRecordType> {
  const type = parseRecordType(text)
  const hint = didYouMean(text, RDATA_TYPES.keys())
  return type.ok || hint === undefined ? type : failure(`${type.message}. ${hint}`)
}

/** A name of the zone as on the command line: relative, `@` or empty for the apex, or absolute with the final dot. */
function parseOwner(text: string, zone: DomainName): Result<DomainName> {
  const name = text === '' ? ok(zone) : parseDomainName(text, zone)
  if (!name.ok) return name
  if (!isAtOrBelow(name.value, zone))
    return failure(`${name.value} is not in the zone ${zone} Write the name relative to the zone, such as www`)
  const absolute = text === '' || text === '@' || text.endsWith('.') ? null : parseDomainName(`${text}.`)
  // In the root zone both are the same.
  if (!absolute?.ok || absolute.value === name.value || !isAtOrBelow(absolute.value, zone)) return name
  return failure(
    `${JSON.stringify(text)} is ambiguous. Write "${absolute.value}" for that absolute name, or "${name.value}" for a name below the zone`,
  )
}

/** A change of the owner of all records at a name. */
export interface NameEdit {
  readonly zone: DomainName
  readonly name: DomainName
  readonly newName: DomainName
}

/** Parses the arguments of `record rename`. */
export function parseNameEdit(words: { readonly zone: string; readonly name: string; readonly newName: string }): Result<NameEdit> {
  const zone = parseAbsoluteName(words.zone)
  if (!zone.ok) return zone
  const name = parseOwner(words.name, zone.value)
  if (!name.ok) return name
  const newName = parseOwner(words.newName, zone.value)
  return newName.ok ? ok({ zone: zone.value, name: name.value, newName: newName.value }) : newName
}

/** A hint if the arguments together form one value. */
function inQuotes(type: string, words: readonly string[], zone: DomainName): string {
  const joined = words.join(' ')
  const isOne = words.length > 1 && parseValue(type, joined, zone).ok
  return isOne ? `. Each argument is a value; for one value write '${joined}'` : ''
}

/** The fields of a type with several, in the order of a value. */
function fieldsOf(type: string): string {
  const form = valueForm(type)
  return form.shape === 'mapping' && form.fields.length > 1 ? `. Write '${form.fields.map(({ key }) => `<${key}>`).join(' ')}'` : ''
}

const TEXT_TYPES: ReadonlySet<string> = new Set(['TXT', 'SPF'])

/**
 * Parses a value in zone-file syntax into canonical data. Names have the forms of definitions: with a final dot, one label of the zone, or `@`. TXT may
 * also be bare text that does not begin with a quote.
 */
function parseValue(type: string, text: string, zone: DomainName): Result<string> {
  if (TEXT_TYPES.has(type) && !text.startsWith('"')) return ok(stringToTxtRdata(text))
  const tokens = presentationTokens(text)
  if (!tokens.ok) return tokens
  if (tokens.value[0]?.text === '\\#' && !tokens.value[0].quoted) return parseGeneric(type, tokens.value)
  return canonicalRdata(type, tokens.value, (name) => {
    const target = readTargetName(name, zone, 'settings')
    return target.ok ? target : failure(target.hint === undefined ? target.message : `${target.message}. ${target.hint}`)
  })
}

function parseGeneric(type: string, tokens: Parameters<typeof parseGenericForm>[1]): Result<string> {
  return type.startsWith('TYPE') ? canonicalRdata(type, tokens, (name) => parseDomainName(name)) : parseGenericForm(type, tokens)
}

/** What an edit changes, as messages name it. */
export type EditSubject = Pick<RecordEdit, 'zone' | 'name'> & { readonly type?: string }

/** There is nothing to change or remove. */
export const noSuchRecords = (edit: EditSubject, atName: readonly string[] = []): Diagnostic =>
  editProblem(edit, 'record-unknown', 'the definition has no such records', {
    hint: atName.length > 0 ? `the name has ${listed(atName)} records` : `"zonewright render ${edit.zone.slice(0, -1)}" shows its records`,
  })

/** An error about an edit; its message begins with the name and type. */
export const editProblem = (
  { name, type }: EditSubject,
  code: Diagnostic['code'],
  message: string,
  more: Partial<Diagnostic> = {},
): Diagnostic => ({
  severity: 'error',
  code,
  message: `${name}${type === undefined ? '' : ` ${type}`}: ${message}`,
  ...more,
})
