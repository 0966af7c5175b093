/**
 * The order octoDNS wants keys in (`enforce_order`): that of the Python package natsort with its defaults. Text is cut into runs
 * of digits and of other characters; runs of digits compare as numbers, all else by code point, a number before text.
 */
export function compareNatural(a: string, b: string): number {
  if (a === b) return 0
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
  // What is equal but for its form (`01` and `1`) keeps an order that does not depend on where it stood.
  return left.length - right.length || compareCodePoints(a, b)
}

/** Runs of other characters and of digits in turn; the first is of other characters and may be empty. */
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

/** As Python compares text; UTF-16 code units would put U+E000 to U+FFFF after what is beyond them. */
function compareCodePoints(a: string, b: string): number {
  let i = 0
  while (i < a.length && a.charCodeAt(i) === b.charCodeAt(i)) i += 1
  // Equal high surrogates before: step back to the start of the character.
  if (i > 0 && isHighSurrogate(a.charCodeAt(i - 1))) i -= 1
  return (a.codePointAt(i) ?? -1) - (b.codePointAt(i) ?? -1)
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
