import { textToRdata } from '../../dns/character-string.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { canonicalRdata } from '../../dns/rdata/canonical.ts'
import type { Token } from '../../dns/rdata/field-kind.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import type { ZoneRecord } from '../store/zone-file-store.ts'

/** The rdata of a stored record in canonical form, or why it has none. */
export function recordRdata(record: ZoneRecord): Result<string> {
  const { type, target, priority, weight, port, tag } = record
  switch (type) {
    case 'TXT':
      return ok(textToRdata(Buffer.from(target, 'utf8')))
    case 'MX':
      return withName(target === '' ? '.' : target, (name) => `${priority} ${name}`)
    case 'SRV':
      return withName(target, (name) => `${priority} ${weight} ${port} ${name}`)
    case 'NS':
    case 'CNAME':
    case 'PTR':
      return withName(target, (name) => name)
    case 'CAA':
      return canonicalRdata(type, [word('0'), word(tag ?? ''), { text: target, quoted: true }], noName)
    default:
      return canonicalRdata(type, [word(target)], noName)
  }
}

/** Targets are stored without the final dot. */
function withName(target: string, data: (name: DomainName) => string): Result<string> {
  const name = parseDomainName(target === '.' ? target : `${target}.`)
  return name.ok ? ok(data(name.value)) : name
}

const word = (text: string): Token => ({ text, quoted: false })

const noName = (): Result<DomainName> => failure('has no name')
