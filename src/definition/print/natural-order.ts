/**
 * Compares keys in the order that octoDNS requires (`enforce_order`): that of the Python package natsort with its defaults. Text is split into runs of
 * digits and of other characters. Runs of digits compare as numbers, others by code point, and a number comes before text.
 */
export function compareNatural(a: string, b: string): number {
  if (a === b) return 0
  if (ASCII.test(a) && ASCII.test(b)) return compareAscii(a, b)
  const left = runsOf(a)
  const right = runsOf(b)
  const length = Math.min(left.length, right.length)
  for (let i = 0; i < length; i += 1) {
    const x = left[i] ?? ''
    const y = right[i] ?? ''
    // Every second run is digits.
    const order = i % 2 === 1 ? compareDigits(x, y) : compareCodePoints(x, y)
    if (order !== 0) return order
  }
  // Equal numbers in different forms (`01` and `1`) get an order that does not depend on the input order.
  return left.length - right.length || compareCodePoints(a, b)
}

const ASCII = /^[\0-\x7f]*$/

/** The same order for ASCII text, without splitting it. Nearly all names are ASCII. */
function compareAscii(a: string, b: string): number {
  let i = 0
  let j = 0
  for (;;) {
    while (i < a.length && a.charCodeAt(i) === b.charCodeAt(j) && !isDigit(a.charCodeAt(i))) {
      i += 1
      j += 1
    }
    const isEndOfRun = (i === a.length || isDigit(a.charCodeAt(i))) && (j === b.length || isDigit(b.charCodeAt(j)))
    if (!isEndOfRun) return asciiAt(a, i) - asciiAt(b, j)
    if (i === a.length || j === b.length) break
    const [iEnd, jEnd] = [endOfDigits(a, i), endOfDigits(b, j)]
    const order = compareDigits(a.slice(i, iEnd), b.slice(j, jEnd))
    if (order !== 0) return order
    i = iEnd
    j = jEnd
    if (i === a.length || j === b.length) break
  }
  return (i === a.length ? 0 : 1) - (j === b.length ? 0 : 1) || compareCodePoints(a, b)
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** The character code at an offset in a run of other characters; -1 after its end. */
const asciiAt = (text: string, at: number): number => {
  const code = at < text.length ? text.charCodeAt(at) : -1
  return isDigit(code) ? -1 : code
}

function endOfDigits(text: string, from: number): number {
  let at = from
  while (at < text.length && isDigit(text.charCodeAt(at))) at += 1
  return at
}

/** Alternating runs of other characters and of digits. The first run has other characters and may be empty. */
const runsOf = (text: string): string[] => {
  const runs = text.normalize('NFD').split(/(\p{Nd}+)/u)
  if (runs.at(-1) === '') runs.pop()
  return runs
}

function compareDigits(a: string, b: string): number {
  const [x, y] = [significant(a), significant(b)]
  return x.length - y.length || compareCodePoints(x, y)
}

const significant = (digits: string): string => digits.replace(/^0+(?=.)/, '')

/** Compares like Python. UTF-16 code units would put U+E000 to U+FFFF after the characters beyond U+FFFF. */
function compareCodePoints(a: string, b: string): number {
  let i = 0
  while (i < a.length && a.charCodeAt(i) === b.charCodeAt(i)) i += 1
  // Step back to the start of a surrogate pair.
  if (i > 0 && isHighSurrogate(a.charCodeAt(i - 1))) i -= 1
  return (a.codePointAt(i) ?? -1) - (b.codePointAt(i) ?? -1)
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
