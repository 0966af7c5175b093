/** Counts and lists in English sentences. This file imports nothing: every folder except dns/ may use it. */

/** `12000` as `12,000`. */
export const formatCount = (count: number): string => String(count).replace(/\B(?=(?:[0-9]{3})+$)/g, ',')

/** `1 zone`, `2 zones`; with another plural than `-s` if it is given: `1 line of text`, `2 lines of text`. */
export const counted = (count: number, singular: string, plural = `${singular}s`): string =>
  `${formatCount(count)} ${agreeing(count, singular, plural)}`

/** The word that agrees with a count: `has` after 1, `have` after any other number. */
export const agreeing = (count: number, singular: string, plural: string): string => (count === 1 ? singular : plural)

/** `a`, `a and b`, `a, b and c`; of more than `most` items the rest as a number: `a, b and 3 more`. */
export function listed(items: readonly string[], most = Number.POSITIVE_INFINITY): string {
  const isLong = items.length > most
  const shown = isLong ? [...items.slice(0, most), `${formatCount(items.length - most)} more`] : items
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
] as const

/** `1 h`, `1 h 30 min`, `45 s`: the two largest units. */
export function durationText(seconds: number): string {
  const parts: string[] = []
  let rest = seconds
  for (const [size, unit] of UNITS) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count} ${unit}`)
  }
  if (rest > 0 || parts.length === 0) parts.push(`${rest} s`)
  return parts.slice(0, 2).join(' ')
}
