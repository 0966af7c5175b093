/**
 * Finds definitions that no rule of the config matches, so that a forgotten zone does not go unnoticed. Only the folders in which rules search are
 * examined. Files that a glob with `!` excludes are left out on purpose, and fragments that definitions include are no definitions.
 */
import { stat } from 'node:fs/promises'
import { basename, dirname, relative, resolve, sep } from 'node:path'
import type { Diagnostic } from '../base/diagnostic.ts'
import { agreeing, counted, listed } from '../base/english.ts'
import type { Config } from '../config/config.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { compileGlobs, type FileGlobs } from '../files/file-glob.ts'
import { displayPath, fromDisplayPath, isInside, resolveLinks } from '../files/file-path.ts'
import { folderTree } from '../files/folder-tree.ts'
import { readText } from '../files/read-text.ts'
import { isHiddenName, sourcePolicy } from '../files/source-policy.ts'
import { parseFileName, splitFolderZone } from './definition-name.ts'
import type { FoundDefinition } from './find-definitions.ts'

/** Files whose text is read to see whether they are definitions. */
const MAX_READ = 1000

/** Places that a message lists. */
const MAX_PLACES = 3

export interface KnownDefinitions {
  /** What the rules match, or the definitions that the user named. */
  readonly found: readonly FoundDefinition[]
  /** Whether the user named files or folders, which are then the only ones examined. */
  readonly isNamed: boolean
  /** Files that definitions include, as messages show them. */
  readonly included: ReadonlySet<string>
  /** The zones that the user asked for; null for all. Includes of other zones are unknown then. */
  readonly wanted: { has(name: DomainName): boolean } | null
}

/** The definitions without a rule, as messages show them, sorted. Empty without a config file. */
export async function unmatchedDefinitions(config: Config, known: KnownDefinitions): Promise<string[]> {
  if (config.file === null) return []
  const globs = config.zoneRules.map((rule) => compileGlobs(rule.files, config.folder))
  const isExcluded = (path: string): boolean => globs.some(({ excludes }) => excludes(relative(config.folder, path).split(sep).join('/')))
  if (known.isNamed) return known.found.filter(({ rules, path }) => rules.length === 0 && !isExcluded(path)).map(({ file }) => file)
  const paths = (await candidates(config, globs, known)).filter((path) => !isExcluded(path))
  const policy = sourcePolicy(config)
  const unmatched: string[] = []
  for (const path of paths.slice(0, MAX_READ)) {
    const file = displayPath(path, config.cwd)
    if (policy.refusePath(path) !== null || known.included.has(displayPath(resolveLinks(path), resolveLinks(config.cwd)))) continue
    const isFolder = splitFolderZone(basename(path), config.octodnsSplitExtension) !== null
    const text = isFolder ? null : await readText(path, file, policy)
    if (text === null || (text.ok && isDefinition(basename(path), text.text, known.wanted))) unmatched.push(file)
  }
  return unmatched.sort()
}

/** Paths that are named like definitions and that no rule has matched, in the folders where the rules search. */
async function candidates(config: Config, globs: readonly FileGlobs[], { found }: KnownDefinitions): Promise<string[]> {
  const { folder, octodnsSplitExtension: extension } = config
  const root = resolveLinks(folder)
  const depths = new Map<string, number>()
  for (const { path, literal, depth } of globs.flatMap(({ starts }) => starts)) {
    const start = resolve(folder, path)
    const isFolder =
      !literal || ((await stat(start).catch(() => null))?.isDirectory() && splitFolderZone(basename(start), extension) === null)
    const searched = isFolder ? start : dirname(start)
    // The config's own folder may be that of a whole repository.
    const own = searched === folder ? (literal ? 0 : depth) : Number.POSITIVE_INFINITY
    if (isInside(resolveLinks(searched), root)) depths.set(searched, Math.max(own, depths.get(searched) ?? 0))
  }
  const isKnown = new Set(found.map(({ path }) => path))
  if (config.file !== null) isKnown.add(fromDisplayPath(config.file, config.cwd))
  const tree = folderTree(root)
  const paths = new Set<string>()
  const isSplit = (name: string): boolean => splitFolderZone(name, extension) !== null
  for (const [searched, depth] of depths) {
    await tree.walk(
      searched,
      depth,
      ({ name, path }) => !isSplit(name) && !isHiddenName(path),
      ({ path, name, isFolder, isOutside }) => {
        const isNamed = isFolder ? isSplit(name) : parseFileName(name) !== null
        if (isNamed && !isOutside && !isHiddenName(path) && !isKnown.has(path)) paths.add(path)
      },
    )
  }
  return [...paths].sort()
}

/** Whether a text is a definition, or a record map in a file that is named like a zone with two labels or more. */
function isDefinition(name: string, text: string, wanted: KnownDefinitions['wanted']): boolean {
  const file = parseFileName(name)
  if (file?.kind === 'zone-file') return /\bSOA\b|^\$ORIGIN\b/im.test(text)
  if (/^["']?domain["']?[ \t]*:/m.test(text)) return true
  const zone = file?.zone ?? null
  const isZone = zone !== null && zone.split('.').length > 2 && (wanted === null || wanted.has(zone))
  return isZone && /\btype["']?[ \t]*:[ \t]*["']?[A-Z]/.test(text)
}

/** One warning for all definitions without a rule; none if there are none. */
export function unmatchedWarning(files: readonly string[]): Diagnostic[] {
  if (files.length === 0) return []
  const [subject, verb] = [counted(files.length, 'definition'), agreeing(files.length, 'has', 'have')]
  return [
    {
      severity: 'warning',
      code: 'definition-unmatched',
      message: `${subject} ${verb} no rule under "zones" in the config, so ${agreeing(files.length, 'it is', 'they are')} left alone: ${listed(files, MAX_PLACES)}`,
      hint: 'add a rule that matches, or exclude files with a glob such as "!zones/drafts/**"',
    },
  ]
}
