import { nearestWord } from '../../dns/nearest-word.ts'

/** `Did you mean "x"?` for the candidate a word was most likely meant to be; undefined where none is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const candidate = nearestWord(word, candidates)
  return candidate === null ? undefined : `Did you mean ${JSON.stringify(candidate)}?`
}
