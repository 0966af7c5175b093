import type { Diagnostic } from '../../dns/diagnostic.ts'
import { digestProblem } from '../../dns/rdata/rdata-problem.ts'
import type { ZoneIndex } from './zone-index.ts'

/** A digest that is longer or shorter than its type makes it fits no key and no certificate; BIND loads no zone with such a DS record. */
export function digestLength({ zone }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const { name, type, data, at } of zone.records) {
    const problem = digestProblem(type, data)
    if (problem === null) continue
    diagnostics.push({
      severity: 'warning',
      code: 'digest-length',
      message: `${name} ${type}: the digest ${problem.message}`,
      at,
      hint: 'copy all of it, or write the type that it is of',
    })
  }
  return diagnostics
}
