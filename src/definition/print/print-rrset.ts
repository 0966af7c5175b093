import type { ResourceRecord } from '../../dns/record.ts'
import { type PlainYaml, printEntry, printItem, printText } from '../yaml/print-plain.ts'
import { type CommentIndex, type CommentsAt, hasComments, together, withComments } from './definition-comments.ts'

/** An RRset on its way into a definition, or the part of one that has one TTL. */
export interface PrintedRrset {
  /** In the order of the values of the entry. */
  readonly records: readonly ResourceRecord[]
  readonly entry: { readonly [key: string]: PlainYaml }
  readonly commentsOf: CommentIndex
}

/** The entry of an RRset with its comments, under a key or, where that is null, as an item of a list. Its values go one to a line where one has a comment. */
export function printRrset(key: string | null, { records, entry, commentsOf }: PrintedRrset, indent: number): string {
  const [{ name, type, ttl }] = records as [ResourceRecord]
  const ofSet = commentsOf({ name, rrset: { type, ttl } })
  const ofValues = records.map(({ data }) => commentsOf({ name, rrset: { type, ttl, data } }))
  const { values } = entry
  if (Array.isArray(values) && ofValues.some(hasComments))
    return withComments(printLong(key, { ...entry, values }, ofValues, indent), ofSet, indent)
  const printed = key === null ? printItem(entry, indent) : printEntry(key, entry, indent)
  return withComments(printed, ofValues.reduce(together, ofSet), indent)
}

function printLong(
  key: string | null,
  entry: { readonly [key: string]: PlainYaml; readonly values: readonly PlainYaml[] },
  ofValues: readonly CommentsAt[],
  indent: number,
): string {
  const within = indent + 2
  const parts = Object.entries(entry).map(([part, value]) => {
    if (part !== 'values') return printEntry(part, value, within)
    const items = entry.values.map((item, i) => withComments(printItem(item, within + 2), ofValues[i] as CommentsAt, within + 2))
    return `${' '.repeat(within)}values:\n${items.join('')}`
  })
  const lead = ' '.repeat(indent)
  return key === null ? `${lead}- ${parts.join('').slice(within)}` : `${lead}${printText(key, 'key')}:\n${parts.join('')}`
}
