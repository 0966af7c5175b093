import type { SourcePosition } from '../diagnostic.ts'

/** Characters of an entry that are looked at: an SOA record has two names before its numbers. */
const MOST = 5000

const TOKEN = /;[^\n]*|[\s()]+|(?:\\[0-9]{3}|\\.|[^\s();\\])+/gs

/** The mailbox of the SOA record at a place of a zone file, as it is written there; null where none is found. The records themselves have it in lower case. */
export function writtenMailbox(text: string, { line, column }: SourcePosition): string | null {
  let start = 0
  for (let i = 1; i < line; i += 1) {
    start = text.indexOf('\n', start) + 1
    if (start === 0) return null
  }
  const tokens = text.slice(start + column - 1, start + column - 1 + MOST).match(TOKEN) ?? []
  const words = tokens.filter((token) => !/^[\s();]/.test(token))
  const type = words.findIndex((word) => /^(?:SOA|TYPE6)$/i.test(word))
  return type === -1 ? null : (words[type + 2] ?? null)
}
