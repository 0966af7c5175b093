import { Scalar } from 'yaml'
import { isTextForAll } from '../yaml/other-readings.ts'

/** Characters that quotes do not trouble: what is printable, without those that mark directions or look like nothing. */
const ORDINARY = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u058f\u3040-\ud7ff]*$/

/** Gives a key the quotes it needs, so that no reader of YAML takes a name for anything else. */
export function styleKey(key: Scalar): void {
  const text = String(key.value ?? '')
  if (key.tag !== undefined || !ORDINARY.test(text) || (text === '<<' && key.type === Scalar.PLAIN)) return
  key.type = isTextForAll(text) ? Scalar.PLAIN : Scalar.QUOTE_SINGLE
}

/** Gives a value the quotes it needs. A plain number or boolean stays one unless its place is for text. */
export function styleScalar(scalar: Scalar, isText: boolean): void {
  if (scalar.tag !== undefined || scalar.type === Scalar.BLOCK_FOLDED || scalar.type === Scalar.BLOCK_LITERAL) return
  if (scalar.value === null || typeof scalar.value !== 'string') return
  const text = scalar.value
  if (text.includes('\n')) {
    scalar.type = Scalar.QUOTE_DOUBLE
    return
  }
  if (!ORDINARY.test(text)) return
  if (isTextForAll(text)) scalar.type = Scalar.PLAIN
  else if (isText || scalar.type !== Scalar.PLAIN) scalar.type = Scalar.QUOTE_SINGLE
}
