import { formatCount } from './counts.ts'

const said = (text: string): string => ` (${formatCount(text.length)} characters)`

/** Text of at most `room` characters: what does not fit is left out, and the length of the whole is said. */
export function shorten(text: string, room: number): string {
  if (text.length <= room) return text
  const note = said(text)
  return `${cut(text, 0, Math.max(8, room - note.length - 1))}…${note}`
}

/** Both texts shortened to the room, each from a little before the first character in which they differ where that would be left out. */
export function shortenPair(existing: string, desired: string, room: number): readonly [string, string] {
  if (existing.length <= room && desired.length <= room) return [existing, desired]
  const start = firstDifference(existing, desired)
  const longest = existing.length > desired.length ? existing : desired
  const kept = Math.max(8, room - said(longest).length - 2)
  if (start < kept - 4) return [shorten(existing, room), shorten(desired, room)]
  const from = Math.max(0, start - 6)
  const view = (text: string): string => {
    const end = Math.min(text.length, from + kept)
    return `…${cut(text, from, end)}${end < text.length ? '…' : ''}${said(text)}`
  }
  return [view(existing), view(desired)]
}

function firstDifference(a: string, b: string): number {
  let index = 0
  while (index < a.length && index < b.length && a[index] === b[index]) index += 1
  return index
}

/** A slice that splits no surrogate pair. */
function cut(text: string, from: number, to: number): string {
  const begin = isLowSurrogate(text, from) ? from + 1 : from
  const end = isLowSurrogate(text, to) ? to - 1 : to
  return text.slice(begin, end)
}

const isLowSurrogate = (text: string, index: number): boolean => {
  const code = text.charCodeAt(index)
  return code >= 0xdc00 && code <= 0xdfff
}
