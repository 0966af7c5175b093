import type { DomainName } from '../domain-name.ts'
import { parseIpv4, parseIpv6 } from '../ip-address.ts'
import { parseMentionedType } from '../record-type.ts'
import { failure, ok, type Result } from '../result.ts'
import { canonicalPrefixes } from './address-prefixes.ts'
import { canonicalAmtRelay, canonicalIpsecKey } from './gateway.ts'
import { canonicalHostIdentity } from './host-identity.ts'
import { type FieldKind, mayBeEmpty } from './kinds.ts'
import { canonicalLocation } from './location.ts'
import { canonicalMnemonic, canonicalSeconds, canonicalUnsigned, type MnemonicKind } from './numbers.ts'
import { canonicalA6, canonicalAtmAddress, canonicalOldTypes, canonicalSink } from './obsolete.ts'
import { canonicalBase64, canonicalEui, canonicalHash, canonicalHex, canonicalLocator64, canonicalNsap, canonicalSalt } from './octets.ts'
import { canonicalServices } from './services.ts'
import { canonicalString, canonicalStrings, canonicalText } from './strings.ts'
import { canonicalSvcParams } from './svc-params.ts'
import { canonicalTime } from './timestamp.ts'
import type { Token } from './token.ts'
import { canonicalTypes } from './type-bitmap.ts'

export { type FieldKind, takesRest } from './kinds.ts'
export type { Token } from './token.ts'

/** How names in rdata are read: the zone file completes them with the origin, a definition has rules of its own. */
export type NameReader = (text: string) => Result<DomainName>

/** The canonical text of one field from its tokens (one token unless the kind takes the rest), or what is wrong with it. */
export function canonicalField(kind: FieldKind, tokens: readonly Token[], readName: NameReader): Result<string> {
  const token = tokens[0]
  if (token === undefined) return mayBeEmpty(kind) ? ok('') : failure('is missing')
  const { text } = token
  switch (kind) {
    case 'u8':
    case 'u16':
    case 'u32':
    case 'u64':
      return canonicalUnsigned(text, kind)
    case 'seconds':
      return canonicalSeconds(text)
    case 'time':
      return canonicalTime(text)
    case 'name':
      return readName(text)
    case 'ipv4':
      return parseIpv4(text)
    case 'ipv6':
      return parseIpv6(text)
    case 'string':
      return canonicalString(token)
    case 'optional-string':
      return tokens.length === 1 ? canonicalString(token) : failure(`has ${tokens.length} strings, at most one is allowed`)
    case 'strings':
      return canonicalStrings(tokens)
    case 'text':
      return canonicalText(token)
    case 'tag':
      return /^[a-z0-9]{1,255}$/i.test(text)
        ? ok(text.toLowerCase())
        : failure(`${JSON.stringify(text.slice(0, 60))} is not a tag of letters and digits`)
    case 'hex':
      return canonicalHex(tokens)
    case 'base64':
    case 'optional-base64':
      return canonicalBase64(tokens)
    case 'base64-or-dash':
      return text === '-' && tokens.length === 1 ? ok(text) : canonicalBase64(tokens)
    case 'salt':
      return canonicalSalt(text)
    case 'hash':
      return canonicalHash(text)
    case 'eui48':
      return canonicalEui(text, 6)
    case 'eui64':
      return canonicalEui(text, 8)
    case 'locator64':
      return canonicalLocator64(text)
    case 'nsap':
      return canonicalNsap(text)
    case 'algorithm':
    case 'certificate-type':
    case 'dsync-scheme':
    case 'protocol':
      return canonicalMnemonic(text, kind satisfies MnemonicKind)
    case 'type':
      // BIND writes the number alone where it knows no name.
      return parseMentionedType(/^[0-9]{1,5}$/.test(text) ? `TYPE${text}` : text)
    case 'types':
      return canonicalTypes(tokens)
    case 'old-types':
      return canonicalOldTypes(tokens)
    case 'a6':
      return canonicalA6(tokens, readName)
    case 'sink':
      return canonicalSink(tokens)
    case 'atm-address':
      return canonicalAtmAddress(text)
    case 'services':
      return canonicalServices(tokens)
    case 'prefixes':
      return canonicalPrefixes(tokens)
    case 'svc-params':
      return canonicalSvcParams(tokens)
    case 'location':
      return canonicalLocation(tokens)
    case 'ipsec-key':
      return canonicalIpsecKey(tokens, readName)
    case 'amt-relay':
      return canonicalAmtRelay(tokens, readName)
    case 'host-identity':
      return canonicalHostIdentity(tokens, readName)
  }
}
