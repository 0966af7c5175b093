import { parseMentionedType, typeCode, typeName } from '../record-type.ts'
import { failure, ok, type Result } from '../result.ts'
import { shown, type Token } from './token.ts'

/** Record types by name, each once, in the order of their numbers. */
export function canonicalTypes(tokens: readonly Token[]): Result<string> {
  const codes = new Set<number>()
  for (const { text } of tokens) {
    const type = parseMentionedType(text)
    if (!type.ok) return type
    const code = typeCode(type.value)
    if (code === null) return failure(`${shown(text)} exists only at providers`)
    codes.add(code)
  }
  return ok(formatTypes([...codes].sort((a, b) => a - b)))
}

/** The names of type numbers, which are in order. */
export const formatTypes = (codes: readonly number[]): string => codes.map(typeName).join(' ')
