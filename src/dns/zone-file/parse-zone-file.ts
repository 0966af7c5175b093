/** Parses zone files. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { unescapeString } from '../character-string.ts'
import { type DomainName, isAtOrBelow, parseDomainName } from '../domain-name.ts'
import type { DefinedRecord } from '../record.ts'
import type { Ttl } from '../ttl.ts'
import { type GeneratedText, readGenerate } from './generate.ts'
import { createLexer, MAX_ENTRY_LENGTH, readEntry, type ZoneLexer } from './lexer.ts'
import { readNameToken, readRecord, readTtl } from './read-record.ts'
import {
  type IncludedZoneFile,
  NO_TTL,
  positionAt,
  type ReadZoneInclude,
  reportProblem,
  tokenPosition,
  tokenText,
  type ZoneFileReading,
  type ZoneFileScope,
} from './scope.ts'

export interface ZoneFileOptions {
  /** The origin until the first `$ORIGIN`; null if the file must set it. */
  readonly origin: DomainName | null
  /** The zone. Records outside it are dropped with a warning. Without it all records are kept. */
  readonly zone?: DomainName | undefined
  /** The TTL, in seconds, of records for which the file has none so far: no `$TTL`, SOA or record with a TTL. They get null without it. */
  readonly defaultTtl?: Ttl | undefined
  /** The file name for positions. */
  readonly file: string
  /** Without it, `$INCLUDE` is an error. */
  readonly include?: ReadZoneInclude | undefined
  /** The number of errors after which reading stops, and of warnings that are kept. The default is 200. */
  readonly maxDiagnostics?: number | undefined
  /** The number of records after which reading stops. The default is 10 million. */
  readonly maxRecords?: number | undefined
}

export interface ZoneFileSummary {
  /** The apex: the given zone or origin, else the owner of the SOA record, else the first `$ORIGIN`; null if unknown. */
  readonly origin: DomainName | null
  /** The included files, in the order of first reading. */
  readonly includedFiles: readonly string[]
  /** The keys (`rrsetKey`) of RRsets with capital letters that signatures cover: canonical data does not have them. */
  readonly lowered: ReadonlySet<string>
  /** All problems, in the order of reading. A record with an error is dropped. */
  readonly diagnostics: readonly Diagnostic[]
}

export interface ParsedZoneFile extends ZoneFileSummary {
  /** In the order of the file, with the SOA. The position of a record is its start. */
  readonly records: readonly DefinedRecord[]
}

/**
 * Parses a zone file (RFC 1035 section 5, RFC 2308 section 4, RFC 3597 section 5, and the `$GENERATE` of BIND). Names and data become
 * canonical. Only class IN is accepted. Rules between records are checked elsewhere. An included file starts with the origin, owner
 * and TTL of its parent and does not change them. Never throws on bad input.
 */
export function parseZoneFile(text: string, options: ZoneFileOptions): ParsedZoneFile {
  const records: DefinedRecord[] = []
  const run = createRun(options, (record) => void records.push(record))
  readEntries(fileScope(run, options, text))
  return { ...summary(run, options), records }
}

/** Reads a zone file in pieces, such as one too large for memory: `push` each piece, then call `end`. */
export interface ZoneFileReader {
  /** Takes the next piece and reads the entries that are complete, now or with a later piece. */
  readonly push: (text: string) => void
  /** Reads the rest. */
  readonly end: () => ZoneFileSummary
}

/** Like `parseZoneFile`, in constant memory: passes each record to `onRecord` and keeps none. */
export function createZoneFileReader(options: ZoneFileOptions, onRecord: (record: DefinedRecord) => void): ZoneFileReader {
  const run = createRun(options, onRecord)
  const scope = fileScope(run, options, '')
  const { lexer } = scope
  lexer.final = false
  let isFirst = true
  /** Text that was pushed and not read yet. */
  let waiting = ''
  const readAvailable = (): void => {
    lexer.text = lexer.text.slice(lexer.offset) + waiting
    waiting = ''
    lexer.offset = isFirst && lexer.text.charCodeAt(0) === 0xfeff ? 1 : 0
    isFirst = false
    readEntries(scope)
  }
  return {
    push: (text) => {
      if (run.stopped || text === '') return
      waiting += text
      // An incomplete entry is read again with the text after it. Waiting until that text is as long keeps the time linear.
      if (waiting.length < lexer.text.length - lexer.offset) return
      readAvailable()
      if (lexer.text.length - lexer.offset > 2 * MAX_ENTRY_LENGTH) {
        reportProblem(run, 'zonefile-too-large', `a line has more than ${2 * MAX_ENTRY_LENGTH} characters`, {
          file: scope.file,
          line: lexer.line,
          column: 1,
        })
        run.stopped = true
      }
    },
    end: () => {
      lexer.final = true
      readAvailable()
      lexer.text = ''
      return summary(run, options)
    },
  }
}

function createRun(options: ZoneFileOptions, emit: (record: DefinedRecord) => void): ZoneFileReading {
  return {
    emit,
    include: options.include,
    fallbackTtl: options.defaultTtl ?? null,
    zone: options.zone ?? null,
    maxDiagnostics: options.maxDiagnostics ?? 200,
    maxRecords: options.maxRecords ?? 10_000_000,
    diagnostics: [],
    errors: 0,
    warnings: 0,
    open: [options.file],
    included: new Set(),
    inclusions: 0,
    includedLength: 0,
    records: 0,
    generated: 0,
    generatedLength: 0,
    hasTtlWarning: false,
    hasCapitalOrigin: false,
    lowered: new Set(),
    stopped: false,
    apex: null,
    firstOrigin: null,
  }
}

const fileScope = (run: ZoneFileReading, options: ZoneFileOptions, text: string): ZoneFileScope => ({
  run,
  file: options.file,
  lexer: createLexer(text),
  origin: options.origin,
  owner: null,
  statedTtl: NO_TTL,
  hasInvalidOwner: false,
  defaultTtl: null,
  soaMinimum: null,
  isMinimumDefault: false,
  lastTtl: null,
  endedTtl: null,
  fixedPlace: null,
})

const summary = (run: ZoneFileReading, options: ZoneFileOptions): ZoneFileSummary => ({
  origin: options.zone ?? options.origin ?? run.apex ?? run.firstOrigin,
  includedFiles: [...run.included],
  lowered: run.lowered,
  diagnostics: run.diagnostics,
})

const DOLLAR = 0x24

/** Reads entries up to the end of the available text. */
function readEntries(scope: ZoneFileScope): void {
  const { run, lexer } = scope
  while (!run.stopped) {
    const outcome = readEntry(lexer)
    if (scope.endedTtl !== null && (outcome === 'entry' || outcome === 'bad')) warnOfIncludedTtl(scope)
    if (outcome === 'entry') {
      if (isDirective(lexer)) {
        const insertion = readDirective(scope)
        if (insertion) insert(scope, insertion)
      } else readRecord(scope)
    } else if (outcome === 'bad') {
      const { problem } = lexer
      if (problem) reportProblem(run, 'zonefile-syntax', problem.message, positionAt(scope, problem.offset))
    } else return
  }
}

const isDirective = ({ text, starts, quotes, hasLeadingBlank }: ZoneLexer): boolean =>
  !hasLeadingBlank && text.charCodeAt(starts[0] as number) === DOLLAR && quotes[0] === 0

function insert(scope: ZoneFileScope, insertion: Insertion): void {
  if (insertion.kind === 'generated') {
    readGenerated(scope, insertion.generated)
    return
  }
  const { run } = scope
  const { source, origin } = insertion
  run.open.push(source.file)
  const inner: ZoneFileScope = {
    ...scope,
    file: source.file,
    lexer: createLexer(source.text),
    origin,
    endedTtl: null,
    fixedPlace: null,
  }
  readEntries(inner)
  run.open.pop()
  rememberIncludedTtl(scope, inner)
}

/** Reads generated lines. The first line with a problem ends them, since the others have the same problem. */
function readGenerated(scope: ZoneFileScope, { lines, at }: GeneratedText): void {
  const { run } = scope
  const inner = { ...scope, fixedPlace: at }
  for (const line of lines) {
    inner.lexer = createLexer(line)
    const problems = run.diagnostics.length
    if (readEntry(inner.lexer) === 'entry') readRecord(inner)
    else reportProblem(run, 'zonefile-syntax', `$GENERATE makes ${JSON.stringify(line.slice(0, 80))}, which is not a record`, at)
    if (run.diagnostics.length > problems || run.stopped) return
  }
}

// The directives of zone files.

/** The deepest nesting of included files. */
const MAX_INCLUDE_DEPTH = 16

/** Maximum number of included files, and of characters in all of them together. */
const MAX_INCLUSIONS = 1000
const MAX_INCLUDED_LENGTH = 1 << 26

/** Text that replaces a directive. */
type Insertion =
  | { readonly kind: 'file'; readonly source: IncludedZoneFile; readonly origin: DomainName | null }
  | { readonly kind: 'generated'; readonly generated: GeneratedText }

/** Executes the entry as a directive. Returns the text to read in its place, if any; reports errors. */
function readDirective(scope: ZoneFileScope): Insertion | null {
  const { run, lexer } = scope
  const directive = tokenText(lexer, 0).toUpperCase()
  switch (directive) {
    case '$ORIGIN':
      readOrigin(scope)
      return null
    case '$TTL':
      readDefaultTtl(scope)
      return null
    case '$INCLUDE':
      return readInclude(scope)
    case '$GENERATE': {
      const generated = readGenerate(scope)
      return generated && { kind: 'generated', generated }
    }
    default: {
      const hint = 'The directives are $ORIGIN, $TTL, $INCLUDE and $GENERATE; a name that begins with a dollar sign is written \\$.'
      const message = `${JSON.stringify(tokenText(lexer, 0).slice(0, 60))} is not a directive`
      reportProblem(run, 'zonefile-directive', message, tokenPosition(scope, 0), { hint })
      return null
    }
  }
}

/** Whether the directive has from one to `most` operands; reports an error if not. */
function hasOperands(scope: ZoneFileScope, form: string, most = 1): boolean {
  const given = scope.lexer.count - 1
  if (given >= 1 && given <= most) return true
  const place = tokenPosition(scope, given === 0 ? 1 : most + 1)
  reportProblem(scope.run, 'zonefile-directive', `the directive has the wrong number of operands (${given}); it must be ${form}`, place)
  return false
}

/** `$ORIGIN name`: sets the origin from here to the end of the file. */
function readOrigin(scope: ZoneFileScope): void {
  const { run, lexer } = scope
  if (!hasOperands(scope, '$ORIGIN NAME')) return
  const written = tokenText(lexer, 1)
  const isRelative = written !== '@' && !parseDomainName(written).ok && parseDomainName(`${written}.`).ok
  if (isRelative && run.firstOrigin === null) {
    refuseRelativeOrigin(scope, written)
    return
  }
  const origin = readNameToken(scope, 1)
  if (!origin.ok) {
    reportProblem(run, 'name-invalid', `$ORIGIN: ${origin.message}`, tokenPosition(scope, 1))
    return
  }
  scope.origin = origin.value
  run.hasCapitalOrigin ||= /[A-Z]/.test(written)
  if (written !== '@') run.firstOrigin ??= origin.value
}

/**
 * Reports a relative `$ORIGIN` that no absolute one precedes: NSD and Knot refuse it, and BIND appends the zone that its configuration names. The
 * records that follow get the name that was probably meant.
 */
function refuseRelativeOrigin(scope: ZoneFileScope, written: string): void {
  const { run, origin } = scope
  const absolute = parseDomainName(`${written}.`)
  const relative = parseDomainName(written, origin)
  const isWhole = absolute.ok && (!relative.ok || origin === null || isAtOrBelow(absolute.value, origin))
  const meant = isWhole ? absolute : relative
  if (meant.ok) scope.origin = meant.value
  run.firstOrigin = scope.origin
  const message = `$ORIGIN ${written} is relative, and no $ORIGIN before it is absolute`
  reportProblem(run, 'zonefile-directive', message, tokenPosition(scope, 1), {
    hint: `Write it with the final dot: $ORIGIN ${scope.origin}`,
  })
}

/** `$TTL time`: sets the default TTL from here to the end of the file (RFC 2308 section 4). */
function readDefaultTtl(scope: ZoneFileScope): void {
  if (!hasOperands(scope, '$TTL TIME')) return
  const ttl = readTtl(scope, 1)
  if (ttl !== null) scope.defaultTtl = ttl
}

/** `$INCLUDE file [origin]`. */
function readInclude(scope: ZoneFileScope): Insertion | null {
  const { run, lexer } = scope
  if (!hasOperands(scope, '$INCLUDE FILE [ORIGIN]', 2)) return null
  const at = tokenPosition(scope, 1)
  const refuse = (message: string): null => {
    reportProblem(run, 'zonefile-include', message, at)
    return null
  }
  let { origin } = scope
  if (lexer.count === 3) {
    const given = readNameToken(scope, 2)
    if (!given.ok) {
      reportProblem(run, 'name-invalid', `$INCLUDE: ${given.message}`, tokenPosition(scope, 2))
      return null
    }
    origin = given.value
    run.hasCapitalOrigin ||= /[A-Z]/.test(tokenText(lexer, 2))
  }
  const path = unescapeString(tokenText(lexer, 1))
  if (!path.ok) return refuse(path.message)
  if (!run.include) return refuse('files cannot be included here')
  if (run.open.length > MAX_INCLUDE_DEPTH) return refuse(`files are included more than ${MAX_INCLUDE_DEPTH} deep`)
  if (run.inclusions >= MAX_INCLUSIONS) return refuse(`more than ${MAX_INCLUSIONS} files are included`)
  const source = run.include(Buffer.from(path.value).toString('utf8'), scope.file)
  if (!source.ok) return refuse(source.message)
  if (run.open.includes(source.value.file)) return refuse(`${source.value.file} includes itself`)
  run.inclusions += 1
  run.includedLength += source.value.text.length
  if (run.includedLength > MAX_INCLUDED_LENGTH) {
    refuse(`the included files have more than ${MAX_INCLUDED_LENGTH} characters together; the rest of the file is not read`)
    run.stopped = true
    return null
  }
  run.included.add(source.value.file)
  return { kind: 'file', source: source.value, origin }
}

/** Remembers the `$TTL` of an included file, which ends with that file. */
function rememberIncludedTtl(scope: ZoneFileScope, inner: ZoneFileScope): void {
  const { run, defaultTtl } = scope
  if (inner.defaultTtl === null || inner.defaultTtl === defaultTtl || run.hasTtlWarning) return
  scope.endedTtl = { ttl: inner.defaultTtl, file: inner.file, at: tokenPosition(scope, 0) }
}

/** Warns of the remembered TTL if anything but a `$TTL` follows: BIND and NSD keep using that TTL. */
function warnOfIncludedTtl(scope: ZoneFileScope): void {
  const { run, lexer, defaultTtl, endedTtl } = scope
  scope.endedTtl = null
  if (endedTtl === null || run.hasTtlWarning || (lexer.count > 0 && /^\$TTL$/i.test(tokenText(lexer, 0)))) return
  run.hasTtlWarning = true
  const { ttl, file, at } = endedTtl
  const own = defaultTtl === null ? 'has none' : `is ${defaultTtl} again`
  const message = `$TTL ${ttl} of ${file} ends with that file; from here the default TTL ${own}, but BIND and NSD keep using ${ttl}`
  reportProblem(run, 'zonefile-ttl', message, at, { severity: 'warning', hint: 'Put $TTL after the $INCLUDE.' })
}
