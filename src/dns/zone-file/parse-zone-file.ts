import type { Diagnostic } from '../diagnostic.ts'
import type { DomainName } from '../domain-name.ts'
import type { DefinedRecord } from '../record.ts'
import type { Ttl } from '../ttl.ts'
import { type Insertion, readDirective, rememberIncludedTtl, warnOfIncludedTtl } from './directives.ts'
import type { GeneratedText } from './generate.ts'
import { createLexer, MAX_ENTRY_LENGTH, readEntry, TOKEN, type ZoneLexer } from './lexer.ts'
import { readRecord } from './read-record.ts'
import { NO_TTL, positionAt, type ReadZoneInclude, reportProblem, type ZoneFileReading, type ZoneFileScope } from './scope.ts'

export interface ZoneFileOptions {
  /** Completes names until the first `$ORIGIN`; null where the file must say it. */
  readonly origin: DomainName | null
  /** The zone: records outside it are left out, each with a warning. Without it all records are kept. */
  readonly zone?: DomainName | undefined
  /** Seconds for records without a TTL where the file shows none so far: no `$TTL`, no SOA record, no record with one. Without it they have null. */
  readonly defaultTtl?: Ttl | undefined
  /** The name of the file in positions. */
  readonly file: string
  /** Without it, `$INCLUDE` is an error. */
  readonly include?: ReadZoneInclude | undefined
  /** Errors after which reading stops, and warnings that are kept; 200 where absent. */
  readonly maxDiagnostics?: number | undefined
  /** Records after which reading stops; 10 million where absent. */
  readonly maxRecords?: number | undefined
}

export interface ZoneFileSummary {
  /** The apex as far as it is known: the given zone or origin, else the owner of the SOA record, else the first `$ORIGIN`. */
  readonly origin: DomainName | null
  /** Every other file that was read, by `file`, in the order of first reading. */
  readonly includedFiles: readonly string[]
  /** All faults found, in the order of reading. A record with a fault is left out. */
  readonly diagnostics: readonly Diagnostic[]
}

export interface ParsedZoneFile extends ZoneFileSummary {
  /** In the order of the file, SOA included; a record's place is where it begins. */
  readonly records: readonly DefinedRecord[]
}

/**
 * Reads a zone file (RFC 1035 section 5, RFC 2308 section 4, RFC 3597 section 5, `$GENERATE` as BIND has it). Names and data come
 * in canonical form; whether records belong to the zone and together is for the rules of zones. Only class IN is taken. An
 * included file starts with the origin, owner and TTL of its parent and gives none back. Never throws on bad input.
 */
export function parseZoneFile(text: string, options: ZoneFileOptions): ParsedZoneFile {
  const records: DefinedRecord[] = []
  const run = createRun(options, (record) => void records.push(record))
  readEntries(fileScope(run, options, text))
  const { origin, includedFiles, diagnostics } = summary(run, options)
  return { origin, includedFiles, diagnostics, records }
}

/** A zone file that comes in pieces, such as one too large to hold: `push` each, then `end`. */
export interface ZoneFileReader {
  /** Reads the entries that are complete; where one is longer than the pieces that go on with it, not at once. */
  readonly push: (text: string) => void
  /** Reads what is left. */
  readonly end: () => ZoneFileSummary
}

/** As `parseZoneFile`, in memory that does not grow with the file: each record goes to `onRecord` and is forgotten. */
export function createZoneFileReader(options: ZoneFileOptions, onRecord: (record: DefinedRecord) => void): ZoneFileReader {
  const run = createRun(options, onRecord)
  const scope = fileScope(run, options, '')
  const { lexer } = scope
  lexer.final = false
  let isFirst = true
  /** Pushed and not read yet. */
  let waiting = ''
  const readOn = (): void => {
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
      // What is left of an entry is read again with what follows: only once that is as long, so that time is in proportion to the text.
      if (waiting.length < lexer.text.length - lexer.offset) return
      readOn()
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
      readOn()
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
  diagnostics: run.diagnostics,
})

const DOLLAR = 0x24

/** Reads entries up to the end of the text there is. */
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

const isDirective = ({ text, starts, flags, hasLeadingBlank }: ZoneLexer): boolean =>
  !hasLeadingBlank && text.charCodeAt(starts[0] as number) === DOLLAR && ((flags[0] as number) & TOKEN.quoted) === 0

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

/** A faulty line of a `$GENERATE` ends it: its other lines have the same fault. */
function readGenerated(scope: ZoneFileScope, { lines, at }: GeneratedText): void {
  const { run } = scope
  const inner = { ...scope, fixedPlace: at }
  for (const line of lines) {
    inner.lexer = createLexer(line)
    const problems = run.diagnostics.length
    if (readEntry(inner.lexer) === 'entry') readRecord(inner)
    else reportProblem(run, 'zonefile-syntax', `$GENERATE makes ${JSON.stringify(line.slice(0, 80))}, which is no record`, at)
    if (run.diagnostics.length > problems || run.stopped) return
  }
}
