import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { cruise, type ICruiseResult } from 'dependency-cruiser'
import { RULES } from './rules.ts'

export type Finding = { readonly rule: string; readonly from: string; readonly to: string }

export interface Survey {
  /** Source files that were parsed. */
  readonly modules: readonly string[]
  /** The resolved imports of each file, type-only imports included. */
  readonly imports: ReadonlyMap<string, readonly string[]>
  readonly findings: readonly Finding[]
}

/**
 * Checks the `src/` below `root` against the rules. The parser is swc: with TypeScript 7 installed the default one finds no
 * TypeScript at all, reads no module and reports no violation. swc keeps imports of types, and reads `import('…')` in types too.
 */
export async function survey(root: string): Promise<Survey> {
  const { output } = await cruise(['src'], {
    baseDir: root,
    parser: 'swc',
    validate: true,
    skipAnalysisNotInRules: true,
    ruleSet: { forbidden: [...RULES] },
    doNotFollow: { path: ['(?:^|/)node_modules/', '(?:^|/)generated/'] },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.json'],
      conditionNames: ['import', 'node', 'default'],
      exportsFields: ['exports'],
    },
  })
  if (typeof output === 'string') throw new Error('dependency-cruiser gave text')
  const { modules, summary } = output as ICruiseResult
  const ours = modules.filter(({ source }) => source.startsWith('src/'))
  return {
    modules: ours.map(({ source }) => source).sort(),
    imports: new Map(ours.map(({ source, dependencies }) => [source, dependencies.map(({ resolved }) => resolved)])),
    findings: summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to })),
  }
}

/** Every `.ts` file below `src/`, relative to `root`. */
export const sourceFiles = (root: string): string[] =>
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.[jt]s$/.test(path))
    .map((path) => `src/${path.replaceAll('\\', '/')}`)
    .sort()
