/** Reads the sources of usage: files, and addresses such as `/usage` of the service. Never throws: a source that fails makes the usage incomplete. */
import { durationText } from '../../base/english.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import type { UsageConfig, UsageSource } from '../../config/usage-source.ts'
import { type DomainName, parentOf, parseAbsoluteName, ROOT } from '../../dns/domain-name.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import type { QueriedRrset, Usage } from '../../plan/usage.ts'
import { readPlanText } from '../../stored/plans/saved-plan.ts'
import { endpointOfUrl, readHostPolicy } from '../../transport/allowed-hosts.ts'
import { createHttpClient, TransportError } from '../../transport/http-client.ts'
import { proxyFor } from '../../transport/proxy.ts'
import type { ProcessEnvironment } from '../context/run-context.ts'

/** Octets of a response: a million rows. */
const MAX_OCTETS = 64 * 1024 * 1024

/** Milliseconds without an octet of the response. */
const TIMEOUT = 10_000

/** The usage of the zones, from all sources together: a name is unused if no source has it. */
export async function readUsage(
  { sources, inUse }: UsageConfig,
  zones: ReadonlySet<DomainName>,
  { env, now }: Pick<ProcessEnvironment, 'env' | 'now'>,
  signal?: AbortSignal,
): Promise<Usage> {
  const read = await Promise.all(
    sources.map(async (source) => {
      const text = source.url === null ? await readPlanText(source.path, 'file with usage') : await readUrl(source.url, env, signal)
      const parsed = text.ok ? parseUsage(text.value, zones) : text
      return { source, parsed }
    }),
  )
  const found = read.flatMap(({ parsed }) => (parsed.ok ? [parsed.value] : []))
  const problems = read.flatMap(({ source, parsed }) => sourceProblem(source, parsed, inUse, now().getTime()) ?? [])
  return {
    source: sources.map(({ shown }) => shown).join(', '),
    window: found.length === 0 ? null : { from: Math.max(...found.map(({ from }) => from)), to: endOf(found, now()) },
    queried: new Map([...zones].map((zone) => [zone, found.flatMap(({ queried }) => queried.get(zone) ?? [])])),
    covered: new Set([...zones].filter((zone) => found.every(({ queried }) => queried.has(zone)))),
    incomplete: new Set(found.flatMap(({ incomplete }) => [...incomplete])),
    problem: problems[0] ?? null,
  }
}

const endOf = (found: readonly ParsedUsage[], now: Date): number => Math.min(now.getTime(), ...found.map(({ to }) => to))

/** Why a source does not show that a name is unused; null if it may. */
function sourceProblem({ shown }: UsageSource, parsed: Result<ParsedUsage>, inUse: number, now: number): string | null {
  if (!parsed.ok) return `${shown} cannot be used: ${parsed.message}`
  const { to, isIncomplete } = parsed.value
  if (isIncomplete) return `${shown} does not have the counts of all names`
  return now - to > inUse * 1000
    ? `the counts of ${shown} end at ${new Date(to).toISOString()}, more than in_use, ${durationText(inUse)}, ago`
    : null
}

async function readUrl(url: URL, env: ProcessEnvironment['env'], signal: AbortSignal | undefined): Promise<Result<string>> {
  const refused = readHostPolicy(env).check('usage', endpointOfUrl(url))
  if (refused !== null) return failure(refused.message)
  const diagnostics: Parameters<typeof proxyFor>[2] = []
  const proxy = proxyFor(url, env, diagnostics)
  if (diagnostics[0] !== undefined) return failure(diagnostics[0].message)
  const headers = { 'user-agent': 'zonewright', accept: 'text/csv' }
  const client = createHttpClient({
    baseUrl: new URL(url.origin),
    headers,
    connections: 1,
    timeout: TIMEOUT,
    maxResponse: MAX_OCTETS,
    proxy,
  })
  try {
    const { status, text } = await client.request({ method: 'GET', path: url.pathname + url.search, signal })
    return status === 200 ? ok(text) : failure(`it answers ${status}`)
  } catch (error) {
    if (error instanceof TransportError) return failure(error.message)
    if (signal?.aborted) return failure('the run was interrupted')
    throw error
  } finally {
    await client.close()
  }
}

/** The content of one source. Times in milliseconds since 1970. */
interface ParsedUsage {
  /** The begin of the counts: as the file says, otherwise the earliest time in it. */
  readonly from: number
  /** Their end: as the file says, otherwise the latest time in it. */
  readonly to: number
  /** Whether the file says that it does not have all names. */
  readonly isIncomplete: boolean
  /** Zones of which the file says so. */
  readonly incomplete: ReadonlySet<DomainName>
  /** The rows at or below each wanted zone; zones without a row are absent. */
  readonly queried: ReadonlyMap<DomainName, readonly QueriedRrset[]>
}

const COLUMNS = ['name', 'type', 'count', 'last_asked'] as const
type Column = (typeof COLUMNS)[number]

const MAX_ROWS = 2_000_000
/** Characters. A name has at most 1004. */
const MAX_LINE = 4000
const MAX_COLUMNS = 100

const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

/** Parses a file. Only rows of the zones are kept. A failure has the line and the column. */
export function parseUsage(text: string, zones: ReadonlySet<DomainName>): Result<ParsedUsage> {
  const window: { from: number | null; to: number | null } = { from: null, to: null }
  let isIncomplete = false
  const incomplete = new Set<DomainName>()
  let header: Header | null = null
  let [earliest, latest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  const queried = new Map<DomainName, QueriedRrset[]>()
  let line = 0
  for (let at = text.startsWith('\ufeff') ? 1 : 0; at < text.length; ) {
    line += 1
    const end = text.indexOf('\n', at)
    const next = end === -1 ? text.length : end
    if (next - at > MAX_LINE) return failure(`line ${line} has more than ${MAX_LINE} characters`)
    if (line > MAX_ROWS) return failure(`it has more than ${MAX_ROWS} lines`)
    const row = text.slice(at, text[next - 1] === '\r' && next > at ? next - 1 : next)
    at = next + 1
    if (row === '') continue
    if (header === null && row.startsWith('#')) {
      const comment = parseComment(row)
      if (comment === null) return failure(`line ${line}, column 1: write it as "# from 2026-11-22T00:00:00Z to 2026-11-23T00:00:00Z"`)
      if (comment === 'incomplete') isIncomplete = true
      else if (typeof comment === 'object' && 'zone' in comment) incomplete.add(comment.zone)
      else if (comment !== 'other') Object.assign(window, comment)
      continue
    }
    const fields = splitRow(row)
    if (typeof fields === 'number') return failure(`line ${line}, column ${fields + 1}: the quotation marks do not match`)
    if (header === null) {
      const parsed = parseHeader(fields)
      if (!parsed.ok) return failure(`line ${line}, column 1: ${parsed.message}`)
      header = parsed.value
      continue
    }
    const parsed = parseRow(fields, header)
    if (!('type' in parsed))
      return failure(`line ${line}, column ${parsed.field === null ? 1 : columnOf(row, parsed.field)}: ${parsed.message}`)
    if (parsed.lastAsked !== null) {
      earliest = Math.min(earliest, parsed.lastAsked)
      latest = Math.max(latest, parsed.lastAsked)
    }
    for (let name = parsed.name; ; name = parentOf(name)) {
      if (zones.has(name)) queried.set(name, pushed(queried.get(name), parsed))
      if (name === ROOT) break
    }
  }
  if (header === null) return failure(`it has no line "${COLUMNS.join(',')}"`)
  const [from, to] = [window.from ?? earliest, window.to ?? latest]
  if (!Number.isFinite(from) || !Number.isFinite(to)) return failure('it has no time, so it is unknown when its counts begin and end')
  if (from > to) return failure('its counts begin after they end')
  return ok({ from, to, isIncomplete, incomplete, queried })
}

function pushed(list: QueriedRrset[] | undefined, row: QueriedRrset): QueriedRrset[] {
  const known = list ?? []
  known.push(row)
  return known
}

type Comment = { readonly from: number; readonly to: number } | { readonly zone: DomainName } | 'incomplete' | 'other'

/** What a line above the header says; null if it begins like a window and is none. The counts are incomplete if a zone is named that is none. */
function parseComment(row: string): Comment | null {
  const [isPart, part] = /^#\s*incomplete(?:\s+(\S+))?\s*$/.exec(row) ?? []
  const zone = part === undefined ? null : parseAbsoluteName(part)
  if (isPart !== undefined) return zone?.ok ? { zone: zone.value } : 'incomplete'
  const [, begin, end] = /^#\s*from\s+(\S+)\s+to\s+(\S+)\s*$/.exec(row) ?? []
  if (begin === undefined || end === undefined) return /^#\s*from\b/.test(row) ? null : 'other'
  const [from, to] = [parseTime(begin), parseTime(end)]
  return from === null || to === null ? null : { from, to }
}

interface Header {
  readonly places: Readonly<Record<Column, number>>
  readonly count: number
}

function parseHeader(fields: readonly string[]): Result<Header> {
  const names = fields.map((field) => field.trim().toLowerCase())
  if (names.length > MAX_COLUMNS) return failure(`there are more than ${MAX_COLUMNS} columns`)
  for (const column of COLUMNS) {
    const first = names.indexOf(column)
    if (first === -1) return failure(`the first line must name the columns ${COLUMNS.join(', ')}`)
    if (names.indexOf(column, first + 1) !== -1) return failure(`the column ${column} is there twice`)
  }
  const places = Object.fromEntries(COLUMNS.map((column) => [column, names.indexOf(column)])) as Record<Column, number>
  return ok({ places, count: names.length })
}

interface RowProblem {
  /** The index of the field; null for the whole row. */
  readonly field: number | null
  readonly message: string
}

function parseRow(fields: readonly string[], { places, count: columns }: Header): QueriedRrset | RowProblem {
  if (fields.length !== columns) return { field: null, message: `the line has ${fields.length} of ${columns} fields` }
  const fieldOf = (column: Column): string => (fields[places[column]] as string).trim()
  const problem = (column: Column, message: string): RowProblem => ({ field: places[column], message })
  const name = parseAbsoluteName(fieldOf('name'))
  if (!name.ok) return problem('name', 'this is not a domain name')
  const type = fieldOf('type').toUpperCase()
  if (!/^[A-Z][A-Z0-9-]{0,19}$/.test(type)) return problem('type', 'this is not a record type')
  const known = parseRecordType(type)
  const count = fieldOf('count')
  if (!/^[0-9]{1,15}$/.test(count)) return problem('count', 'this is not a number of queries')
  const time = fieldOf('last_asked')
  const lastAsked = time === '' ? null : parseTime(time)
  if (lastAsked === null && (time !== '' || Number(count) > 0))
    return problem('last_asked', 'this is not a time such as 2026-11-23T20:10:00Z')
  return { name: name.value, type: known.ok ? known.value : type, count: Number(count), lastAsked }
}

/** An RFC 3339 date-time in milliseconds; null if it is none. */
function parseTime(text: string): number | null {
  const time = TIME.test(text) ? Date.parse(text.toUpperCase().replace(' ', 'T')) : Number.NaN
  return Number.isNaN(time) ? null : time
}

/** The fields of a row; the offset of a quotation mark without its counterpart. */
function splitRow(row: string): string[] | number {
  if (!row.includes('"')) return row.split(',')
  const fields: string[] = []
  for (let at = 0; at <= row.length; ) {
    if (row[at] !== '"') {
      const end = row.indexOf(',', at)
      fields.push(row.slice(at, end === -1 ? row.length : end))
      if (end === -1) break
      at = end + 1
      continue
    }
    const start = at
    let field = ''
    for (at += 1; ; at += 1) {
      if (at >= row.length) return start
      if (row[at] === '"') {
        if (row[at + 1] !== '"') break
        at += 1
      }
      field += row[at]
    }
    fields.push(field)
    if (at + 1 < row.length && row[at + 1] !== ',') return start
    if (at + 1 >= row.length) break
    at += 2
  }
  return fields
}

/** The column of a field, from 1. */
function columnOf(row: string, field: number): number {
  let at = 0
  let isQuoted = false
  for (let left = field; left > 0 && at < row.length; at += 1) {
    if (row[at] === '"') isQuoted = !isQuoted
    else if (row[at] === ',' && !isQuoted) left -= 1
  }
  return at + 1
}
