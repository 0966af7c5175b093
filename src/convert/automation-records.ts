/** Records that programs have most likely made, and go on making: guesses, for a person to judge. */
import { textOfRdata } from '../dns/character-string.ts'
import { type DomainName, relativeName } from '../dns/domain-name.ts'
import { type ResourceRecord, rrsetKey } from '../dns/record.ts'
import type { UnmanagedSelector } from '../dns/zone.ts'

export interface AutomationRecords {
  /** Which records, and whose they mostly are. */
  readonly about: string
  /** Selectors that leave exactly such records alone, also those to come where their names say so. */
  readonly selectors: readonly UnmanagedSelector[]
}

/** What of a zone's records looks as if made by programs; empty for most zones. */
export function automationRecords(zone: DomainName, records: readonly ResourceRecord[]): AutomationRecords[] {
  const named = records.map((record) => ({ record, relative: relativeName(record.name, zone) }))
  const found: AutomationRecords[] = []
  const challenges = named.filter(({ record, relative }) => record.type === 'TXT' && /(?:^|\.)_acme-challenge(?:\.|$)/.test(relative))
  if (challenges.length > 0) {
    // Challenges of one account have a label of it before theirs (dns-account-01).
    const before = challenges.every(({ relative }) => relative.startsWith('_acme-challenge')) ? '' : '*'
    const about = 'Records at _acme-challenge are mostly those of a certificate client.'
    found.push({ about, selectors: [{ name: `${before}_acme-challenge*`, type: 'TXT' }] })
  }
  if (named.some(({ record, relative }) => record.type === 'TXT' && /^_dnsauth(?:\.|$)/.test(relative)))
    found.push({
      about: 'Records at _dnsauth mostly prove a domain to a certificate authority.',
      selectors: [{ name: '_dnsauth*', type: 'TXT' }],
    })
  found.push(...ofExternalDns(named), ...ofDhcp(named))
  return found
}

interface NamedRecord {
  readonly record: ResourceRecord
  readonly relative: string
}

/** What begins the text of external-dns's records about its others (its TXT registry); some providers keep the quotation marks as text. */
const HERITAGE = /^"?heritage=external-dns,/

/** Types that external-dns makes records of. */
const EXTERNAL_TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'MX', 'NAPTR', 'NS', 'PTR', 'SRV', 'TXT'])

function ofExternalDns(named: readonly NamedRecord[]): AutomationRecords[] {
  const isNote = ({ type, data }: ResourceRecord): boolean =>
    type === 'TXT' && HERITAGE.test(Buffer.from(textOfRdata(data) ?? []).toString('latin1'))
  const notes = named.filter(({ record }) => isNote(record))
  if (notes.length === 0) return []
  const owned = new Map<string, UnmanagedSelector>()
  const add = ({ record: { name, type }, relative }: NamedRecord): void => {
    if (relative !== '' && !relative.includes('*')) owned.set(rrsetKey({ name, type }), { name: relative, type })
  }
  /** Record sets by the names that external-dns gives its note of them: the type and a hyphen or a dot before the name, or the name itself. */
  const byNote = new Map<string, NamedRecord[]>()
  const note = (key: string, one: NamedRecord): void => {
    const known = byNote.get(key)
    if (known) known.push(one)
    else byNote.set(key, [one])
  }
  for (const one of named) {
    const { record, relative } = one
    if (!EXTERNAL_TYPES.has(record.type) || isNote(record)) continue
    const type = record.type.toLowerCase()
    note(`${type}-${relative}`, one)
    note(`${type}.${relative}`, one)
    if (['a', 'aaaa', 'cname'].includes(type)) note(`=${relative}`, one)
  }
  for (const { relative } of notes) {
    for (let from = 0; from < relative.length; from += 1) {
      const owners = byNote.get(relative.slice(from)) ?? (from === 0 ? byNote.get(`=${relative}`) : undefined)
      if (owners === undefined) continue
      for (const one of owners) add(one)
      break
    }
  }
  const about = 'Records that a TXT record "heritage=external-dns" tells of are those of external-dns.'
  return [{ about, selectors: [{ type: 'TXT', target: '*heritage=external-dns,*' }, ...owned.values()] }]
}

/** Names with a DHCID record are kept up to date by a DHCP server (RFC 4703). */
function ofDhcp(named: readonly NamedRecord[]): AutomationRecords[] {
  const names = new Set(named.filter(({ record }) => record.type === 'DHCID').map(({ relative }) => relative))
  const selectors = [...names].filter((name) => name !== '' && !name.includes('*')).map((name): UnmanagedSelector => ({ name }))
  return selectors.length === 0 ? [] : [{ about: 'Names with a DHCID record are those of a DHCP server (RFC 4703).', selectors }]
}
