import { MAX_RDATA_OCTETS, MAX_STRING_OCTETS } from '../character-string.ts'
import { MAX_TTL, type Ttl } from '../ttl.ts'
import { takeIpv4, takeIpv6 } from './plain-address.ts'
import {
  CARRIAGE_RETURN,
  isBlank,
  LINE_FEED,
  NO_RECORD,
  ownerOf,
  type PlainText,
  QUOTE,
  SEMICOLON,
  setOrigin,
  skipBlanks,
  skipSpace,
  skipString,
  take,
  takeCanonicalNumber,
  takeLines,
  takeName,
  takeNumber,
  takenText,
} from './plain-text.ts'
import { keepRecord } from './read-record.ts'
import { addPlain, PLAIN_TYPES, startStretch } from './record-table.ts'
import { NO_TTL, type ZoneFileScope } from './scope.ts'

/**
 * The short way: reads lines from where the lexer stands for as long as each is empty, a comment, or a record of one of the
 * commonest types in plain characters. Such a record is read in one pass over octets, and what it makes is what the lexer and the
 * model would; everything else, and everything at fault, is left to them, with nothing of its line taken.
 */
export function readPlainLines(scope: ZoneFileScope): void {
  const { lexer, plain } = scope
  const from = lexer.offset - plain.start
  const isSameText = plain.text === lexer.text && from >= 0
  if (!isSameText || from >= plain.end) {
    // A stretch that had to be given up is not tried again for every entry in it.
    if (isSameText && plain.end === 0 && from < plain.octets.length) return
    takeLines(plain, lexer.text, lexer.offset)
  }
  plain.at = lexer.offset - plain.start
  if (plain.origin !== scope.origin) setOrigin(plain, scope.origin)
  plain.ownerFrom = -1
  plain.ownerText = scope.hasInvalidOwner ? null : scope.owner
  readLines(scope, plain)
  if (plain.ownerFrom !== -1) {
    scope.owner = ownerOf(plain)
    scope.hasInvalidOwner = false
  }
}

/** Reads lines up to one that is not plain. The scope, which is another for each file, is looked up before the loop and told after it. */
function readLines(scope: ZoneFileScope, plain: PlainText): void {
  const { run, lexer, file } = scope
  const { text } = lexer
  const { maxRecords } = run
  const table = run.zone === null ? run.table : null
  const defaultTtl: number = scope.defaultTtl ?? NO_TTL
  let lastTtl: number = NO_TTL
  let { offset, line } = lexer
  if (table !== null) startStretch(table, plain, file)
  for (;;) {
    if (plain.at === plain.end) {
      if (plain.end === 0) break
      takeLines(plain, text, offset)
      if (plain.end === 0) break
    }
    if (!readPlainLine(plain)) break
    if (plain.type !== NO_RECORD) {
      const ttl = plain.ttl === NO_TTL ? defaultTtl : plain.ttl
      if (table !== null && ttl !== NO_TTL && table.length < maxRecords) {
        addPlain(table, plain, ttl as Ttl, line)
        if (plain.ttl !== NO_TTL) lastTtl = ttl
      } else {
        if (lastTtl !== NO_TTL) scope.lastTtl = lastTtl as Ttl
        lastTtl = NO_TTL
        if (table !== null) run.records = table.length
        scope.statedTtl = plain.ttl
        scope.owner = ownerOf(plain)
        keepRecord(scope, PLAIN_TYPES[plain.type] as string, takenText(plain), { file, line, column: plain.column })
        if (run.stopped) break
      }
    }
    offset = plain.start + plain.at
    line += 1
  }
  lexer.offset = offset
  lexer.line = line
  if (table !== null) run.records = table.length
  if (lastTtl !== NO_TTL) scope.lastTtl = lastTtl as Ttl
}

/** Whether the line was plain; the place is then behind it, and the type says whether there is a record. */
function readPlainLine(plain: PlainText): boolean {
  const { octets, at: begin } = plain
  plain.type = NO_RECORD
  const hasOwner = !isBlank(octets[begin] as number)
  let ownerFrom = -1
  let ownerTo = 0
  let ownerForm = 0
  if (hasOwner) {
    if (isLineEnd(octets[begin] as number)) return skipLineEnd(plain)
    if (!takeName(plain)) return false
    ownerFrom = plain.takenFrom
    ownerTo = plain.takenTo
    ownerForm = plain.takenForm
    if (!skipBlanks(plain)) return false
  } else {
    skipBlanks(plain)
    if (isLineEnd(octets[plain.at] as number)) return skipLineEnd(plain)
    if (plain.ownerFrom === -1 && plain.ownerText === null) return false
  }
  const first = hasOwner ? begin : plain.at
  let ttl: number = NO_TTL
  let hasClass = false
  let type = NO_RECORD
  for (;;) {
    const octet = octets[plain.at] as number
    if (octet >= 0x30 && octet <= 0x39) {
      if (ttl !== NO_TTL) return false
      ttl = takeNumber(plain, MAX_TTL)
      if (ttl === -1) return false
    } else {
      const letters = takeLetters(plain)
      if (letters === IN) {
        if (hasClass) return false
        hasClass = true
      } else {
        type = TYPE_OF_LETTERS.get(letters) ?? NO_RECORD
        if (type === NO_RECORD || !skipBlanks(plain)) return false
        break
      }
    }
    if (!skipBlanks(plain)) return false
  }
  if (!takeRdata(plain, type) || !skipLineEnd(plain)) return false
  if (hasOwner) {
    plain.ownerFrom = ownerFrom
    plain.ownerTo = ownerTo
    plain.ownerForm = ownerForm
    plain.ownerText = null
  }
  plain.type = type
  plain.ttl = ttl
  plain.column = first - begin + 1
  return true
}

/** Whether a line without a record, or what is behind one, begins with the octet. */
const isLineEnd = (octet: number): boolean => octet === SEMICOLON || octet === LINE_FEED || octet === CARRIAGE_RETURN

/** Passes over blanks, a comment and the line's end; false where something else comes first. */
function skipLineEnd(plain: PlainText): boolean {
  skipBlanks(plain)
  const { octets } = plain
  if (octets[plain.at] === SEMICOLON) plain.at = octets.indexOf(LINE_FEED, plain.at)
  while (octets[plain.at] === CARRIAGE_RETURN) plain.at += 1
  if (octets[plain.at] !== LINE_FEED) return false
  plain.at += 1
  return true
}

/** Up to five letters of either case as one number; 0 where something else or more comes before the next blank. */
function takeLetters(plain: PlainText): number {
  const { octets, at: start } = plain
  let at = start
  let letters = 0
  for (; ; at += 1) {
    const letter = ((octets[at] as number) | 0x20) - 0x60
    if (letter < 1 || letter > 26) break
    if (at - start === 5) return 0
    letters = letters * 32 + letter
  }
  plain.at = at
  return letters
}

const lettersOf = (type: string): number => [...type].reduce((sum, letter) => sum * 32 + letter.charCodeAt(0) - 0x40, 0)

const IN = lettersOf('IN')

/** The index of a type that is kept as places, by its letters. */
const TYPE_OF_LETTERS: ReadonlyMap<number, number> = new Map(PLAIN_TYPES.map((type, index) => [lettersOf(type), index]))

function takeRdata(plain: PlainText, type: number): boolean {
  switch (PLAIN_TYPES[type]) {
    case 'A':
      return takeIpv4(plain)
    case 'AAAA':
      return takeIpv6(plain)
    case 'MX':
      return takeNumbersAndName(plain, 1)
    case 'SRV':
      return takeNumbersAndName(plain, 3)
    case 'TXT':
      return takeStrings(plain)
    case 'CAA':
      return takeProperty(plain)
    default:
      return takeName(plain)
  }
}

/** As many 16-bit numbers as `numbers` says, and a name, with one space between. */
function takeNumbersAndName(plain: PlainText, numbers: number): boolean {
  const start = plain.at
  for (let i = 0; i < numbers; i += 1) {
    if (takeCanonicalNumber(plain, 0xffff) === -1 || !skipSpace(plain)) return false
  }
  return takeName(plain, start)
}

/** Quoted strings with one space between. */
function takeStrings(plain: PlainText): boolean {
  const { octets, at: start } = plain
  let total = 0
  for (;;) {
    const length = skipString(plain)
    if (length === -1 || length > MAX_STRING_OCTETS) return false
    total += length + 1
    const next = plain.at
    if (!skipSpace(plain)) break
    if (octets[plain.at] !== QUOTE) {
      plain.at = next
      break
    }
  }
  return total <= MAX_RDATA_OCTETS && take(plain, start)
}

/** The flags, tag and value of a CAA record as canonical data has them. */
function takeProperty(plain: PlainText): boolean {
  const { octets, at: start } = plain
  if (takeCanonicalNumber(plain, 255) === -1 || !skipSpace(plain)) return false
  const tagStart = plain.at
  let at = tagStart
  for (; ; at += 1) {
    const octet = octets[at] as number
    if (!((octet >= 0x61 && octet <= 0x7a) || (octet >= 0x30 && octet <= 0x39))) break
  }
  plain.at = at
  if (at === tagStart || at - tagStart > MAX_STRING_OCTETS || !skipSpace(plain) || skipString(plain) === -1) return false
  return take(plain, start)
}
