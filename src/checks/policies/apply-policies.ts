/** Applies policies to documents, and to the zones of a run. Pure. */
import { type Diagnostic, hasErrors, type SourcePosition } from '../../base/diagnostic.ts'
import type { LoadedZone } from '../../config/configured-zone.ts'
import { globTest } from '../../dns/glob.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import { completeTestDocument, type RecordSetDocument, UNKNOWN, type ZoneContents, zoneDocument } from './policy-documents.ts'
import { daysLeft, type Policies, type PolicyException, type PolicyRule, type PolicySubject, type SchemaProblem } from './policy-rule.ts'

/** What a document is about, for messages and exceptions. */
export interface PolicyPlace {
  /** Canonical; null for a plan. */
  readonly zone: string | null
  readonly name?: string | undefined
  readonly relativeName?: string | undefined
  readonly type?: string | null | undefined
  readonly at: SourcePosition | undefined
}

/**
 * Applies every rule for `each` to a document. `placeOf` says what the document, or the value that breaks the rule, is about. Exceptions that suppress a
 * violation are added to `used`.
 */
export function applyRules(
  { rules }: Pick<Policies, 'rules'>,
  each: PolicySubject,
  document: object,
  now: Date,
  placeOf: (problem: SchemaProblem) => PolicyPlace,
  used?: Set<PolicyException>,
): Diagnostic[] {
  const found: Diagnostic[] = []
  for (const rule of rules) {
    const problem = rule.each === each ? problemIn(rule, document) : null
    if (problem !== null) found.push(...violation(rule, problem, placeOf(problem), now, used))
  }
  return found
}

/** The problem of a document; null if the rule looks at what is not known of it. */
function problemIn({ problemOf }: PolicyRule, document: object): SchemaProblem | null {
  try {
    return problemOf(document)
  } catch (error) {
    if (error === UNKNOWN) return null
    throw error
  }
}

const NOUNS: Readonly<Record<PolicySubject, string>> = { zone: 'zone', record_set: 'record set', change: 'change', plan: 'plan' }

function violation(
  rule: PolicyRule,
  { text }: SchemaProblem,
  place: PolicyPlace,
  now: Date,
  used: Set<PolicyException> | undefined,
): Diagnostic[] {
  const { code, severity, each, at: ruleAt } = rule
  const matching = rule.exceptions.filter((exception) => isException(exception, place))
  const valid = matching.filter((exception) => daysLeft(exception, now) >= 0)
  for (const exception of valid) used?.add(exception)
  if (valid.length > 0) return []
  const { zone, name = zone, type, at } = place
  const subject = [name, type].filter((part) => part !== null && part !== undefined).join(' ')
  const filled = rule.message.replace(/\{(zone|name|type)\}/g, (_, key) => ({ zone, name, type })[key as 'zone'] ?? '')
  const hasSubject = filled !== rule.message || subject === ''
  const expired = matching.map(({ until }) => `an exception for it expired on ${until}`)
  return [
    {
      severity,
      code,
      message: hasSubject ? filled : `${subject}: ${filled}`,
      at: at ?? (each === 'plan' ? ruleAt : undefined),
      hint: [text.startsWith('must') || text.startsWith('is ') ? `the ${NOUNS[each]} ${text}` : text, ...expired].join('; '),
      cause: { subject: NOUNS[each], message: rule.message.replace(/\{(?:zone|name|type)\}/g, '…') },
      ...(each === 'plan' ? {} : { related: [{ message: 'the policy', at: ruleAt }] }),
    },
  ]
}

const isException = ({ zone, name, type }: PolicyException, place: PolicyPlace): boolean =>
  (zone === undefined || (place.zone !== null && globTest(zone)(place.zone.replace(/\.$/, '')))) &&
  (name === undefined || (place.relativeName !== undefined && globTest(name)(place.relativeName))) &&
  (type === undefined || place.type === type)

/**
 * Applies the rules for zones and record sets to the contents of a zone. `isWanted` selects the record sets; all if absent. While values of sources
 * are unknown, the rules for zones and those for their record sets wait for the plan.
 */
export function applyToZone(
  policies: Pick<Policies, 'rules'>,
  contents: ZoneContents,
  now: Date,
  {
    at,
    positions,
    isWanted,
    used,
  }: {
    readonly at: SourcePosition | undefined
    /** By owner and type. */
    readonly positions?: ReadonlyMap<string, SourcePosition> | undefined
    readonly isWanted?: ((set: RecordSetDocument) => boolean) | undefined
    readonly used?: Set<PolicyException> | undefined
  },
): Diagnostic[] {
  const zone = zoneDocument(contents)
  const placeOf = ({ name, relativeName, type }: RecordSetDocument): PolicyPlace => ({
    zone: zone.zone,
    name,
    relativeName,
    type,
    at: positions?.get(`${name} ${type}`) ?? at,
  })
  const placeInZone = ({ path: [key, index] }: SchemaProblem): PolicyPlace => {
    const set = key === 'recordSets' ? zone.recordSets[Number(index)] : undefined
    return { zone: zone.zone, at: set === undefined ? at : placeOf(set).at }
  }
  const isComplete = contents.isPartial !== true && zone.recordSets.every(({ data }) => data.length > 0)
  const ofZone = !isComplete ? [] : applyRules(policies, 'zone', zone, now, placeInZone, used)
  const sets = isWanted === undefined ? zone.recordSets.filter(({ data }) => data.length > 0) : zone.recordSets.filter(isWanted)
  const ofSets = { rules: policies.rules.filter(({ each }) => each === 'record_set') }
  return [...ofZone, ...sets.flatMap((set) => applyRules(ofSets, 'record_set', set, now, () => placeOf(set), used))]
}

/** Where each RRset of a zone is defined, by owner and type. */
export function positionsOf({ records, sourced = [] }: Pick<DesiredZone, 'records' | 'sourced'>): ReadonlyMap<string, SourcePosition> {
  const positions = new Map<string, SourcePosition>()
  for (const { name, type, at } of [...records, ...sourced]) if (!positions.has(`${name} ${type}`)) positions.set(`${name} ${type}`, at)
  return positions
}

/** What policies see of a zone that a definition describes. */
export const contentsOf = (zone: DesiredZone, owner: string | null, targets: readonly string[]): ZoneContents => ({
  name: zone.name,
  owner,
  expires: zone.expires,
  targets,
  settings: zone.settings,
  defaultTtl: zone.defaultTtl?.ttl ?? null,
  records: zone.records,
  sourced: zone.sourced,
  isPartial: zone.sources !== undefined,
})

/**
 * Zones with what the rules for zones and record sets say about them. Zones with errors lack the records concerned, so nothing is said about them; nor about
 * zones that are to be deleted.
 */
export function applyToZones<Loaded extends { readonly zones: readonly LoadedZone[]; readonly diagnostics: readonly Diagnostic[] }>(
  loaded: Loaded,
  policies: Pick<Policies, 'rules'>,
  now: Date,
  used?: Set<PolicyException>,
): Loaded {
  if (!policies.rules.some(({ each }) => each === 'zone' || each === 'record_set')) return loaded
  const added: Diagnostic[] = []
  const zones = loaded.zones.map((one) => {
    const { zone, owner, targets } = one
    if (!one.valid || zone.absent) return one
    const found = applyToZone(policies, contentsOf(zone, owner, targets), now, { at: zone.at, positions: positionsOf(zone), used })
    if (found.length === 0) return one
    added.push(...found)
    return { ...one, diagnostics: [...one.diagnostics, ...found], valid: !hasErrors(found) }
  })
  return { ...loaded, zones, diagnostics: [...loaded.diagnostics, ...added] }
}

/**
 * Applies policies to all zones of a config, with a notice for each exception that suppresses nothing. Nothing is known of exceptions if a zone has errors or
 * records that are read when it is planned, nor of those from rules for changes and plans.
 */
export function applyToAllZones<Loaded extends { readonly zones: readonly LoadedZone[]; readonly diagnostics: readonly Diagnostic[] }>(
  loaded: Loaded,
  policies: Pick<Policies, 'rules'>,
  now: Date,
): Loaded {
  const used = new Set<PolicyException>()
  const checked = applyToZones(loaded, policies, now, used)
  const isKnown = loaded.zones.every(({ valid, zone }) => valid && zone.sources === undefined && (zone.sourced ?? []).length === 0)
  if (!isKnown || hasErrors(loaded.diagnostics)) return checked
  const unused = policies.rules.flatMap(({ each, name, exceptions }) =>
    each === 'zone' || each === 'record_set'
      ? exceptions.filter((one) => !used.has(one) && daysLeft(one, now) >= 0).map((one) => unusedException(name, one))
      : [],
  )
  return { ...checked, diagnostics: [...checked.diagnostics, ...unused] }
}

const unusedException = (policy: string, { reason, until, at }: PolicyException): Diagnostic => ({
  severity: 'notice',
  code: 'policies-exception-unused',
  message: `an exception from the policy ${policy}, until ${until}, suppresses nothing: ${reason}`,
  at,
  hint: 'nothing that it names breaks the policy: check its zone, name and type, or remove it',
})

// Runs the tests of policies. Pure.

/** An error for each test that fails, and a notice for each rule without tests. Exceptions do not apply to tests. */
export const testPolicies = ({ rules }: Pick<Policies, 'rules'>): Diagnostic[] => rules.flatMap(testRule)

function testRule({ name, each, tests, at, selects, problemOf }: PolicyRule): Diagnostic[] {
  if (tests.length === 0)
    return [
      {
        severity: 'notice',
        code: 'policies-untested',
        message: `the policy ${name} has no tests`,
        at,
        hint: 'add "tests" with a document that passes and one that fails',
      },
    ]
  return tests.flatMap(({ given, expect, at: place }): Diagnostic[] => {
    const document = completeTestDocument(each, given as Readonly<Record<string, unknown>>)
    const problem = problemOf(document)
    if ((problem === null) === (expect === 'pass')) return []
    const message = `the policy ${name}: a test expects ${expect}, and the rule ${problem === null ? 'accepts' : 'refuses'} the document`
    return [
      {
        severity: 'error',
        code: 'policies-test-failed',
        message,
        at: place,
        hint: problem?.text ?? (selects(document) ? undefined : '"where" does not select it'),
      },
    ]
  })
}
