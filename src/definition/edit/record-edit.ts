import { stringToTxtRdata } from '../../dns/character-string.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type DomainName, isAtOrBelow, parseDomainName } from '../../dns/domain-name.ts'
import { canonicalRdata } from '../../dns/rdata/canonical.ts'
import { parseGenericForm } from '../../dns/rdata/generic-form.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { presentationTokens } from '../parse/presentation-tokens.ts'
import { readTargetName } from '../parse/target-name.ts'

/** What a command line wants of one RRset. */
export interface RecordEdit {
  readonly action: 'add' | 'set' | 'remove'
  readonly zone: DomainName
  readonly name: DomainName
  readonly type: string
  /** Canonical data, each once; with `remove` none stands for all. */
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

/** The words of a command line as an edit, or what is wrong with them. */
export function parseRecordEdit(action: RecordEdit['action'], words: RecordArguments): Result<RecordEdit> {
  const zone = parseDomainName(words.zone.endsWith('.') ? words.zone : `${words.zone}.`)
  if (!zone.ok) return zone
  const name = words.name === '' ? zone : parseDomainName(words.name, zone.value)
  if (!name.ok) return name
  if (!isAtOrBelow(name.value, zone.value)) return failure(`${name.value} is not in the zone ${zone.value}`)
  const absolute = words.name === '' || words.name.endsWith('.') ? null : parseDomainName(`${words.name}.`)
  if (absolute?.ok && isAtOrBelow(absolute.value, zone.value)) {
    return failure(
      `${JSON.stringify(words.name)} could be meant in two ways. Write "${absolute.value}" for the name as it stands, "${name.value}" for one below the zone`,
    )
  }
  const type = parseRecordType(words.type)
  if (!type.ok) return type
  if (type.value === 'SOA') return failure('the fields of the SOA are settings of the zone')
  if (action !== 'remove' && words.values.length === 0) return failure(`${action} needs a value`)
  const data = new Set<string>()
  for (const text of words.values) {
    const value = readValueWord(type.value, text, zone.value)
    if (!value.ok) return failure(`${name.value} ${type.value}: ${value.message}${inQuotes(type.value, words.values, zone.value)}`)
    data.add(value.value)
  }
  return ok({ action, zone: zone.value, name: name.value, type: type.value, data: [...data], ttl: words.ttl })
}

/** A hint where the words together are one value. */
function inQuotes(type: string, words: readonly string[], zone: DomainName): string {
  const together = words.join(' ')
  const isOne = words.length > 1 && readValueWord(type, together, zone).ok
  return isOne ? `. Each word is a value; for one value write '${together}'` : ''
}

const TEXT_TYPES: ReadonlySet<string> = new Set(['TXT', 'SPF'])

/**
 * The canonical data of a value: as in a zone file, names as definitions have them (with a final dot, one label of the zone, `@`); TXT
 * also as its bare text, unless that begins with a quote.
 */
function readValueWord(type: string, text: string, zone: DomainName): Result<string> {
  if (TEXT_TYPES.has(type) && !text.startsWith('"')) return ok(stringToTxtRdata(text))
  const tokens = presentationTokens(text)
  if (!tokens.ok) return tokens
  if (tokens.value[0]?.text === '\\#' && !tokens.value[0].quoted) return genericOr(type, tokens.value)
  return canonicalRdata(type, tokens.value, (name) => {
    const target = readTargetName(name, zone, 'settings')
    return target.ok ? target : failure(target.hint === undefined ? target.message : `${target.message}. ${target.hint}`)
  })
}

function genericOr(type: string, tokens: Parameters<typeof parseGenericForm>[1]): Result<string> {
  return type.startsWith('TYPE') ? canonicalRdata(type, tokens, (name) => parseDomainName(name)) : parseGenericForm(type, tokens)
}

/** An error of an edit, with the name and type that it is of. */
export const editProblem = (edit: RecordEdit, code: Diagnostic['code'], message: string, more: Partial<Diagnostic> = {}): Diagnostic => ({
  severity: 'error',
  code,
  message: `${edit.name} ${edit.type}: ${message}`,
  ...more,
})
