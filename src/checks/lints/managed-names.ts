/** Look-ups in all zones of a run. */
import { groupBy } from '../../base/group-by.ts'
import { type DomainName, parentOf, ROOT } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import { type NameLookUp, nameLookUp, type OpenTest, openTest } from '../rules/existing-names.ts'
import { withPlaceholders } from '../rules/rules.ts'
import { indexZone, type ZoneIndex } from '../rules/zone-index.ts'

/** A zone to lint, combined with the config. */
export interface LintedZone {
  readonly zone: DesiredZone
  /** Whether only an internal network sees it. */
  readonly internal: boolean
  /** Whether it lacks records because its definition has errors. */
  readonly isIncomplete: boolean
}

/** The records of a name; `missing` if it has none; `unknown` if no managed zone decides it. */
export type Answer = readonly DefinedRecord[] | 'missing' | 'unknown'

export interface ManagedNames {
  /** The zone that a name belongs to; null if no managed zone has it. */
  readonly zoneOf: (name: DomainName) => DomainName | null
  /** The records of a name with these types, or of any type if null. Several definitions of a zone count as one. */
  readonly lookUp: (name: DomainName, types: ReadonlySet<string> | null) => Answer
  /** Like `lookUp`, but follows CNAME records, as resolvers do. */
  readonly resolve: (name: DomainName, types: ReadonlySet<string>) => Answer
  /** Whether the records of a definition are all that its zone has, apart from what `OpenTest` finds. */
  readonly hasAll: (zone: LintedZone) => boolean
}

/** Maximum number of CNAME records that a look-up follows. */
const MAX_ALIASES = 8

/** One definition of a zone. */
interface Variant {
  readonly hasAll: boolean
  readonly isOpen: OpenTest
  readonly find: NameLookUp
}

const CNAME: ReadonlySet<string> = new Set(['CNAME'])

/** The index for the lints of a zone. It is not kept: those of all zones are larger than the zones. */
export const indexOf = ({ zone }: LintedZone): ZoneIndex => indexZone(withPlaceholders(zone))

/** `ask` receives the names of possible zones that are not among `zones`. */
export function managedNames(zones: readonly LintedZone[], ask?: (zone: DomainName) => void): ManagedNames {
  const byName = groupBy(zones, ({ zone }) => zone.name)
  const variants = new Map<DomainName, readonly Variant[]>()
  const variantsOf = (zone: DomainName): readonly Variant[] => {
    const known = variants.get(zone) ?? (byName.get(zone) ?? []).map((linted) => variantOf(linted))
    variants.set(zone, known)
    return known
  }
  const zoneOf: ManagedNames['zoneOf'] = (name) => {
    for (let at = name; ; at = parentOf(at)) {
      if (byName.has(at)) return at
      ask?.(at)
      if (at === ROOT) return null
    }
  }
  const lookUp: ManagedNames['lookUp'] = (name, types) => {
    const zone = zoneOf(name)
    if (zone === null) return 'unknown'
    const answers = variantsOf(zone).map((variant) => answerOf(variant, name, types))
    return answers.find((answer) => typeof answer !== 'string') ?? answers.find((answer) => answer === 'unknown') ?? 'missing'
  }
  const resolve: ManagedNames['resolve'] = (start, types) => {
    let name = start
    for (let hops = 0; hops < MAX_ALIASES; hops += 1) {
      const answer = lookUp(name, types)
      if (answer !== 'missing') return answer
      const alias = lookUp(name, CNAME)
      if (alias === 'unknown') return alias
      const target = typeof alias === 'string' ? null : targetName('CNAME', alias[0]?.data ?? '')
      if (target === null) return answer
      name = target
    }
    return 'unknown'
  }
  return { zoneOf, lookUp, resolve, hasAll }
}

function variantOf(linted: LintedZone): Variant {
  const index = indexOf(linted)
  return { hasAll: hasAll(linted), isOpen: openTest(index), find: nameLookUp(index) }
}

/** The live zone may have more records than its definition, unless plans make both equal. */
const hasAll: ManagedNames['hasAll'] = ({ zone, isIncomplete }) =>
  !isIncomplete && !zone.absent && zone.settings.type !== 'slave' && (zone.policy ?? 'sync') === 'sync'

function answerOf({ hasAll, isOpen, find }: Variant, name: DomainName, types: ReadonlySet<string> | null): Answer {
  const found = find(name)?.filter(({ type }) => types === null || types.has(type)) ?? []
  if (found.length > 0) return found
  return !hasAll || isOpen(name, types) ? 'unknown' : 'missing'
}
