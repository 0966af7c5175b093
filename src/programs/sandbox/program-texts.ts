/** The files of a program as the sandbox has them, and the places of its calls in the files that people wrote. */
import type { SourcePosition } from '../../base/diagnostic.ts'
import type { ProgramCall } from './sandbox.ts'
import type { ProgramText } from './strip-types.ts'

/** Characters before the place of a stack in which the call is searched, and the calls of the same function there that are tried. */
const WINDOW = 20_000
const MAX_CALLS = 20

interface KeptText extends ProgramText {
  /** Where each line begins. */
  readonly starts: readonly number[]
}

export class ProgramTexts {
  readonly #texts = new Map<string, KeptText>()

  get size(): number {
    return this.#texts.size
  }

  get(file: string): ProgramText | undefined {
    return this.#texts.get(file)
  }

  /** Adds a file as QuickJS gets it. */
  add(file: string, one: ProgramText): void {
    const starts = [0]
    for (let end = one.text.indexOf('\n'); end !== -1; end = one.text.indexOf('\n', end + 1)) starts.push(end + 1)
    this.#texts.set(file, { ...one, starts })
  }

  /**
   * The calls in a stack that are in files of the program. QuickJS places a call at the last argument that is itself a call or a variable, so the name of the called
   * function is searched before that place.
   */
  calls(stack: string): ProgramCall[] {
    let callee = ''
    return stack.split('\n').flatMap((entry) => {
      const [, name = '', file = '', row = '', column = ''] = /^ {4}at (?:(.*) \()?(?:native|(.+?):(\d+):(\d+))\)?$/.exec(entry) ?? []
      const called = callee
      callee = name
      const kept = this.#texts.get(file)
      if (kept === undefined) return []
      const offset = (kept.starts[Number(row) - 1] ?? 0) + Number(column) - 1
      return { at: this.#at(file, kept, startOfCall(kept.text, called, offset)), inside: name === '' || name.startsWith('<') ? null : name }
    })
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
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((starts[middle] as number) <= offset) low = middle
      else high = middle - 1
    }
    return { file, line: low + 1, column: columnOf(low + 1, offset - (starts[low] as number) + 1) }
  }
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
