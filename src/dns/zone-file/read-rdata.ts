import { MAX_RDATA_OCTETS, MAX_STRING_OCTETS } from '../character-string.ts'
import { type DomainName, parseDomainName } from '../domain-name.ts'
import { parseIpv4, parseIpv6 } from '../ip-address.ts'
import { canonicalRdata, type RdataResult } from '../rdata/canonical.ts'
import type { Token } from '../rdata/field.ts'
import { parseGenericForm } from '../rdata/generic-form.ts'
import { RDATA_TYPES } from '../rdata/rdata-types.ts'
import type { Result } from '../result.ts'
import { TOKEN } from './lexer.ts'
import { plainName } from './plain-name.ts'
import { tokenText, type ZoneFileScope } from './scope.ts'

/**
 * The canonical data of a record of the type from the entry's tokens, from the token `from` on, or what is wrong and with which
 * token. The commonest types in their plainest form take a short way; everything else goes through the model.
 */
export function readRdata(scope: ZoneFileScope, type: string, from: number): RdataResult {
  const data = plainRdata(scope, type, from)
  if (data !== null) return { ok: true, value: data }
  const tokens = tokensFrom(scope, from)
  const isGeneric = tokens[0]?.text === '\\#' && !tokens[0].quoted
  if (isGeneric && RDATA_TYPES.has(type)) return parseGenericForm(type, tokens)
  return canonicalRdata(type, tokens, (text) => parseDomainName(text, scope.origin))
}

function plainRdata(scope: ZoneFileScope, type: string, from: number): string | null {
  const { lexer } = scope
  const given = lexer.count - from
  switch (type) {
    case 'A':
    case 'AAAA': {
      if (given !== 1) return null
      const text = tokenText(lexer, from)
      const address: Result<string> = type === 'A' ? parseIpv4(text) : parseIpv6(text)
      return address.ok ? address.value : null
    }
    case 'CNAME':
    case 'NS':
    case 'PTR':
    case 'DNAME':
    case 'ALIAS':
      return given === 1 ? plainName(scope, from) : null
    case 'MX':
      return given === 2 ? numbersAndName(scope, from, 1) : null
    case 'SRV':
      return given === 4 ? numbersAndName(scope, from, 3) : null
    case 'TXT':
    case 'SPF':
      return plainStrings(scope, from)
    default:
      return null
  }
}

/** As many 16-bit numbers as `numbers` says, and a name. */
function numbersAndName(scope: ZoneFileScope, from: number, numbers: number): string | null {
  let data = ''
  for (let i = from; i < from + numbers; i += 1) {
    const number = plainU16(scope, i)
    if (number === null) return null
    data += `${number} `
  }
  const name: DomainName | null = plainName(scope, from + numbers)
  return name === null ? null : data + name
}

function plainU16({ lexer: { text, starts, ends } }: ZoneFileScope, index: number): string | null {
  const start = starts[index] as number
  const end = ends[index] as number
  if (end === start || end - start > 5) return null
  let value = 0
  for (let i = start; i < end; i += 1) {
    const digit = text.charCodeAt(i) - 0x30
    if (digit < 0 || digit > 9) return null
    value = value * 10 + digit
  }
  return value > 0xffff ? null : String(value)
}

/** Strings that are printable ASCII without escapes: in quotes they are canonical. */
function plainStrings({ lexer }: ZoneFileScope, from: number): string | null {
  const { text, starts, ends, flags, count } = lexer
  let data = ''
  let octets = 0
  for (let i = from; i < count; i += 1) {
    if (((flags[i] as number) & (TOKEN.escaped | TOKEN.odd)) !== 0) return null
    const start = starts[i] as number
    const end = ends[i] as number
    if (end - start > MAX_STRING_OCTETS) return null
    octets += end - start + 1
    data += data === '' ? `"${text.slice(start, end)}"` : ` "${text.slice(start, end)}"`
  }
  return octets === 0 || octets > MAX_RDATA_OCTETS ? null : data
}

function tokensFrom({ lexer }: ZoneFileScope, from: number): Token[] {
  const tokens: Token[] = []
  for (let i = from; i < lexer.count; i += 1) {
    tokens.push({ text: tokenText(lexer, i), quoted: ((lexer.flags[i] as number) & TOKEN.quoted) !== 0 })
  }
  return tokens
}
