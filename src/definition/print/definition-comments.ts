import type { ResourceRecord } from '../../dns/record.ts'
import type { ZoneComment } from '../../dns/zone-comment.ts'
import { DEFINITION_WIDTH } from '../yaml/print-plain.ts'

/** The comments of one place in a new definition. */
export interface CommentsAt {
  readonly apart: readonly string[]
  readonly above: readonly string[]
  readonly behind: readonly string[]
  readonly below: readonly string[]
  readonly end: readonly string[]
}

export type CommentSubject = Pick<ZoneComment, 'name' | 'rrset' | 'setting'>

const NONE: CommentsAt = { apart: [], above: [], behind: [], below: [], end: [] }

/** Comments by what they are about. */
export type CommentIndex = (subject: CommentSubject) => CommentsAt

/** The comments of a zone with these records; those about a record that is not among them are at the end. */
export function commentIndex(comments: readonly ZoneComment[], records: readonly ResourceRecord[]): CommentIndex {
  const bySubject = new Map<string, Record<keyof CommentsAt, string[]>>()
  const present = comments.length === 0 ? new Set<string>() : subjectsOf(records)
  for (const one of comments) {
    const comment: ZoneComment = one.name === null || present.has(keyOf(one)) ? one : { name: null, place: 'end', text: one.text }
    const key = keyOf(comment)
    const known = bySubject.get(key) ?? { apart: [], above: [], behind: [], below: [], end: [] }
    bySubject.set(key, known)
    known[comment.place ?? 'above'].push(comment.text)
  }
  return (subject) => (bySubject.size === 0 ? NONE : (bySubject.get(keyOf(subject)) ?? NONE))
}

function subjectsOf(records: readonly ResourceRecord[]): Set<string> {
  const keys = new Set<string>()
  for (const { name, type, ttl, data } of records)
    for (const subject of [{ name }, { name, rrset: { type, ttl } }, { name, rrset: { type, ttl, data } }]) keys.add(keyOf(subject))
  return keys
}

const keyOf = ({ name, rrset, setting }: CommentSubject): string =>
  rrset ? `${name} ${rrset.type} ${rrset.ttl} ${rrset.data ?? ''}` : `${name} ${setting ?? ''}`

export const hasComments = ({ apart, above, behind, below }: CommentsAt): boolean =>
  apart.length + above.length + behind.length + below.length > 0

/** The comments of a place with those of another that is the same in print. */
export const together = (a: CommentsAt, b: CommentsAt): CommentsAt => ({
  apart: [...a.apart, ...b.apart],
  above: [...a.above, ...b.above],
  behind: [...a.behind, ...b.behind],
  below: [...a.below, ...b.below],
  end: [...a.end, ...b.end],
})

/** A printed entry with its comments: above it, below it with a blank line, and behind it where it is one line and has one comment that fits. */
export function withComments(printed: string, comments: CommentsAt, indent: number): string {
  if (!hasComments(comments)) return printed
  const { apart, above, behind, below } = comments
  const [words = ''] = behind
  const lines = linesOf(words)
  const isOneLine = behind.length === 1 && lines.length === 1 && printed.indexOf('\n') === printed.length - 1
  const whole = isOneLine ? `${printed.slice(0, -1)} ${lines[0]}\n` : ''
  const fits = isOneLine && whole.length <= DEFINITION_WIDTH + 1
  const lead = apartLines(apart, indent) + commentLines(above, indent)
  return (fits ? lead + whole : lead + commentLines(behind, indent) + printed) + apartLines(below, indent)
}

/** Comments with a blank line below each. */
export const apartLines = (texts: readonly string[], indent: number): string =>
  texts.map((text) => `${commentLines([text], indent)}\n`).join('')

export const commentLines = (texts: readonly string[], indent: number): string =>
  texts
    .flatMap(linesOf)
    .map((line) => `${' '.repeat(indent)}${line}\n`)
    .join('')

/** What is no character of YAML, or would be taken for an end of the line by some of its readers. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const NOT_IN_COMMENTS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}/gu

/** Lines with the sign that makes them comments. A control character is written as its escape. */
const linesOf = (text: string): string[] =>
  text.split(/\r\n|[\n\r\u0085\u2028\u2029]/).map((line) => {
    const words = line.replace(NOT_IN_COMMENTS, escapeOf).trimEnd()
    return words === '' ? '#' : words.startsWith('#') ? `#${words}` : `# ${words}`
  })

function escapeOf(character: string): string {
  const code = character.charCodeAt(0).toString(16)
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
}
