/**
 * Turns the zones of an octoDNS config into rules of ours. Zones with their own entry become rules that list their files. A dynamic entry (`*`) becomes
 * a rule with globs over its folders as they will be; files of other rules are excluded from it by globs that begin with `!`.
 */
import type { ImportedZone } from '../../definition/imported-zone.ts'
import { ROOT } from '../../dns/domain-name.ts'
import { escapeGlob, parseGlob } from '../../files/file-glob.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { type ConvertedRule, createProcessing, type Processing } from './converted-config.ts'
import type { ConvertedTarget } from './octodns-provider.ts'
import type { OctodnsConfig, OctodnsZoneEntry } from './read-octodns-config.ts'
import type { ReadOctodnsZone } from './read-octodns-zone.ts'
import { policyForUnreadSources, type RoutedZone } from './route-zones.ts'
import type { OpenSource } from './yaml-sources.ts'

interface RuleContext {
  readonly config: OctodnsConfig
  readonly targets: ReadonlyMap<string, ConvertedTarget>
  readonly sources: ReadonlyMap<string, OpenSource>
  readonly processing: Processing
  readonly dropped: UnsupportedFeature[]
  /** Whether only some zones are imported: then rules list their files. */
  readonly isPartial: boolean
}

type Options = Omit<ConvertedRule, 'files'>

/** An imported zone with its path and options. */
interface RuledZone {
  readonly path: string
  /** The glob that matches only this path. */
  readonly glob: string
  readonly entry: OctodnsZoneEntry
  readonly options: Options
  /** Equal for equal options. */
  readonly key: string
}

/** The rules for the imported zones: first those that list files, then those of dynamic entries, each in the order of the octoDNS config. */
export function convertRules(wanted: readonly RoutedZone[], read: readonly ReadOctodnsZone[], context: RuleContext): ConvertedRule[] {
  const zones: RuledZone[] = wanted.flatMap((routed, i) => {
    const one = read[i]
    if (!one || one.zone === null) return []
    const options = ruleOf(routed, one.zone, context)
    return [{ path: one.path, glob: escapeGlob(one.path), entry: routed.ownEntry, options, key: JSON.stringify(options) }]
  })
  zones.push(...zonesToCome(wanted, context))
  const covered = new Set<RuledZone>()
  const dynamic = context.isPartial ? [] : context.config.zones.flatMap((entry) => dynamicRule(entry, zones, covered, context) ?? [])
  const groups = new Map<string, ConvertedRule & { readonly files: string[] }>()
  for (const zone of zones) {
    if (covered.has(zone)) continue
    const group = groups.get(zone.key) ?? { ...zone.options, files: [] }
    group.files.push(zone.glob)
    groups.set(zone.key, group)
  }
  return [...groups.values(), ...dynamic]
}

/**
 * The files that zones with their own entry may get: zones without a file so far (`ignore_missing_zones`). Without a rule of their own, that of a
 * dynamic entry would apply to them.
 */
function zonesToCome(wanted: readonly RoutedZone[], context: RuleContext): RuledZone[] {
  const { config, sources, isPartial } = context
  if (isPartial || !config.zones.some(({ name, nameGlob }) => name === null && nameGlob !== null)) return []
  const present = new Set(wanted.map(({ name }) => name))
  return config.zones.flatMap((entry): RuledZone[] => {
    const { name } = entry
    if (name === null || entry.alias !== null || present.has(name)) return []
    const opened = entry.sources.flatMap((source) => sources.get(source) ?? [])
    const paths = opened.flatMap(({ source, directory }) => fileNamesOf(source, name.slice(0, -1)).map((file) => inFolder(directory, file)))
    const options = optionsOfNoZone(entry, context)
    return [...new Set(paths)].map((path) => ({ path, glob: globToCome(path), entry, options, key: JSON.stringify(options) }))
  })
}

/** A glob for a single file that need not exist: a path without wildcards must. */
const globToCome = (path: string): string => `${escapeGlob(path.slice(0, -1))}[${path.slice(-1)}]`

/** The names of the file and the folder of a zone in a source. */
const fileNamesOf = ({ hasZoneFiles, splitExtension }: OpenSource['source'], name: string): string[] => [
  ...(hasZoneFiles ? [`${name}.yaml`] : []),
  ...(splitExtension === null ? [] : [`${name}${splitExtension}`]),
]

const inFolder = (directory: string, name: string): string => (directory === '.' ? name : `${directory}/${name}`)

/**
 * The rule for a dynamic entry with the options of most of its zones; null for another entry, one whose names no glob matches or one that finds no
 * zones. Adds the zones to which the rule applies to `covered`.
 */
function dynamicRule(
  entry: OctodnsZoneEntry,
  zones: readonly RuledZone[],
  covered: Set<RuledZone>,
  context: RuleContext,
): ConvertedRule | null {
  const opened = entry.sources.flatMap((name) => context.sources.get(name) ?? [])
  if (entry.name !== null || entry.nameGlob === null || opened.length === 0) return null
  const globs = [...new Set(opened.flatMap((source) => globsOf(source, entry.nameGlob as string)))]
  const tests = globs.map((glob) => parseGlob(glob).matches)
  const isMatch = (path: string): boolean => tests.some((test) => test(path))
  const own = zones.filter((zone) => zone.entry === entry)
  const options = mostCommon(own) ?? optionsOfNoZone(entry, context)
  const key = JSON.stringify(options)
  const applies = zones.filter((zone) => zone.key === key && !covered.has(zone) && (zone.entry === entry || isMatch(zone.path)))
  const paths = new Set(zones.map(({ path }) => path))
  const unused = opened.flatMap(pathsIn).filter((path) => !paths.has(path))
  const others = zones.filter((zone) => zone.key !== key && !covered.has(zone)).map(({ path }) => path)
  const excluded = [...new Set([...unused, ...others])].filter(isMatch)
  for (const zone of applies) covered.add(zone)
  const listed = applies.filter(({ path }) => !isMatch(path)).map(({ glob }) => glob)
  // A source without files and folders of zones has nothing to find.
  if (globs.length === 0 && listed.length === 0) return null
  return { ...options, files: [...globs, ...listed, ...excluded.map((path) => `!${escapeGlob(path)}`)] }
}

/** Globs for the files and folders that octoDNS lists in a directory, with the names that `nameGlob` matches. */
function globsOf({ source, directory }: OpenSource, nameGlob: string): string[] {
  const folder = directory === '.' ? '' : `${escapeGlob(directory)}/`
  const name = nameGlob.endsWith('.') ? nameGlob.slice(0, -1) : nameGlob
  return [
    // octoDNS lists files with two dots or more.
    ...(source.hasZoneFiles ? [`${folder}${name === '*' ? '*.*' : name}.yaml`] : []),
    ...(source.splitExtension === null ? [] : [`${folder}${name}${escapeGlob(source.splitExtension)}`]),
  ]
}

/** The files and folders of all zones in a directory. */
const pathsIn = ({ directory, zones }: OpenSource): string[] =>
  [...zones.values()].flat().map(({ folder, paths }) => {
    const name = (folder ?? paths[0] ?? '').split(/[/\\]/).at(-1) ?? ''
    return inFolder(directory, name)
  })

function mostCommon(zones: readonly RuledZone[]): Options | null {
  const counts = new Map<string, number>()
  for (const { key } of zones) counts.set(key, (counts.get(key) ?? 0) + 1)
  const [best] = [...zones].sort((a, b) => (counts.get(b.key) ?? 0) - (counts.get(a.key) ?? 0))
  return best?.options ?? null
}

/** The options of an entry without zones. Nothing is reported for it. */
function optionsOfNoZone(entry: OctodnsZoneEntry, context: RuleContext): Options {
  const { processors } = entry
  const routed = { name: ROOT, entry, ownEntry: entry, processors, unreadSourcePolicy: policyForUnreadSources(ROOT, entry, context) }
  return ruleOf(
    routed,
    { name: ROOT, settings: {}, records: [] },
    { ...context, processing: createProcessing(context.config), dropped: [] },
  )
}

/** The rule for a zone. If its targets differ in their limits, the strictest one is used. */
function ruleOf(
  routed: Omit<RoutedZone, 'parts'>,
  zone: ImportedZone,
  { config, targets, sources, processing, dropped }: RuleContext,
): Options {
  const { name, entry, ownEntry } = routed
  const drop = (what: string, outcome?: string): void =>
    void dropped.push({ zone: name, name: null, type: null, what, at: ownEntry.at, outcome })
  if (ownEntry.isDryRun) drop('always-dry-run', DISABLED)
  const converted = entry.targets.flatMap((target) => {
    const known = targets.get(target)
    const provider = config.providers.get(target)
    if (provider !== undefined && sources.has(target)) drop(`its target ${target}, the folder of its files`)
    else if (known === undefined && provider === undefined)
      drop(`its target ${JSON.stringify(target)}, which is not a provider in the octoDNS config`)
    return known && !known.isDryRun ? known : []
  })
  // A run ends at a zone without a target.
  const isIdle = converted.length === 0 && targets.size > 0
  if (isIdle) drop('any target', DISABLED)
  const limit = (key: keyof ConvertedTarget['safety']): number | undefined => {
    const given = [...new Set(converted.map(({ safety }) => safety[key] ?? DEFAULT_LIMIT))].sort((a, b) => a - b)
    if (given.length > 1 && ownEntry.safety[key] === undefined)
      drop(`different limits of its targets (${given.join(', ')} %); all get the lowest`)
    return ownEntry.safety[key] ?? (given[0] === DEFAULT_LIMIT ? undefined : given[0])
  }
  const [deletes, updates] = [limit('max_delete_percent'), limit('max_update_percent')]
  const lenient = converted.filter(({ skipsUnsupported }) => skipsUnsupported)
  if (lenient.length > 0 && lenient.length < converted.length)
    drop(`strict_supports: false for only some of its targets (${lenient.map((target) => target.name).join(', ')})`)
  return {
    targets: [...new Set(converted.map((target) => target.name))],
    safety: {
      ...(deletes !== undefined && { max_delete_percent: deletes }),
      ...(updates !== undefined && { max_update_percent: updates }),
    },
    skipsUnsupported: converted.length > 0 && lenient.length === converted.length,
    ...((ownEntry.isDryRun || isIdle) && { isEnabled: false }),
    ...processing.forZone(routed, zone),
  }
}

const DISABLED = 'its rule has "enabled: false", so it is never planned'

/** The default limit of both programs, in percent. */
const DEFAULT_LIMIT = 30
