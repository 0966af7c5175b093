/**
 * The YAML printer changes the spacing of a text. This restores it: both texts are split into words, their longest common subsequence is found, and two
 * words that are adjacent in both texts keep the original spacing between them. Quoted words keep their quotes. The result is used only if it has the
 * same meaning as the printed text.
 */
import { readValidTree } from '../../definition/yaml/editable-yaml.ts'
import { isSameTree } from '../../definition/yaml/yaml-node.ts'

interface Word {
  readonly text: string
  /** Equal for words with the same meaning. */
  readonly key: string
  /** The white space before it. */
  readonly before: string
}

interface Words {
  readonly words: readonly Word[]
  /** The white space after the last word. */
  readonly end: string
}

/** Maximum number of comparisons of words; beyond that only common starts and ends are matched. */
const MAX_COMPARED = 4_000_000

/** Returns the printed text with the original's spacing around the words they share. */
export function keepSpacing(original: string, printed: string): string {
  const { above, old, fresh, below } = splitCommonLines(original, printed)
  if (old === '' || fresh === '') return printed
  const wanted = readValidTree(printed)
  if (!wanted.ok) return printed
  const [oldWords, freshWords] = [wordsOf(old), wordsOf(fresh)]
  for (const { fromEnd, withLines } of ATTEMPTS) {
    const kept = join(oldWords, freshWords, matchWords(oldWords.words, freshWords.words, fromEnd), withLines)
    if (kept === fresh) return printed
    const tree = readValidTree(above + kept + below)
    if (tree.ok && isSameTree(tree.value, wanted.value)) return above + kept + below
  }
  return printed
}

/** Splits off the lines with which both texts begin and end. */
function splitCommonLines(one: string, other: string): { above: string; old: string; fresh: string; below: string } {
  const [old, fresh] = [one.split(/(?<=\n)/), other.split(/(?<=\n)/)]
  let from = 0
  while (from < old.length && from < fresh.length && old[from] === fresh[from]) from += 1
  let end = 0
  while (end < old.length - from && end < fresh.length - from && old.at(-1 - end) === fresh.at(-1 - end)) end += 1
  const part = (lines: readonly string[]): string => lines.slice(from, lines.length - end).join('')
  const [above, below] = [old.slice(0, from).join(''), old.slice(old.length - end).join('')]
  return { above, old: part(old), fresh: part(fresh), below }
}

/** Text inserted between `- a` and `- b` can match as `a - c` or `- c`; one of the two keeps more of the original. */
const ATTEMPTS = [
  { fromEnd: true, withLines: true },
  { fromEnd: false, withLines: true },
  { fromEnd: true, withLines: false },
]

/** Without `withLines`, only spacing within a line is kept. */
function join(old: Words, fresh: Words, places: readonly number[], withLines: boolean): string {
  const indents = new Map<number, number>()
  if (withLines) for (const pair of indentsOf(old, fresh, places).toReversed()) indents.set(pair.printed, pair.original)
  const isOnLine = (one: string, other: string): boolean => !one.includes('\n') && !other.includes('\n')
  let text = ''
  for (const [index, word] of fresh.words.entries()) {
    const place = places[index] as number
    const same = old.words[place]
    const follows = index === 0 ? place === 0 : places[index - 1] !== -1 && place === (places[index - 1] as number) + 1
    const isKept = same !== undefined && (isOnLine(same.before, word.before) ? follows || word.text.startsWith('#') : follows && withLines)
    text += (isKept ? same.before : indented(word.before, indents)) + (same?.text ?? word.text)
    // The next words are most likely indented like the previous ones.
    const indent = withLines ? indentOf(same, word) : null
    if (indent) indents.set(indent.printed, indent.original)
  }
  const isSameEnd = withLines && old.words.length > 0 && fresh.words.length > 0 && places.at(-1) === old.words.length - 1
  return text + (isSameEnd ? old.end : fresh.end)
}

const LINE_START = /\n( *)$/

interface Indents {
  readonly printed: number
  readonly original: number
}

/** The indentations of words that begin a line in both texts. */
function indentsOf(old: Words, fresh: Words, places: readonly number[]): Indents[] {
  return fresh.words.flatMap((word, index) => indentOf(old.words[places[index] as number], word) ?? [])
}

function indentOf(old: Word | undefined, fresh: Word): Indents | null {
  const [printed, original] = [LINE_START.exec(fresh.before)?.[1], old && LINE_START.exec(old.before)?.[1]]
  return printed === undefined || original === undefined ? null : { printed: printed.length, original: original.length }
}

function indented(before: string, indents: ReadonlyMap<number, number>): string {
  const indent = LINE_START.exec(before)?.[1]?.length
  if (indent === undefined) return before
  let like = indent
  while (like > 0 && !indents.has(like)) like -= 1
  const wanted = Math.max(0, indent - like + (indents.get(like) ?? like))
  return before.slice(0, before.length - indent) + ' '.repeat(wanted)
}

const WORD = /#[^\r\n]*|"(?:[^"\\]|\\[\s\S])*"|'(?:[^']|'')*'|[[\]{},]|[^\s[\]{},]+?(?=:?[\s[\]{},]|:?$)|:(?=[\s[\]{},]|$)|\S/gy

function wordsOf(text: string): Words {
  const words: Word[] = []
  let at = 0
  for (;;) {
    const start = at
    while (at < text.length && /\s/.test(text[at] as string)) at += 1
    if (at === text.length) return { words, end: text.slice(start) }
    WORD.lastIndex = at
    const found = WORD.exec(text)?.[0] ?? (text[at] as string)
    // A `#` inside a word does not begin a comment.
    const word = found.startsWith('#') && at === start && at > 0 ? '#' : found
    words.push({ text: word, key: keyOf(word), before: text.slice(start, at) })
    at += word.length
  }
}

/** The meaning of a word: quoted words without their quotes and escapes. */
function keyOf(word: string): string {
  if (word.startsWith("'") && word.length > 1) return word.slice(1, -1).replaceAll("''", "'")
  if (!word.startsWith('"') || !word.includes('\\')) return word.startsWith('"') && word.length > 1 ? word.slice(1, -1) : word
  const tree = readValidTree(word)
  return tree.ok && tree.value.kind === 'scalar' ? tree.value.text : word
}

/** For each word of the second text, the index of its match in the first; -1 if there is none. Common ends, or starts, are matched first. */
function matchWords(old: readonly Word[], fresh: readonly Word[], fromEnd: boolean): number[] {
  const places = fresh.map(() => -1)
  const isSame = (i: number, j: number): boolean => (old[i] as Word).key === (fresh[j] as Word).key
  let from = 0
  let [oldEnd, freshEnd] = [old.length, fresh.length]
  const takeStart = (): void => {
    for (; from < oldEnd && from < freshEnd && isSame(from, from); from += 1) places[from] = from
  }
  if (!fromEnd) takeStart()
  while (oldEnd > from && freshEnd > from && isSame(oldEnd - 1, freshEnd - 1)) {
    oldEnd -= 1
    freshEnd -= 1
    places[freshEnd] = oldEnd
  }
  takeStart()
  const [rows, columns] = [oldEnd - from, freshEnd - from]
  if (rows === 0 || columns === 0 || rows * columns > MAX_COMPARED) return places
  // Lengths of the longest common subsequences of the suffixes.
  const width = columns + 1
  const lengths = new Uint32Array((rows + 1) * width)
  for (let i = rows - 1; i >= 0; i -= 1) {
    for (let j = columns - 1; j >= 0; j -= 1) {
      const at = i * width + j
      lengths[at] = isSame(from + i, from + j)
        ? 1 + (lengths[at + width + 1] as number)
        : Math.max(lengths[at + width] as number, lengths[at + 1] as number)
    }
  }
  let [i, j] = [0, 0]
  while (i < rows && j < columns) {
    const at = i * width + j
    if (isSame(from + i, from + j)) {
      places[from + j] = from + i
      i += 1
      j += 1
    } else if ((lengths[at + width] as number) >= (lengths[at + 1] as number)) i += 1
    else j += 1
  }
  return places
}
