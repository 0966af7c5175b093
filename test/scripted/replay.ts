/** Reads the recordings of `test/recorded/` and replays them at a scripted service. */
import { readFileSync } from 'node:fs'
import type { ScriptedService } from './scripted-server.ts'

export interface Exchange {
  readonly method: string
  readonly uri: string
  /** Empty if there is none. */
  readonly request: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Empty if there is none. */
  readonly response: string
}

export type RecordedCase = { readonly case: string; readonly exchanges: readonly Exchange[] }

/** The cases of one service, in the order in which they were recorded. */
export function readRecording(service: string): readonly RecordedCase[] {
  const text = readFileSync(new URL(`../recorded/${service}.jsonl`, import.meta.url), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line, (_, value) => value ?? ''))
}

/** The values that a service makes up itself, such as identifiers and times. */
export interface GeneratedValues {
  /** The pattern of the generated values of a field, as text; null for all other fields. `value` is the recorded one. */
  pattern(field: string, value: string | number): RegExp | null
  /** The patterns of values that depend on the time of the recording: those of a field or a header (in lower case) are compared in their form only. */
  readonly timed?: Readonly<Record<string, RegExp>>
  /** Whether the service returns the items of a list in any order; false for all fields if absent. */
  isUnordered?(field: string): boolean
  /** A key for the items of a list of objects that the service returns in any order; null for all other fields, absent for none. */
  keyOf?(field: string): ((item: Readonly<Record<string, unknown>>) => string) | null
  /** The parts of a body that is not JSON. */
  readonly parse?: (text: string) => unknown
}

/** The answer of a service to one request, without a connection. */
export function ask(service: ScriptedService, method: string, uri: string, body: string, headers: Readonly<Record<string, string>>) {
  const { pathname: path, searchParams: query } = new URL(uri, 'http://scripted')
  return service({ method, path, query, headers: { host: 'scripted', 'content-type': 'application/json', ...headers }, body })
}

/**
 * Replays exchanges in order. Generated values are mapped one to one: a recorded value in a path is replaced by ours, and two fields have
 * equal values exactly if the recorded ones are equal.
 */
export function createReplay(service: ScriptedService, headers: Readonly<Record<string, string>>, generated: GeneratedValues) {
  const { parse = parsed } = generated
  const oursOf = new Map<string, string | number>()
  const recordedOf = new Map<string, string | number>()

  /** The recorded value with our generated values; a value that fits no mapping becomes one that shows why. */
  const mapped = (recorded: unknown, ours: unknown, field: string): unknown => {
    if (Array.isArray(recorded) && Array.isArray(ours) && generated.isUnordered?.(field) && sameItems(recorded, ours)) return ours
    const key = generated.keyOf?.(field) ?? null
    if (Array.isArray(recorded) && Array.isArray(ours) && key !== null) return mapped(inOrderOf(recorded, ours, key), ours, '')
    if (Array.isArray(recorded)) return recorded.map((item, index) => mapped(item, Array.isArray(ours) ? ours[index] : undefined, field))
    if (typeof recorded === 'object' && recorded !== null) {
      const other = (ours ?? {}) as Readonly<Record<string, unknown>>
      return Object.fromEntries(Object.entries(recorded).map(([key, value]) => [key, mapped(value, other[key], key)]))
    }
    if (!isGeneratable(recorded) || !isGeneratable(ours) || typeof recorded !== typeof ours) return recorded
    const form = generated.timed?.[field]
    if (form !== undefined) return form.test(String(ours)) ? ours : `a value like ${form}`
    const pattern = generated.pattern(field, recorded)
    if (pattern === null) return recorded
    if (!pattern.test(String(ours))) return `a value like ${pattern}`
    const known = oursOf.get(String(recorded))
    if (known === undefined && recordedOf.has(String(ours))) return `another value than that of ${recordedOf.get(String(ours))}`
    if (known !== undefined) return typeof recorded === 'string' ? String(known) : known
    oursOf.set(String(recorded), ours)
    recordedOf.set(String(ours), recorded)
    return ours
  }

  return {
    /** Sends the request of an exchange. Returns our answer and the expected one, in the same form. `isRemoved`: the recording lacks the body of the response. */
    run(exchange: Exchange, isRemoved = false): { readonly answer: unknown; readonly expected: unknown } {
      const { pathname, search } = new URL(exchange.uri)
      const path = pathname.replace(/[^/]+/g, (part) => String(oursOf.get(part) ?? part)) + search
      // Identifiers are whole texts of a body.
      const sent = exchange.request.replace(/"([^"\\]+)"/g, (text, value) => (oursOf.has(value) ? JSON.stringify(oursOf.get(value)) : text))
      const answer = ask(service, exchange.method, path, sent, headers)
      const body = parse(answer.body)
      const names = Object.keys(exchange.headers)
      return {
        answer: { status: answer.status, headers: Object.fromEntries(names.map((name) => [name, answer.headers[name]])), body },
        expected: {
          status: exchange.status,
          headers: Object.fromEntries(names.map((name) => [name, mapped(exchange.headers[name], answer.headers[name], name)])),
          body: isRemoved ? body : mapped(parse(exchange.response), body, ''),
        },
      }
    },
    /** Values that ours and the recording have in common from the start, such as identifiers of seeded objects. */
    share(values: Iterable<string | number>): void {
      for (const value of values) {
        oursOf.set(String(value), value)
        recordedOf.set(String(value), value)
      }
    },
  }
}

/** The recorded items in the order of ours with the same keys, if each has one. */
function inOrderOf(
  recorded: readonly Readonly<Record<string, unknown>>[],
  ours: readonly Readonly<Record<string, unknown>>[],
  key: (item: Readonly<Record<string, unknown>>) => string,
): readonly unknown[] {
  const byKey = new Map(recorded.map((item) => [key(item), item]))
  const ordered = ours.flatMap((item) => byKey.get(key(item)) ?? [])
  return ordered.length === recorded.length ? ordered : recorded
}

const sameItems = (a: readonly unknown[], b: readonly unknown[]): boolean => JSON.stringify([...a].sort()) === JSON.stringify([...b].sort())
const isGeneratable = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
