/** Converts the targets of an octoDNS config. */
import { existsSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { agreeing, listed } from '../../base/english.ts'
import { CONFIG_FILE } from '../../config/config.ts'
import { printText } from '../../definition/print/octodns-value.ts'
import { escapeGlob } from '../../files/file-glob.ts'
import { isInside, resolveLinks } from '../../files/file-path.ts'
import type { ImportRequest } from '../importer.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { flowValue, providerProblem } from './converted-config.ts'
import { type ConvertedTarget, convertTarget } from './octodns-provider.ts'
import type { OctodnsConfig } from './read-octodns-config.ts'

/** Converts each octoDNS provider that is a target and no source of files. */
export function convertTargets(
  { providers, secretHandlers, zones }: OctodnsConfig,
  sources: ReadonlySet<string>,
  dropped: UnsupportedFeature[],
): Map<string, ConvertedTarget> {
  const targets = new Map<string, ConvertedTarget>()
  for (const provider of providers.values()) {
    const isTarget = zones.some((zone) => zone.targets.includes(provider.name))
    const isSource = zones.some((zone) => zone.sources.includes(provider.name))
    if (!isTarget && !isSource) {
      const what = `the provider ${provider.name}, which no zone uses`
      dropped.push({ zone: null, name: null, type: null, what, at: provider.at })
    }
    if (!isTarget || sources.has(provider.name)) continue
    const taken = new Set([...[...targets.values()].map(({ name }) => name), ...providers.keys()])
    taken.delete(provider.name)
    const target = convertTarget(provider, dropped, { takenNames: taken, secretHandlers })
    const problem = target === null ? `${JSON.stringify(provider.className.slice(0, 100))} is not a Python class` : providerProblem(target)
    if (target !== null && problem === null) targets.set(provider.name, target)
    else dropped.push({ zone: null, name: null, type: null, what: `the provider ${provider.name}: ${problem}`, at: provider.at })
  }
  return targets
}

/**
 * The target with its paths, which are relative to `base`, relative to the folder of the new config. A text among the options of a class is a path if it leads to a
 * file or folder.
 */
export function relocated({ name, settings }: ConvertedTarget, base: string, folder: string): Pick<ConvertedTarget, 'name' | 'settings'> {
  const moved = (path: string): string => (isAbsolute(path) ? path : relative(folder, resolve(base, path)) || '.')
  const leadsToFile = (text: string): boolean => /^[^\0]{1,1000}$/.test(text) && text.includes('/') && existsSync(resolve(base, text))
  const entries = Object.entries(settings).map(([key, value]) => {
    if (key === 'directory') return [key, moved(String(value))]
    if (key === 'options') return [key, mapTexts(value, (text) => (leadsToFile(text) ? moved(text) : text))]
    return [key, typeof value === 'string' && value.startsWith('file:') ? `file:${moved(value.slice(5))}` : value]
  })
  return { name, settings: Object.fromEntries(entries) }
}

/**
 * The folder of the new config, and the beginning of its globs: the current folder, where commands look, if the definitions go below it and no other config is
 * there; else theirs.
 */
export function placeConfig({ cwd, config, options }: ImportRequest): { readonly folder: string; readonly prefix: string } {
  const here = resolveLinks(cwd)
  const definitions = resolve(here, options.out ?? '.')
  if (config.file !== null || !isInside(resolveLinks(definitions), here)) return { folder: definitions, prefix: '' }
  const path = relative(here, definitions).split(sep).join('/')
  return { folder: cwd, prefix: path === '' ? '' : `${escapeGlob(path)}/` }
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change)]))
}

/** Notices for the targets that run octoDNS's classes or dns-lexicon, with the packages that they need. */
export function pythonNotices(targets: readonly ConvertedTarget[]): Diagnostic[] {
  const services = targets.filter(({ settings }) => settings['type'] === 'lexicon')
  const lexicon = services.map(
    ({ name, settings }): Diagnostic => ({
      severity: 'notice',
      code: 'import-aside',
      message: `${name} runs dns-lexicon in Python, because neither Zonewright nor octoDNS has a provider for ${settings['provider']}`,
      hint: `read docs/providers/lexicon.md, which says what plans may do there, and install it with: pip install 'dns-lexicon[${settings['provider']}]'`,
    }),
  )
  const classes = targets.filter((target) => target.needsPython && !services.includes(target))
  if (classes.length === 0) return lexicon
  const packages = new Set(
    classes.map(({ settings }) => String(settings['class']).split('.')[0]?.replaceAll('_', '-')).filter((one) => one !== 'octodns'),
  )
  const message = `${listed(
    classes.map(({ name }) => name),
    MAX_NAMED,
  )} ${agreeing(classes.length, 'runs its octoDNS class', 'run their octoDNS classes')} in Python`
  return [
    ...lexicon,
    { severity: 'notice', code: 'import-aside', message, hint: `install them with: pip install ${['octodns', ...packages].join(' ')}` },
    ...classes.flatMap(({ name, lacks }): Diagnostic[] =>
      lacks === undefined
        ? []
        : [
            {
              severity: 'notice',
              code: 'import-aside',
              message: `${name} does not become a native provider because of its option ${lacks}`,
            },
          ],
    ),
  ]
}

/**
 * A notice for each source that is no folder of files, with the entry that makes it a provider, and the command that imports its records. `out` is the folder of the
 * new config.
 */
export function sourceNotices(
  { providers, secretHandlers, zones }: OctodnsConfig,
  files: ReadonlySet<string>,
  targets: ReadonlyMap<string, ConvertedTarget>,
  relocate: (target: ConvertedTarget) => Pick<ConvertedTarget, 'name' | 'settings'>,
): Diagnostic[] {
  const names = [...new Set(zones.flatMap(({ sources }) => sources))].filter((name) => !files.has(name))
  return names.flatMap((source): Diagnostic[] => {
    const provider = providers.get(source)
    const target = targets.get(source) ?? (provider && convertTarget(provider, [], { secretHandlers }))
    if (provider === undefined || !target) return []
    const { name, settings } = relocate(target)
    const entry = targets.has(source) ? '' : `add "${printText(name)}: ${flowValue(settings)}" to providers in ${CONFIG_FILE}, then `
    const listed = zones.flatMap((zone) => (zone.sources.includes(source) && zone.name !== null ? [zone.name.slice(0, -1)] : []))
    const command = ['zonewright import --from', name, ...listed.slice(0, MAX_NAMED), listed.length > MAX_NAMED ? '…' : '']
      .join(' ')
      .trimEnd()
    return [
      {
        severity: 'notice',
        code: 'import-aside',
        message: `the records of the source ${source} (${provider.className.slice(0, 100)}) are no files, so they are not imported`,
        at: provider.at,
        hint: `to import them as they are today, ${entry}run: ${command} -o DIRECTORY`,
      },
    ]
  })
}

/** Targets that a message lists. */
const MAX_NAMED = 5
