import { MAX_RDATA_OCTETS, MAX_STRING_OCTETS } from '../../model/character-string.ts'
import { MAX_TTL, type Ttl } from '../../model/ttl.ts'
import { takeIpv4, takeIpv6 } from './plain-address.ts'
import {
  CARRIAGE_RETURN,
  isBlank,
  LINE_FEED,
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
import { NO_TTL, type ZoneFileScope } from './scope.ts'

/**
 * The short way: reads lines from where the lexer stands for as long as each is empty, a comment, or a record of one of the
 * commonest types in plain characters. Such a record is read in one pass over octets, and what it makes is what the lexer and the
 * model would; everything else, and everything at fault, is left to them, with nothing of its line taken.
 */
export function readPlainLines(scope: ZoneFileScope): void {
  const { lexer, plain, run } = scope
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
  plain.ownerText = scope.hasFaultyOwner ? null : scope.owner
  while (!run.stopped) {
    if (plain.at === plain.end) {
      if (plain.end === 0) break
      takeLines(plain, lexer.text, lexer.offset)
      if (plain.end === 0) break
    }
    if (!readPlainLine(scope, plain)) break
    lexer.offset = plain.start + plain.at
    lexer.line += 1
  }
  if (plain.ownerFrom !== -1) {
    scope.owner = ownerOf(plain)
    scope.hasFaultyOwner = false
  }
}

/** Whether the line was plain; the place is then behind it. */
function readPlainLine(scope: ZoneFileScope, plain: PlainText): boolean {
  const { octets, at: begin } = plain
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
  let type: string | null = null
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
        type = PLAIN_TYPES.get(letters) ?? null
        if (type === null || !skipBlanks(plain)) return false
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
  scope.statedTtl = ttl
  keepPlain(scope, type, first - begin + 1)
  return true
}

/** Keeps the record whose data were taken last: in the table where there is one and all is said, else as any other. */
function keepPlain(scope: ZoneFileScope, type: string, column: number): void {
  const { run, plain, file, statedTtl, lexer } = scope
  const ttl = statedTtl === NO_TTL ? scope.defaultTtl : (statedTtl as Ttl)
  if (run.table !== null && run.zone === null && ttl !== null && run.records < run.maxRecords) {
    if (statedTtl !== NO_TTL) scope.lastTtl = ttl
    run.records += 1
    run.table.addPlain(plain, file, type, ttl, lexer.line, column)
    return
  }
  scope.owner = ownerOf(plain)
  keepRecord(scope, type, takenText(plain), { file, line: lexer.line, column })
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

/** The types whose data can be read here. */
const PLAIN_TYPES: ReadonlyMap<number, string> = new Map(
  ['A', 'AAAA', 'NS', 'CNAME', 'PTR', 'DNAME', 'MX', 'SRV', 'TXT', 'CAA'].map((type) => [lettersOf(type), type]),
)

function takeRdata(plain: PlainText, type: string): boolean {
  switch (type) {
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
