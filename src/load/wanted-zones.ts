/** The zones that the arguments of a command select: by their names, by globs of names or files, and by the paths of their files. */
import { existsSync, type Stats, statSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { type Diagnostic, oneLine } from '../base/diagnostic.ts'
import { agreeing } from '../base/english.ts'
import { didYouMean } from '../base/nearest-word.ts'
import { quoted } from '../base/text.ts'
import type { Config } from '../config/config.ts'
import { type DomainName, parseAbsoluteName } from '../dns/domain-name.ts'
import { globTest } from '../dns/glob.ts'
import { isReverseName } from '../dns/reverse-name.ts'
import { compileGlobs } from '../files/file-glob.ts'
import { displayPath, fromDisplayPath, isInside, resolveLinks } from '../files/file-path.ts'
import type { FoundDefinition } from './find-definitions.ts'
import type { LoadedDefinition } from './read-definition.ts'

export interface WantedZones {
  /** The names that are written out. */
  readonly names: ReadonlySet<DomainName>
  /** Whether only a name, or a glob of names, selects the zone. */
  has(name: DomainName): boolean
  /** Whether a path or a glob of paths selects the definition, whatever its zone is. */
  hasFile(definition: FoundDefinition): boolean
  /** Whether a path names one of the files that a definition was read from, such as a fragment that it includes. */
  hasSource(files: readonly string[]): boolean
  /** Whether a path names no definition, so that it may be a fragment: then all definitions are read. */
  readonly mayBeFragments: boolean
  /** Errors of arguments that are no name. */
  readonly diagnostics: readonly Diagnostic[]
  /** One error for each argument that selects nothing. `selected` are the zones of the run. */
  unused(selected: readonly LoadedDefinition[], read: readonly LoadedDefinition[], loaded: ReadonlySet<DomainName>): Diagnostic[]
}

const IS_GLOB = /[*?[{]/

/**
 * Whether an argument names an existing file or folder, not a zone: it contains a slash, begins with a dot, ends like a definition, or is a folder without a
 * dot in its name. `example.com.` and `internal.` are always zones.
 */
export function namesFile(argument: string, cwd: string): boolean {
  const facts = factsOf(resolve(cwd, argument))
  if (facts === null) return false
  return /[\\/]|^\.|\.(?:ya?ml|zone|db|[cm]?[jt]s)$/i.test(argument) || (!argument.includes('.') && facts.isDirectory())
}

/** Null if nothing is at the path, or nothing that can be read: a list may contain any line. */
function factsOf(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

/** Whether an argument is a zone or a glob, and cannot be meant as a path. */
export const namesZone = (argument: string, cwd: string): boolean =>
  !existsSync(resolve(cwd, argument)) &&
  (isGlobArgument(argument) || /\.$/.test(argument) || !/[\\/]|^\.|\.(?:ya?ml|zone|db)$/i.test(argument))

/** Whether an argument may match several zones or files. */
export const isGlobArgument = (argument: string): boolean => IS_GLOB.test(argument)

/** Understands the arguments of a command. Null if there are none, which selects all zones. Globs and paths are relative to the working directory. */
export function wantedZones(args: readonly string[] | undefined, config: Config, found: readonly FoundDefinition[]): WantedZones | null {
  if (args === undefined || args.length === 0) return null
  const { cwd } = config
  const names = new Set<DomainName>()
  const diagnostics: Diagnostic[] = []
  const globs: Glob[] = []
  const paths: { readonly argument: string; readonly path: string; readonly isFragment: boolean }[] = []
  for (const argument of args) {
    if (namesFile(argument, cwd)) {
      const path = resolve(cwd, argument)
      paths.push({ argument, path, isFragment: !found.some((definition) => isAt(definition, path)) })
    } else if (isGlobArgument(argument)) globs.push(globOf(argument, cwd))
    else if (/^[A-Za-z_$][\w$]*=/.test(argument))
      diagnostics.push(unknown(`${oneLine(argument.replace(/=.*/s, ''))}=… is no zone`, 'variables of programs are --var NAME=VALUE'))
    else if (/[\\/].*\.(?:ya?ml|zone|db)$/i.test(argument)) diagnostics.push(unknown(`${oneLine(argument)} cannot be read`, GONE))
    else {
      const name = parseAbsoluteName(argument)
      if (name.ok) names.add(name.value)
      else diagnostics.push({ severity: 'error', code: 'zone-name', message: name.message })
    }
  }
  const fragments = new Set(paths.flatMap(({ path, isFragment }) => (isFragment ? [resolveLinks(path)] : [])))
  const isFragmentSource = (file: string): boolean => fragments.has(resolveLinks(fromDisplayPath(file, cwd)))
  return {
    names,
    diagnostics,
    mayBeFragments: fragments.size > 0,
    has: (name) => names.has(name) || globs.some(({ ofName }) => ofName(name)),
    hasFile: (definition) => paths.some(({ path }) => isAt(definition, path)) || globs.some(({ ofFile }) => ofFile(definition)),
    hasSource: (files) => fragments.size > 0 && files.some(isFragmentSource),
    unused(selected, read, loaded) {
      const matchless = globs.filter(
        ({ ofName, ofFile }) => !selected.some(({ definition, zone }) => ofFile(definition) || (zone !== null && ofName(zone.name))),
      )
      const used = new Set(selected.flatMap(({ files }) => files.map((file) => resolveLinks(fromDisplayPath(file, cwd)))))
      const idle = paths.filter(({ path, isFragment }) => isFragment && !used.has(resolveLinks(path)))
      return [
        ...missingNames(names, read, loaded, found),
        ...matchless.map(({ argument }) => unknown(`no zone and no definition matches ${quoted(argument)}`, LIST)),
        ...idle.map(({ argument }) =>
          unknown(
            `no definition of the config is in ${displayPath(resolve(cwd, argument), cwd)}, or includes it`,
            '"zonewright zones" lists the files of every zone',
          ),
        ),
      ]
    },
  }
}

const GONE = 'does it exist? "--since" selects zones by what changed, and names those whose definition was removed'

interface Glob {
  readonly argument: string
  ofName(name: DomainName): boolean
  ofFile(definition: FoundDefinition): boolean
}

function globOf(argument: string, cwd: string): Glob {
  const ofName = globTest(argument.toLowerCase().replace(/\.$/, ''))
  const { matches } = compileGlobs([argument], cwd)
  const isMatch = (path: string): boolean => matches(relative(cwd, path).split(sep).join('/'))
  return { argument, ofName: (name) => ofName(name.slice(0, -1)), ofFile: ({ path, parts }) => [path, ...parts].some(isMatch) }
}

/** Whether a definition is a file, is below a folder, or is the folder that a file belongs to. */
const isAt = (definition: FoundDefinition, path: string): boolean => isInside(definition.path, path) || definition.parts.includes(path)

/** Whether a definition is of a wanted zone, or may be: its zone is unknown because of an error. */
export const isWanted = ({ definition, zone, files }: LoadedDefinition, wanted: WantedZones | null): boolean =>
  wanted === null || zone === null || wanted.has(zone.name) || wanted.hasFile(definition) || wanted.hasSource(files)

/** Whether a reverse zone is wanted. */
export const wantsReverse = (read: readonly (LoadedDefinition | null)[], wanted: WantedZones): boolean =>
  [...wanted.names].some(isReverseName) || read.some((one) => one?.zone && isReverseName(one.zone.name) && isWanted(one, wanted))

const LIST = '"zonewright zones" lists the zones'

const unknown = (message: string, hint: string | undefined): Diagnostic => ({ severity: 'error', code: 'zone-unknown', message, hint })

function missingNames(
  wanted: ReadonlySet<DomainName>,
  read: readonly LoadedDefinition[],
  loaded: ReadonlySet<DomainName>,
  found: readonly FoundDefinition[],
): Diagnostic[] {
  const invalid = new Set(read.filter((one) => one.zone === null).map((one) => one.definition.zoneName))
  const disabled = new Set(read.map((one) => one.zone?.name))
  const known = new Set([...found.map((one) => one.zoneName), ...disabled].filter((name) => name !== undefined && name !== null))
  return [...wanted]
    .filter((name) => !loaded.has(name) && !invalid.has(name))
    .map((name) =>
      disabled.has(name)
        ? unknown(`the definition of ${name} is disabled`, undefined)
        : /\.(?:ya?ml|zone|db)\.$/.test(name)
          ? unknown(`there is neither a file ${name.slice(0, -1)} nor a zone of that name`, LIST)
          : unknown(`there is no definition of ${name}`, otherZone(name, new Set([...known].filter((one) => one !== name)))),
    )
}

/** The hint for an unknown zone. */
function otherZone(name: DomainName, known: ReadonlySet<DomainName>): string | undefined {
  const list = `${agreeing(known.size, 'the only zone is', 'the zones are')} ${[...known].sort().join(', ')}`
  // A name in another top-level domain is hardly a typing mistake.
  const others = [...known].filter((one) => one.replace(/[^.]*\.$/, '') !== name.replace(/[^.]*\.$/, ''))
  return didYouMean(name, others) ?? (known.size > 0 && known.size <= 5 ? list : LIST)
}
