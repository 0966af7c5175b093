/** Parses zone files. */
import type { Diagnostic } from '../diagnostic.ts'
import type { DomainName } from '../domain-name.ts'
import type { DefinedRecord } from '../record.ts'
import type { Ttl } from '../ttl.ts'
import { type Insertion, readDirective, rememberIncludedTtl, warnOfIncludedTtl } from './directives.ts'
import type { GeneratedText } from './generate.ts'
import { createLexer, MAX_ENTRY_LENGTH, readEntry, type ZoneLexer } from './lexer.ts'
import { readRecord } from './read-record.ts'
import { NO_TTL, positionAt, type ReadZoneInclude, reportProblem, type ZoneFileReading, type ZoneFileScope } from './scope.ts'

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
