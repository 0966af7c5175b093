/** The files of a program as the sandbox has them, and the places of its calls in the files that people wrote. */
import type { SourcePosition } from '../../base/diagnostic.ts'
import type { ProgramCall } from './sandbox.ts'
import { type Insert, shortFunctions } from './short-functions.ts'
import type { ProgramText } from './strip-types.ts'

/** Characters before the place of a stack in which the call is searched, and the calls of the same function there that are tried. */
const WINDOW = 20_000
const MAX_CALLS = 20

interface KeptText extends ProgramText {
  /** The text as QuickJS gets it. */
  readonly code: string
  readonly isAscii: boolean
  /** Where each line begins. */
  readonly starts: readonly number[]
  /** What was put into each line for QuickJS, by its number. */
  readonly inserts: ReadonlyMap<number, readonly Insert[]>
}

export class ProgramTexts {
  readonly #texts = new Map<string, KeptText>()

  get size(): number {
    return this.#texts.size
  }

  get(file: string): Pick<KeptText, 'text' | 'code'> | undefined {
    return this.#texts.get(file)
  }

  /** Adds a file, and returns its text as QuickJS gets it. */
  add(file: string, one: ProgramText): string {
    const starts = [0]
    for (let end = one.text.indexOf('\n'); end !== -1; end = one.text.indexOf('\n', end + 1)) starts.push(end + 1)
    const inserts = new Map<number, Insert[]>()
    let [code, from] = ['', 0]
    for (const insert of shortFunctions(one.text)) {
      const line = lineOf(starts, insert.offset)
      inserts.set(line, [...(inserts.get(line) ?? []), insert])
      code += one.text.slice(from, insert.offset) + insert.text
      from = insert.offset
    }
    code += one.text.slice(from)
    this.#texts.set(file, { ...one, code, isAscii: Buffer.byteLength(code) === code.length, starts, inserts })
    return code
  }

  /**
   * The calls in a stack that are in files of the program. QuickJS places a call at the last argument that is itself a call or a variable, so the name of the called
   * function is searched before that place.
   */
  calls(stack: string): ProgramCall[] {
    let callee = ''
    let [fileBefore, before] = ['', 0]
    const calls: ProgramCall[] = []
    for (const entry of stack.split('\n')) {
      const [, name = '', file = '', row = '', column = ''] = /^ {4}at (?:(.*) \()?(?:native|(.+?):(\d+):(\d+))\)?$/.exec(entry) ?? []
      const called = callee
      callee = name
      const kept = this.#texts.get(file)
      if (kept === undefined) {
        fileBefore = ''
        continue
      }
      const inside = name === '' || name.startsWith('<') ? null : name
      const { offset, insert } = offsetIn(kept, Number(row), Number(column))
      // QuickJS says column 1 of a call with an argument of several lines.
      const isFrom = (start: number): boolean => start <= before || before === kept.starts[lineOf(kept.starts, start) - 1]
      // The call of a function that was put in: the function around it makes its calls.
      if (insert !== null && file === fileBefore && isFrom(insert.first) && before < insert.offset)
        calls.push({ ...(calls.pop() as ProgramCall), inside })
      else calls.push({ at: this.#at(file, kept, startOfCall(kept.text, called, offset)), inside })
      fileBefore = file
      before = offset
    }
    return calls
  }

  /** Where a file imports a module. */
  importPlace(file: string, name: string): SourcePosition {
    const { text = '' } = this.#texts.get(file) ?? {}
    return this.placeOf(file, Math.max(0, text.indexOf(`'${name}'`), text.indexOf(`"${name}"`)))
  }

  /** The place of an offset in the text that QuickJS has. */
  placeOf(file: string, offset: number): SourcePosition {
    const kept = this.#texts.get(file)
    return kept === undefined ? { file, line: 1, column: 1 } : this.#at(file, kept, offset)
  }

  #at(file: string, { starts, columnOf }: KeptText, offset: number): SourcePosition {
    const line = lineOf(starts, offset)
    return { file, line, column: columnOf(line, offset - (starts[line - 1] as number) + 1) }
  }
}

function lineOf(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] as number) <= offset) low = middle
    else high = middle - 1
  }
  return low + 1
}

/**
 * The offset of a place that QuickJS names, in octets of UTF-8; it counts those of the first line from 0, but says 1 for 0. In a text that was put in, that is the
 * text, and the offset the call before it.
 */
function offsetIn(
  { text, starts, inserts, isAscii }: KeptText,
  line: number,
  column: number,
): { readonly offset: number; readonly insert: Insert | null } {
  let from = starts[line - 1] ?? 0
  let octets = line === 1 && column > 1 ? column : column - 1
  for (const insert of inserts.get(line) ?? []) {
    const before = isAscii ? insert.offset - from : Buffer.byteLength(text.slice(from, insert.offset))
    if (octets < before) break
    octets -= before
    from = insert.offset
    if (octets < insert.text.length) return { offset: insert.last, insert }
    octets -= insert.text.length
  }
  const units = isAscii ? octets : Buffer.from(text.slice(from, from + octets)).toString('utf8', 0, octets).length
  return { offset: from + units, insert: null }
}

/** Where the call of a function begins that is open at an offset; the offset itself if none is found. */
function startOfCall(text: string, callee: string, offset: number): number {
  if (!/^[\w$]+$/.test(callee)) return offset
  const begin = Math.max(0, offset - WINDOW)
  const before = text.slice(begin, offset + callee.length + 1)
  let found = before.length
  for (let tried = 0; tried < MAX_CALLS && found > 0; tried += 1) {
    found = before.lastIndexOf(`${callee}(`, found - 1)
    if (found === -1) break
    const open = found + callee.length
    const inside = before.slice(open, Math.max(offset - begin, open + 1))
    if (inside.split('(').length > inside.split(')').length && !/[\w$]/.test(before[found - 1] ?? '')) return begin + found
  }
  return offset
}
