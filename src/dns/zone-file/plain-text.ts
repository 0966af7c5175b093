import { type DomainName, MAX_LABEL_OCTETS, MAX_NAME_OCTETS, nameOctets, ROOT } from '../domain-name.ts'

/**
 * A stretch of whole lines of zone-file text as octets, for the short way through the commonest records (`plain-lines.ts`), and where
 * in it the reading stands. What the functions here read ends before the line does: each line ends with a line feed, which is part of
 * nothing they take. They give null, or -1, where the text needs the lexer; where they stand then means nothing.
 */
export interface PlainText {
  readonly octets: Uint8Array
  /** The text that the octets are of, their offset in it, and where the last whole line of them ends. */
  text: string
  start: number
  end: number
  /** Index of the octet that comes next. */
  at: number
  /** What was taken last: a stretch of `text` in a form of `FORM`, or another text that was made of it. */
  takenFrom: number
  takenTo: number
  takenForm: number
  made: string | null
  /** The record of the line read last: index of its type or `NO_RECORD`, the TTL it states in seconds or `NO_TTL`, and its column. */
  type: number
  ttl: number
  column: number
  /** The owner that goes on for lines without one, in the same way, with a start of -1 where it has a text alone. */
  ownerFrom: number
  ownerTo: number
  ownerForm: number
  /** Its text; null where there is no owner, or where none was asked for. */
  ownerText: DomainName | null
  /** The origin that completes names: what is put behind them, and its octets on the wire. */
  origin: DomainName | null
  suffix: string
  suffixOctets: number
}

/** Instead of a type: the line has none. */
export const NO_RECORD = -1

/** Octets of one stretch; a longer line is for the lexer. */
const STRETCH = 16_384

export const createPlainText = (): PlainText => ({
  octets: new Uint8Array(STRETCH),
  text: '',
  start: 0,
  end: 0,
  at: 0,
  takenFrom: 0,
  takenTo: 0,
  takenForm: 0,
  made: null,
  type: NO_RECORD,
  ttl: 0,
  column: 0,
  ownerFrom: -1,
  ownerTo: 0,
  ownerForm: 0,
  ownerText: null,
  origin: null,
  suffix: '',
  suffixOctets: 0,
})

/** Kept for the next file: besides its octets, what the engine has compiled for its shape goes on being good. */
const spare: PlainText[] = [createPlainText()]

/** What a file is read with, to be given back at its end. */
export const borrowPlainText = (): PlainText => spare.pop() ?? createPlainText()

/** Takes back what was borrowed, without what it knew of the text. */
export function giveBack(plain: PlainText): void {
  plain.text = ''
  plain.end = 0
  plain.made = null
  plain.ownerText = null
  plain.origin = null
  if (spare.length === 0) spare.push(plain)
}

const encoder = new TextEncoder()

/** Takes the whole lines from `offset` on, as many as there is room for; none where one has a character beyond ASCII. */
export function takeLines(plain: PlainText, text: string, offset: number): void {
  const stretch = text.slice(offset, offset + STRETCH)
  const { read, written } = encoder.encodeInto(stretch, plain.octets)
  plain.text = text
  plain.start = offset
  plain.at = 0
  // Fewer characters than there are fit where some take several octets.
  plain.end = read === stretch.length && written === read ? plain.octets.subarray(0, written).lastIndexOf(LINE_FEED) + 1 : 0
}

export function setOrigin(plain: PlainText, origin: DomainName | null): void {
  plain.origin = origin
  plain.suffix = origin === ROOT ? '.' : `.${origin}`
  plain.suffixOctets = origin === null ? 0 : nameOctets(origin)
}

export const TAB = 0x09
export const LINE_FEED = 0x0a
export const CARRIAGE_RETURN = 0x0d
export const SPACE = 0x20
export const QUOTE = 0x22
export const SEMICOLON = 0x3b
const BACKSLASH = 0x5c
const AT = 0x40

export const isBlank = (octet: number): boolean => octet === SPACE || octet === TAB

/** Octets of labels that stand for themselves: 1, 2 for those to be made lower case; 3 for the dot, 0 for all else. */
const NAME_OCTET = new Uint8Array(256)
for (const c of 'abcdefghijklmnopqrstuvwxyz0123456789_-*/') NAME_OCTET[c.charCodeAt(0)] = 1
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') NAME_OCTET[c.charCodeAt(0)] = 2
NAME_OCTET['.'.charCodeAt(0)] = 3

/** What a stretch of text stands for: itself where no bit is set; in lower case; with the origin behind it, after a dot or at once. */
export const FORM = { lowerCase: 1, relative: 2, origin: 4 } as const

/** Takes what stands between `from` and the place. Always true. */
export function take(plain: PlainText, from: number, form = 0): true {
  plain.takenFrom = plain.start + from
  plain.takenTo = plain.start + plain.at
  plain.takenForm = form
  plain.made = null
  return true
}

/** The origin that completes names, and what of it is put behind those that are relative. */
export interface Completion {
  readonly origin: DomainName | null
  readonly suffix: string
}

/** The text that a stretch stands for. */
export function textOf(text: string, from: number, to: number, form: number, { origin, suffix }: Completion): string {
  const written = text.slice(from, to)
  if (form === 0) return written
  if (form === FORM.relative) return written + suffix
  if (form === FORM.origin) return written + origin
  return form === FORM.lowerCase ? written.toLowerCase() : written.toLowerCase() + suffix
}

/** Passes over blanks; whether there was one. */
export function skipBlanks(plain: PlainText): boolean {
  const { octets } = plain
  const from = plain.at
  let at = from
  while (isBlank(octets[at] as number)) at += 1
  plain.at = at
  return at > from
}

/** The same for the one space that canonical data has between fields. */
export function skipSpace(plain: PlainText): boolean {
  const { octets, at } = plain
  if (octets[at] !== SPACE || isBlank(octets[at + 1] as number)) return false
  plain.at = at + 1
  return true
}

/**
 * Takes a name in plain characters, to be completed with the origin, and what stands before it from `from` on, which must have no
 * capitals.
 */
export function takeName(plain: PlainText, from = plain.at): boolean {
  const { octets, at: start } = plain
  let at = start
  let labelStart = start
  let hasUpperCase = false
  for (; ; at += 1) {
    const kind = NAME_OCTET[octets[at] as number]
    if (kind === 1) continue
    if (kind === 3) {
      if (at === labelStart || at - labelStart > MAX_LABEL_OCTETS) return false
      labelStart = at + 1
    } else if (kind === 2) hasUpperCase = true
    else break
  }
  plain.at = at
  if (at === start) {
    if (octets[at] !== AT || plain.origin === null) return false
    take(plain, from, FORM.origin)
    plain.at = at + 1
    return true
  }
  const length = at - start
  const lowerCase = hasUpperCase ? FORM.lowerCase : 0
  if (labelStart === at) return length < MAX_NAME_OCTETS && take(plain, from, lowerCase)
  if (plain.origin === null || at - labelStart > MAX_LABEL_OCTETS || length + 1 + plain.suffixOctets > MAX_NAME_OCTETS) return false
  return take(plain, from, lowerCase | FORM.relative)
}

/** The text of the owner, of which there must be one. */
export function ownerOf(plain: PlainText): DomainName {
  plain.ownerText ??= textOf(plain.text, plain.ownerFrom, plain.ownerTo, plain.ownerForm, plain) as DomainName
  return plain.ownerText
}

/** The text of what was taken last. */
export const takenText = (plain: PlainText): string =>
  plain.made ?? textOf(plain.text, plain.takenFrom, plain.takenTo, plain.takenForm, plain)

/** A decimal number up to `most`, at most ten digits; -1 where there is none. */
export function takeNumber(plain: PlainText, most: number): number {
  const { octets, at: start } = plain
  let at = start
  let value = 0
  for (; at - start < 11; at += 1) {
    const digit = (octets[at] as number) - 0x30
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  plain.at = at
  return at === start || at - start > 10 || value > most ? -1 : value
}

/** The same, only as canonical data writes it. */
export const takeCanonicalNumber = (plain: PlainText, most: number): number =>
  plain.octets[plain.at] === 0x30 && isDigit(plain.octets[plain.at + 1] as number) ? -1 : takeNumber(plain, most)

const isDigit = (octet: number): boolean => octet >= 0x30 && octet <= 0x39

/** Passes over a quoted string that is canonical as it stands: printable ASCII without escapes. Its octets; -1 where it is none. */
export function skipString(plain: PlainText): number {
  const { octets, at: start } = plain
  if (octets[start] !== QUOTE) return -1
  let at = start + 1
  for (; ; at += 1) {
    const octet = octets[at] as number
    if (octet === QUOTE) break
    if (octet < SPACE || octet > 0x7e || octet === BACKSLASH) return -1
  }
  plain.at = at + 1
  return at - start - 1
}
