/** Reads a record of a zone file. */
import type { SourcePosition } from '../../base/diagnostic.ts'
import type { Result } from '../../base/result.ts'
import { type DomainName, isAtOrBelow, parseDomainName } from '../domain-name.ts'
import { canonicalRdata, isGenericForm, type RdataResult } from '../rdata/canonical.ts'
import type { Token } from '../rdata/field.ts'
import { parseGenericForm } from '../rdata/generic-form.ts'
import { signsLetterCase } from '../rdata/letter-case.ts'
import { RDATA_TYPES } from '../rdata/rdata-types.ts'
import { isMetaType, parseRecordType } from '../record-type.ts'
import { MAX_TTL, parseTtl, type Ttl } from '../ttl.ts'
import { INVALID_TTL, NO_TTL, positionAt, reportProblem, tokenPosition, tokenText, type ZoneFileScope } from './scope.ts'

/** The classes other than IN, none of which is supported. */
const OTHER_CLASS = /^(?:CH|HS|CS|NONE|ANY|CLASS[0-9]+)$/i

/** Reads the entry as a record: `[owner] [TTL] [class] type rdata`, with TTL and class in either order (RFC 1035 section 5.1). */
export function readRecord(scope: ZoneFileScope): void {
  const { run, lexer } = scope
  const typeIndex = readHead(scope)
  if (typeIndex === NOT_A_RECORD) return
  const type = readType(scope, typeIndex)
  if (type === null) return
  const data = readRdata(scope, type, typeIndex + 1)
  if (!data.ok) {
    const index = typeIndex + 1 + (data.token ?? 0)
    const missing = index >= lexer.count ? ' (the record ends here)' : ''
    reportProblem(run, 'value-invalid', `${subject(scope, type)}: ${data.message}${missing}`, tokenPosition(scope, index))
    return
  }
  const { owner, statedTtl } = scope
  if (owner === null || scope.hasInvalidOwner || statedTtl === INVALID_TTL) return
  emitRecord(scope, type, data.value, recordPlace(scope))
}

/** Emits a record with the owner and TTL of the scope, or reports why not. */
function emitRecord(scope: ZoneFileScope, type: string, data: string, at: SourcePosition): void {
  const { run, statedTtl } = scope
  const owner = scope.owner as DomainName
  if (run.zone !== null && !isAtOrBelow(owner, run.zone)) {
    const message = `${owner} is not in ${run.zone}; its ${type} record is dropped`
    reportProblem(run, 'name-outside-zone', message, at, { severity: 'warning' })
    return
  }
  if (type === 'SOA') readSoa(scope, data)
  if (run.records >= run.maxRecords) {
    run.stopped = true
    const message = `the zone has more than ${run.maxRecords} records; the rest of the file is not read`
    run.diagnostics.push({ severity: 'error', code: 'zonefile-too-large', message, at })
    return
  }
  run.records += 1
  let ttl: Ttl | null
  if (statedTtl === NO_TTL) ttl = inheritedTtl(scope, at)
  else {
    ttl = statedTtl as Ttl
    scope.lastTtl = ttl
  }
  run.emit({ name: owner, type, ttl, data, at })
}

const subject = (scope: ZoneFileScope, type: string): string => `${scope.owner ?? ''} ${type}`.trim()

function recordPlace(scope: ZoneFileScope): SourcePosition {
  const { fixedPlace, file, lexer } = scope
  if (fixedPlace !== null) return fixedPlace
  const offset = (lexer.starts[0] as number) - (lexer.quotes[0] as number)
  if (lexer.isMultiline) return positionAt(scope, offset)
  return { file, line: lexer.entryLine, column: offset - lexer.entryOffset + 1 }
}

/** Returned in place of a token index if the entry cannot be a record. */
const NOT_A_RECORD = -1

/** Reads owner, TTL and class into the scope; returns the index of the type's token. */
function readHead(scope: ZoneFileScope): number {
  const { run, lexer } = scope
  let next = 0
  if (!lexer.hasLeadingBlank) {
    readOwner(scope)
    next = 1
  } else if (scope.owner === null && !scope.hasInvalidOwner) {
    const severity = scope.origin === null ? 'error' : 'warning'
    const taken = scope.origin === null ? '' : `; it gets the origin, ${scope.origin}, as in NSD, Knot and ldns, but BIND refuses the file`
    const message = `the record has no owner name, and no record before it has one${taken}`
    reportProblem(run, 'name-invalid', message, tokenPosition(scope, 0), {
      severity,
      ...(taken !== '' && { hint: 'write @ before the record' }),
    })
    scope.owner = scope.origin
    scope.hasInvalidOwner = scope.origin === null
  }
  scope.statedTtl = NO_TTL
  let hasClass = false
  for (; next < lexer.count; next += 1) {
    const first = lexer.text.charCodeAt(lexer.starts[next] as number)
    if (first >= 0x30 && first <= 0x39) {
      if (scope.statedTtl !== NO_TTL) {
        reportProblem(run, 'zonefile-syntax', `${subject(scope, 'the record')} has two TTLs`, tokenPosition(scope, next))
        return NOT_A_RECORD
      }
      scope.statedTtl = readTtl(scope, next) ?? INVALID_TTL
    } else if (isIn(lexer.text, lexer.starts[next] as number, lexer.ends[next] as number)) {
      if (hasClass) {
        reportProblem(run, 'zonefile-syntax', `${subject(scope, 'the record')} has two classes`, tokenPosition(scope, next))
        return NOT_A_RECORD
      }
      hasClass = true
    } else return next
  }
  reportProblem(run, 'zonefile-syntax', `${scope.owner ?? 'the record'} has no type and no data`, tokenPosition(scope, next))
  return NOT_A_RECORD
}

function readOwner(scope: ZoneFileScope): void {
  const name = readNameToken(scope, 0)
  scope.hasInvalidOwner = !name.ok
  scope.owner = name.ok ? name.value : null
  if (!name.ok) reportProblem(scope.run, 'name-invalid', name.message, tokenPosition(scope, 0))
}

/** Whether a token is the class `IN`, in either case, or `CLASS1` (RFC 3597 section 5). */
const isIn = (text: string, start: number, end: number): boolean =>
  end - start === 2
    ? (text.charCodeAt(start) | 0x20) === 0x69 && (text.charCodeAt(start + 1) | 0x20) === 0x6e
    : end - start === 6 && text.slice(start, end).toUpperCase() === 'CLASS1'

/** The TTL in a token, in seconds or with units; null after reporting that it is invalid. */
export function readTtl(scope: ZoneFileScope, index: number): Ttl | null {
  const { text, starts, ends } = scope.lexer
  const start = starts[index] as number
  const end = ends[index] as number
  let seconds = 0
  for (let i = start; i < end; i += 1) {
    const digit = text.charCodeAt(i) - 0x30
    if (digit < 0 || digit > 9) {
      seconds = Number.POSITIVE_INFINITY
      break
    }
    seconds = seconds * 10 + digit
  }
  if (start < end && seconds <= MAX_TTL) return seconds as Ttl
  const ttl = parseTtl(text.slice(start, end))
  if (ttl.ok) return ttl.value
  reportProblem(scope.run, 'ttl-invalid', ttl.message, tokenPosition(scope, index))
  return null
}

/** The most common types by length, a shortcut for most records. */
const COMMON_TYPES: readonly (readonly string[])[] = [
  [],
  ['A'],
  ['NS', 'MX'],
  ['TXT', 'PTR', 'SRV', 'CAA'],
  ['AAAA', 'NSEC'],
  ['CNAME', 'RRSIG'],
]

function readType(scope: ZoneFileScope, index: number): string | null {
  const { run, lexer } = scope
  const start = lexer.starts[index] as number
  const common = COMMON_TYPES[(lexer.ends[index] as number) - start]
  if (common !== undefined) for (const type of common) if (lexer.text.startsWith(type, start)) return type
  const text = tokenText(lexer, index)
  const type = parseRecordType(text)
  if (type.ok && isMetaType(type.value)) {
    reportProblem(
      run,
      'type-unknown',
      `${subject(scope, type.value)}: the type occurs only in messages, not in zones`,
      tokenPosition(scope, index),
    )
    return null
  }
  if (type.ok) return type.value
  if (OTHER_CLASS.test(text)) {
    const message = `${scope.owner ?? 'the record'} has class ${text.toUpperCase()}; only IN is supported`
    reportProblem(run, 'zonefile-class', message, tokenPosition(scope, index))
  } else {
    const prefix = scope.owner === null ? '' : `${scope.owner}: `
    reportProblem(run, 'type-unknown', prefix + type.message, tokenPosition(scope, index))
  }
  return null
}

/** Sets the apex at the first SOA. Its minimum is the default TTL of the file if neither it nor a record before it has a TTL. */
function readSoa(scope: ZoneFileScope, data: string): void {
  scope.run.apex ??= scope.owner
  const minimum = Number(data.slice(data.lastIndexOf(' ') + 1))
  if (minimum > MAX_TTL || scope.soaMinimum !== null) return
  scope.soaMinimum = minimum as Ttl
  scope.isMinimumDefault = scope.statedTtl === NO_TTL && scope.lastTtl === null
}

/**
 * The TTL of a record without one (docs/decisions/0006-ttl-of-zone-file-records.md): that of `$TTL`, else the minimum of an SOA record
 * without a TTL, else the last explicit TTL. Without `$TTL` servers disagree, so a file for which that matters gets a warning.
 */
function inheritedTtl(scope: ZoneFileScope, at: SourcePosition): Ttl | null {
  const { run, defaultTtl, soaMinimum, lastTtl } = scope
  if (defaultTtl !== null) return defaultTtl
  if (soaMinimum === null) return lastTtl ?? run.fallbackTtl
  const ttl = scope.isMinimumDefault ? soaMinimum : (lastTtl ?? soaMinimum)
  if (lastTtl !== null && lastTtl !== soaMinimum && !run.hasTtlWarning) {
    run.hasTtlWarning = true
    const minimum = `${soaMinimum}, the minimum of the SOA record`
    const last = `${lastTtl}, the last explicit TTL`
    const [mine, theirs] = scope.isMinimumDefault ? [minimum, last] : [last, minimum]
    const message = `records without a TTL, such as this one, get ${mine}; without $TTL servers disagree, and some use ${theirs}, or a default of their own`
    reportProblem(run, 'zonefile-ttl', message, at, { severity: 'warning', hint: `Put $TTL ${ttl} at the top of the file.` })
  }
  return ttl
}

/** The canonical rdata of the entry's tokens from `from` on, or what is wrong with which token. */
function readRdata(scope: ZoneFileScope, type: string, from: number): RdataResult {
  const { run, lexer, origin } = scope
  const tokens: Token[] = []
  for (let i = from; i < lexer.count; i += 1) {
    tokens.push({ text: tokenText(lexer, i), quoted: lexer.quotes[i] === 1 })
  }
  const isGeneric = isGenericForm(tokens) && RDATA_TYPES.has(type)
  if (!isGeneric && tokens.some(({ text }, index) => signsLetterCase(type, index) && hasCapitals(scope, text)))
    run.lowered.add(`${scope.owner} ${type}`)
  if (isGeneric) return parseGenericForm(type, tokens)
  return canonicalRdata(type, tokens, (text) => parseDomainName(text, origin))
}

const hasCapitals = ({ run }: ZoneFileScope, name: string): boolean => /[A-Z]/.test(name) || (run.hasCapitalOrigin && !name.endsWith('.'))

/** The name in a token, completed with the origin, or what is wrong with it. */
export const readNameToken = ({ lexer, origin }: ZoneFileScope, index: number): Result<DomainName> =>
  parseDomainName(tokenText(lexer, index), origin)
