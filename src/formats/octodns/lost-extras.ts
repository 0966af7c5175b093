import type { Diagnostic } from '../../model/diagnostic.ts'
import { parseDomainName } from '../../model/domain-name.ts'
import type { LostItem } from '../../model/exchange.ts'
import type { DesiredZone } from '../../model/zone.ts'

export interface LostExtras {
  readonly lost: readonly LostItem[]
  /** The diagnostics that tell of something else. */
  readonly others: readonly Diagnostic[]
}

/** What the reader of definitions has told of a file of octoDNS's that nothing here can express, by record: `geo`, `dynamic`, other providers' types. */
export function lostExtras(zone: DesiredZone, diagnostics: readonly Diagnostic[]): LostExtras {
  const lost: LostItem[] = zone.foreign.map(({ name, type, at }) => ({
    zone: zone.name,
    name,
    type,
    what: `the type ${type}, another provider's`,
    at,
  }))
  const others: Diagnostic[] = []
  for (const one of diagnostics) {
    if (one.code === 'type-foreign') continue
    const extras = one.code === 'record-extra' ? EXTRAS.exec(one.message) : null
    const name = extras === null ? null : parseDomainName(extras[1] as string, zone.name)
    if (extras === null || !name?.ok) {
      others.push(one)
      continue
    }
    for (const what of JSON.parse(`[${extras[3]}]`) as string[]) {
      lost.push({ zone: zone.name, name: name.value, type: extras[2] as string, what, at: one.at })
    }
  }
  return { lost, others }
}

/** `www.example.com. A: "geo", "octodns.healthcheck" cannot be …`, as read-record.ts words it. */
const EXTRAS = /^(\S+) (\S+): ((?:"(?:[^"\\]|\\.)*"(?:, )?)+) cannot be expressed/
