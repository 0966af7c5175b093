import { type DomainName, MAX_LABEL_OCTETS, MAX_NAME_OCTETS, parseDomainName, ROOT } from '../domain-name.ts'
import type { Result } from '../result.ts'
import { TOKEN } from './lexer.ts'
import { tokenText, type ZoneFileScope } from './scope.ts'

const DOT = 0x2e
const AT = 0x40

/** Characters of labels that stand for themselves: 1, and 2 for those to be made lower case. */
const NAME_CHARACTER = new Uint8Array(128)
for (const c of 'abcdefghijklmnopqrstuvwxyz0123456789_-*/') NAME_CHARACTER[c.charCodeAt(0)] = 1
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') NAME_CHARACTER[c.charCodeAt(0)] = 2

/** The name a token stands for, completed with the origin; null where the token needs the whole parser or is at fault. */
export function plainName({ lexer, origin, originOctets }: ZoneFileScope, index: number): DomainName | null {
  if (((lexer.flags[index] as number) & (TOKEN.escaped | TOKEN.odd)) !== 0) return null
  const { text } = lexer
  const start = lexer.starts[index] as number
  const end = lexer.ends[index] as number
  let labelStart = start
  let hasUpperCase = false
  for (let i = start; i < end; i += 1) {
    const code = text.charCodeAt(i)
    if (code === DOT) {
      if (i === labelStart || i - labelStart > MAX_LABEL_OCTETS) return null
      labelStart = i + 1
      continue
    }
    const kind = NAME_CHARACTER[code]
    if (kind === 0) return code === AT && end - start === 1 ? origin : null
    if (kind === 2) hasUpperCase = true
  }
  if (start === end || end - start >= MAX_NAME_OCTETS) return null
  const slice = text.slice(start, end)
  const written = hasUpperCase ? slice.toLowerCase() : slice
  if (labelStart === end) return written as DomainName
  if (origin === null || end - labelStart > MAX_LABEL_OCTETS) return null
  if (end - start + 1 + originOctets > MAX_NAME_OCTETS) return null
  return (origin === ROOT ? `${written}.` : `${written}.${origin}`) as DomainName
}

/** The name a token stands for, or what is wrong with it. */
export function readNameToken(scope: ZoneFileScope, index: number): Result<DomainName> {
  const plain = plainName(scope, index)
  return plain === null ? parseDomainName(tokenText(scope.lexer, index), scope.origin) : { ok: true, value: plain }
}
