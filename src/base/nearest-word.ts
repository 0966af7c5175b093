/** Maximum characters of a word to compare: a longer one is hardly a misspelt name. */
const MAX_LENGTH = 64

/**
 * The candidate with the fewest edits from a misspelt word; null if all need too many. The limit is one edit for short words, and a third of the length for
 * others. An edit inserts, deletes or replaces a character, or swaps two adjacent ones.
 */
export function nearestWord(word: string, candidates: Iterable<string>): string | null {
  const from = normalize(word)
  if (from === '' || from.length > MAX_LENGTH) return null
  let best: string | null = null
  let least = Math.max(1, Math.floor(from.length / 3)) + 1
  for (const candidate of candidates) {
    const to = normalize(candidate)
    if (Math.abs(to.length - from.length) >= least || to.length > MAX_LENGTH) continue
    const edits = editDistance(from, to)
    if (edits < least) {
      best = candidate
      least = edits
    }
  }
  return best
}

/** Removes the differences that people mix up most: case, hyphens, underscores and spaces. */
const normalize = (word: string): string => word.toLowerCase().replace(/[-_\s]/g, '')

/** The number of edits between two texts (optimal string alignment distance). */
export function editDistance(a: string, b: string): number {
  let above: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let edits = Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, (row[j - 1] as number) + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) edits = Math.min(edits, (above[j - 2] as number) + 1)
      next.push(edits)
    }
    above = row
    row = next
  }
  return row[b.length] as number
}

/** The hint `Did you mean "x"?` for the two that begin with the word, the nearest one, or the only one that contains it; undefined if none is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const all = [...candidates]
  const beginning = word.length < 3 ? [] : all.filter((one) => one.startsWith(word) && !one.endsWith('s'))
  if (beginning.length === 2) return `Did you mean ${beginning.map((one) => JSON.stringify(one)).join(' or ')}?`
  const longer = word.length < 4 ? [] : all.filter((one) => normalize(one).includes(normalize(word)))
  const candidate = nearestWord(word, all) ?? (longer.length === 1 ? (longer[0] ?? null) : null)
  return candidate === null ? undefined : `Did you mean ${JSON.stringify(candidate)}?`
}
