/**
 * Finds the files that are definitions, and the rules of the config that apply to them. The globs of all rules share one view of the folders,
 * which ends at the config's folder and the named paths (symbolic links are resolved). Only names are examined.
 */
import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { type Diagnostic, hasErrors } from '../base/diagnostic.ts'
import { CONFIG_FILE, type Config, type ZoneRule } from '../config/config.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { compileGlobs, type FileGlobs, type GlobStart } from '../files/file-glob.ts'
import {
  displayPath,
  fromDisplayPath,
  isInside,
  relativePath,
  resolveLinks,
  withoutControlCharacters,
  withSlashes,
} from '../files/file-path.ts'
import { type FolderTree, folderTree, type TreeEntry } from '../files/folder-tree.ts'
import { describeReadError, similarFile } from '../files/read-text.ts'
import { isHiddenName, type SourcePolicy, sourcePolicy } from '../files/source-policy.ts'
import {
  type DefinitionKind,
  type FileName,
  isProgramGlob,
  isProgramName,
  parseFileName,
  splitFolderZone,
  unprintableNameError,
} from './definition-name.ts'

export interface FoundDefinition {
  /** Absolute. */
  readonly path: string
  /** As messages show it. */
  readonly file: string
  readonly kind: DefinitionKind
  /** The zone that the file is named after; null if the file must name it. */
  readonly zoneName: DomainName | null
  /** The rules whose globs match, in the order of the config. */
  readonly rules: readonly ZoneRule[]
  /** The files of a folder of split files; absolute, sorted by name. */
  readonly parts: readonly string[]
}

export interface FoundDefinitions {
  /** Sorted by path. */
  readonly definitions: readonly FoundDefinition[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Finds the definitions that the config's rules match, or those in `paths` (absolute files or folders) with the rules that match them. Files in `added` that
 * rules match count as definitions although they do not exist yet.
 */
export async function findDefinitions(
  config: Config,
  paths: readonly string[] | null = null,
  added: readonly string[] = [],
): Promise<FoundDefinitions> {
  const search = newSearch(config, paths ?? [])
  const rules = config.zoneRules.map((rule) => ({ rule, globs: compileGlobs(rule.files, config.folder) }))
  if (paths === null) {
    for (const { rule, globs } of rules) await searchRule(search, rule, globs)
    for (const path of added) {
      const name = search.found.has(path) ? null : parseFileName(basename(path))
      for (const { rule, globs } of rules) if (name !== null && globs.matches(globPath(search, path))) addFound(search, path, name, rule)
    }
  } else {
    for (const path of paths) await searchPath(search, path)
    assignRules(search, rules)
  }
  for (const { path, message } of search.tree.problems)
    report(search, 'file-unreadable', `${displayPath(path, config.cwd)}: ${message}`, null)
  const definitions = await Promise.all([...search.found.values()].map((found) => withParts(search, found)))
  definitions.sort((a, b) => (a.file < b.file ? -1 : 1))
  return { definitions, diagnostics: search.diagnostics }
}

interface Search {
  readonly config: Config
  readonly tree: FolderTree
  readonly found: Map<string, FoundDefinition>
  readonly diagnostics: Diagnostic[]
  /** The config, which is not a definition. */
  readonly configPath: string | null
  readonly policy: SourcePolicy
  /** Refused paths, which have been reported. */
  readonly refused: Set<string>
}

/** A new search, confined to the config's folder and the paths that the user named. */
const newSearch = (config: Config, paths: readonly string[]): Search => ({
  config,
  tree: folderTree(...[config.folder, ...paths].map(resolveLinks)),
  policy: sourcePolicy(config),
  refused: new Set(),
  found: new Map(),
  diagnostics: [],
  configPath: config.file === null ? null : fromDisplayPath(config.file, config.cwd),
})

async function searchRule(search: Search, rule: ZoneRule, globs: FileGlobs): Promise<void> {
  const matched = new Set<string>()
  const add = (path: string, name: FileName): void => {
    matched.add(path)
    addFound(search, path, name, rule)
  }
  const reported = search.diagnostics.length
  for (const start of globs.starts) await searchStart(search, rule, globs, start, add)
  // A rule that excludes all present files is for files to come.
  const isForOthers = [...search.found.keys()].some((path) => globs.excludes(globPath(search, path)))
  if (matched.size > 0 || !rule.enabled || isForOthers || hasErrors(search.diagnostics.slice(reported))) return
  const shown = rule.files.map((glob) => JSON.stringify(glob)).join(', ')
  report(search, 'no-definitions', `no definition matches ${shown}`, rule, 'warning')
}

async function searchStart(
  search: Search,
  rule: ZoneRule,
  globs: FileGlobs,
  start: GlobStart,
  add: (path: string, name: FileName) => void,
): Promise<void> {
  const { folder } = search.config
  const path = resolve(folder, start.path)
  if (refusePath(search, path, rule)) return
  if (!isInside(path, folder)) return reportOutside(search, path, rule)
  const facts = await stat(path).catch((error: unknown) => describeReadError(error))
  if (typeof facts === 'string') {
    if (start.literal) reportUnreadable(search, path, facts, rule, rule.files)
    return
  }
  if (!isInside(resolveLinks(path), resolveLinks(folder))) return reportOutside(search, path, rule)
  const own = globs.matches(globPath(search, path))
  const isProgram = programTest(search, rule)
  if (!facts.isDirectory()) {
    const name = parseFileName(basename(path)) ?? (isProgram(path) ? PROGRAM : null)
    if (name) {
      if (own) add(path, name)
    } else if (start.literal) report(search, 'file-format', unknownFormat(search, path), rule, 'error', FORMAT_HINT)
    return
  }
  const split = splitFolderZone(basename(path), search.config.octodnsSplitExtension)
  if (split !== null) {
    if (own || (await holdsMatch(search, path, globs))) add(path, { kind: 'split', zone: split })
    return
  }
  const isMatch = (one: string): boolean => globs.matches(globPath(search, one))
  const visit = async (entry: TreeEntry, name: FileName): Promise<void> => {
    if (isMatch(entry.path) || (name.kind === 'split' && (await holdsMatch(search, entry.path, globs)))) add(entry.path, name)
  }
  await walkDefinitions(search, path, start.depth, rule, visit, isMatch, isProgram)
}

function reportUnreadable(search: Search, path: string, facts: string, rule: ZoneRule | null, given: readonly string[]): void {
  const hint = given.some((one) => one.includes('\\'))
    ? 'write / between folders, on every system: a backslash takes the next character literally'
    : rule === null
      ? (similarFile(path, search.config.cwd) ?? 'name a definition, such as zones/example.com.yaml, or a folder of them')
      : undefined
  report(search, 'file-unreadable', `${displayPath(path, search.config.cwd)} ${facts}`, rule, 'error', hint)
}

const PROGRAM: FileName = { kind: 'program', zone: null }

/** Whether a path is a program that a glob with its ending matches: a glob for all files matches none. */
function programTest(search: Search, { files }: ZoneRule): (path: string) => boolean {
  const named = compileGlobs(
    files.filter((glob) => glob.startsWith('!') || isProgramGlob(glob)),
    search.config.folder,
  )
  return (path) => isProgramName(basename(path)) && named.matches(globPath(search, path))
}

/** Whether a glob matches a file in a folder of split files, which selects the folder. */
const holdsMatch = async (search: Search, path: string, globs: FileGlobs): Promise<boolean> =>
  (await search.tree.list(path)).some((part) => !part.isFolder && globs.matches(globPath(search, part.path)))

async function searchPath(search: Search, path: string): Promise<void> {
  if (refusePath(search, path, null)) return
  const facts = await stat(path).catch((error: unknown) => describeReadError(error))
  if (typeof facts === 'string') return reportUnreadable(search, path, facts, null, [path])
  const split = facts.isDirectory() ? splitFolderZone(basename(path), search.config.octodnsSplitExtension) : null
  if (split !== null) return addFound(search, path, { kind: 'split', zone: split }, null)
  if (!facts.isDirectory()) {
    const name = parseFileName(basename(path)) ?? (isProgramName(basename(path)) ? PROGRAM : null)
    if (name) return addFound(search, path, name, null)
    return report(search, 'file-format', unknownFormat(search, path), null, 'error', FORMAT_HINT)
  }
  const before = search.found.size
  await walkDefinitions(search, path, Number.POSITIVE_INFINITY, null, async (entry, name) => addFound(search, entry.path, name, null))
  if (search.found.size === before)
    report(search, 'no-definitions', `${displayPath(path, search.config.cwd)} contains no definitions`, null)
}

/** What a name says; null for that of a config, which is no definition wherever it is. */
const nameOfFile = (name: string): FileName | null => (name === CONFIG_FILE ? null : parseFileName(name))

/** Visits all files that are definitions by their name. A folder of split files is one definition. */
async function walkDefinitions(
  search: Search,
  path: string,
  depth: number,
  rule: ZoneRule | null,
  visit: (entry: TreeEntry, name: FileName) => Promise<void>,
  isMatch: (path: string) => boolean = () => false,
  isProgram: (path: string) => boolean = () => false,
): Promise<void> {
  const extension = search.config.octodnsSplitExtension
  const pending: [TreeEntry, FileName][] = []
  await search.tree.walk(
    path,
    depth,
    (entry) => splitFolderZone(entry.name, extension) === null,
    (entry) => {
      const split = entry.isFolder ? splitFolderZone(entry.name, extension) : null
      const name: FileName | null = entry.isFolder
        ? split && { kind: 'split', zone: split }
        : (nameOfFile(entry.name) ?? (isProgram(entry.path) ? PROGRAM : null))
      if (isHiddenName(entry.path)) {
        // A wildcard does not match it; only a glob that begins with a dot does.
        if (rule !== null && isMatch(entry.path)) refusePath(search, entry.path, rule)
      } else if (entry.isOutside && (entry.isFolder || name)) reportOutside(search, entry.path, rule)
      else if (name) pending.push([entry, name])
    },
  )
  for (const [entry, name] of pending) await visit(entry, name)
}

function addFound(search: Search, path: string, name: FileName, rule: ZoneRule | null): void {
  if (path === search.configPath || refusePath(search, path, rule)) return
  const known = search.found.get(path)
  const rules = rule === null ? [] : [rule]
  if (!known) {
    const file = displayPath(path, search.config.cwd)
    search.found.set(path, { path, file, kind: name.kind, zoneName: name.zone, rules, parts: [] })
  } else if (rule !== null && !known.rules.includes(rule)) {
    search.found.set(path, { ...known, rules: [...known.rules, rule] })
  }
}

function assignRules(search: Search, rules: readonly { readonly rule: ZoneRule; readonly globs: FileGlobs }[]): void {
  for (const [path, found] of search.found) {
    const shown = globPath(search, path)
    search.found.set(path, { ...found, rules: rules.filter(({ globs }) => globs.matches(shown)).map(({ rule }) => rule) })
  }
}

async function withParts(search: Search, found: FoundDefinition): Promise<FoundDefinition> {
  if (found.kind !== 'split') return found
  const parts = (await search.tree.list(found.path)).filter(
    (part) => !part.isFolder && /\.ya?ml$/i.test(withoutControlCharacters(part.name)),
  )
  const rule = found.rules[0] ?? null
  for (const part of parts) if (part.isOutside) reportOutside(search, part.path, rule)
  const allowed = parts.filter((part) => !part.isOutside && !refusePath(search, part.path, rule))
  return { ...found, parts: allowed.map((part) => part.path) }
}

/** A path as globs match it: relative to the config's folder, with `/`. */
const globPath = (search: Search, path: string): string => withSlashes(relativePath(search.config.folder, path))

function reportOutside(search: Search, path: string, rule: ZoneRule | null): void {
  if (search.refused.has(path)) return
  search.refused.add(path)
  const message = `${displayPath(path, search.config.cwd)} is outside the config folder, so no definition is read from it`
  report(search, 'path-outside', message, rule, 'error', 'move the definitions below the folder of the config, or the config above them')
}

/** Whether no definition may be read from a path; if so, reports it once. */
function refusePath(search: Search, path: string, rule: ZoneRule | null): boolean {
  const shown = displayPath(path, search.config.cwd)
  const refused = search.policy.refusePath(path)
  const unprintable = unprintableNameError(globPath(search, path), shown)
  if (refused === null && unprintable === null) return false
  if (!search.refused.has(path)) {
    if (refused !== null) report(search, 'path-protected', `${shown} ${refused}`, rule)
    else if (unprintable !== null) search.diagnostics.push({ ...unprintable, at: rule?.filesAt ?? undefined })
  }
  search.refused.add(path)
  return true
}

const unknownFormat = (search: Search, path: string): string =>
  `${displayPath(path, search.config.cwd)}: the file name does not show the format of the definition`

const FORMAT_HINT = 'name it ZONE.yaml, ZONE.zone or ZONE.db'

function report(
  search: Search,
  code: Diagnostic['code'],
  message: string,
  rule: ZoneRule | null,
  severity: Diagnostic['severity'] = 'error',
  hint?: string,
): void {
  search.diagnostics.push({ severity, code, message, at: rule?.filesAt ?? undefined, hint })
}
