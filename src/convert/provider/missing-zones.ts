import { didYouMean } from '../../definition/parse/suggest.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'

/** An error for each zone that was asked for and not found. */
export const missingZones = (
  wanted: readonly DomainName[],
  found: readonly { readonly name: DomainName }[],
  source: string,
): Diagnostic[] => {
  const there = new Set(found.map(({ name }) => name))
  return wanted
    .filter((name) => !there.has(name))
    .map((name) => ({ severity: 'error', code: 'zone-unknown', message: `${source} has no zone ${name}`, hint: didYouMean(name, there) }))
}
