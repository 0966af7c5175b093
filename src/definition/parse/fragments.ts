/** Reads fragments that a definition includes, with variables. */
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import { didYouMean } from '../../base/nearest-word.ts'
import { quoted } from '../../base/text.ts'
import { isNull, lookUp, type YamlEntry, type YamlMapping, type YamlNode, type YamlScalar } from '../yaml/yaml-node.ts'
import type { FileLoader } from './file-loader.ts'
import type { DiagnosticCollector, ParseState } from './parse-state.ts'
import { readRecordMap } from './read-record-map.ts'
import { type IncludeEntry, SETTING_KEYS } from './read-settings.ts'

/** `${name}` is a variable, `$${` a literal `${`. */
const REFERENCE = /\$(\$\{)|\$\{([^{}]*)\}/g

/** Shared by all fragments of a definition, so that the values of their variables stay within one limit. */
export interface VariableExpansion {
  /** Characters that may still be inserted. */
  charactersLeft: number
  readonly problems: DiagnosticCollector
}

/**
 * The tree of a fragment with its variables replaced. Only scalars are replaced, so a value cannot change the structure of the file.
 * Reports variables without a value, keys that become equal, and too much text. Adds the names that occur to `used`.
 */
function expandVariables(
  root: YamlNode,
  variables: ReadonlyMap<string, string>,
  used: Set<string>,
  expansion: VariableExpansion,
): YamlNode {
  const { problems } = expansion
  const filled = new Map<YamlNode, YamlNode>()
  const fill = (node: YamlNode): YamlNode => {
    if (node.kind === 'scalar') return fillScalar(node)
    let done = filled.get(node)
    if (done === undefined) {
      done = node.kind === 'sequence' ? { ...node, items: node.items.map(fill) } : fillMapping(node)
      filled.set(node, done)
    }
    return done
  }
  const fillMapping = (node: YamlMapping): YamlMapping => {
    const entries = node.entries.map(({ key, value }) => ({ key: fillScalar(key), value: fill(value) }))
    // The keys of the record map are compared as domain names later.
    return { ...node, entries: node === root ? entries : distinctEntries(entries, node.entries, problems) }
  }
  const fillScalar = (node: YamlScalar): YamlScalar => {
    if (!node.text.includes('${')) return node
    let isComplete = true
    const text = node.text.replace(REFERENCE, (reference, literal: string | undefined, name: string | undefined) => {
      if (literal !== undefined) return literal
      const value = variables.get(name ?? '')
      used.add(name ?? '')
      if (value !== undefined) {
        expansion.charactersLeft -= value.length
        if (expansion.charactersLeft >= 0) return value
        problems.report('include-invalid', root.at, '', 'the included files become too long when their variables are replaced')
        isComplete = false
        return ''
      }
      const message = `the variable ${reference} has no value${variables.size === 0 ? ', since the include has no `with:`' : ''}`
      const hint =
        didYouMean(name ?? '', variables.keys()) ??
        `Write include: [{file: FILE, with: {${name || 'NAME'}: VALUE}}], or $\${ for a literal \${.`
      problems.report('variable-unknown', node.at, '', message, { hint })
      isComplete = false
      return reference
    })
    // A value is always text, even if it is empty or `null`.
    const done = { ...node, text }
    return isComplete ? { ...done, plain: node.plain && !isNull(done) } : { ...done, broken: true }
  }
  return fill(root)
}

/** The entries without those whose key has become equal to an earlier one, which is reported. */
function distinctEntries(entries: readonly YamlEntry[], before: readonly YamlEntry[], problems: DiagnosticCollector): readonly YamlEntry[] {
  if (entries.every(({ key }, i) => key === before[i]?.key)) return entries
  const first = new Map<string, YamlScalar>()
  return entries.filter(({ key }) => {
    const earlier = first.get(key.text)
    if (earlier === undefined) {
      first.set(key.text, key)
      return true
    }
    const related = [{ message: 'the other key', at: earlier.at }]
    problems.report('yaml-duplicate-key', key.at, '', `after replacing variables, the key ${quoted(key.text)} is given twice`, { related })
    return false
  })
}

/** Whether the file has the layout with settings: `domain:` holds text. In a record map it would hold a record or a list. */
export function hasSettings(root: YamlNode): root is YamlMapping {
  return root.kind === 'mapping' && lookUp(root, 'domain')?.kind === 'scalar'
}

/** The first key of a record map that is a setting instead of a name. */
export function straySetting(root: YamlNode): YamlScalar | undefined {
  if (root.kind !== 'mapping') return undefined
  return root.entries.find(({ key, value }) => {
    if (key.text === 'records') return value.kind === 'mapping' && lookUp(value, 'type')?.kind !== 'scalar'
    if (key.text === 'include') return value.kind === 'sequence' && value.items.some(({ kind }) => kind === 'scalar')
    return (SETTING_KEYS as readonly string[]).includes(key.text) && value.kind === 'scalar' && !isNull(value)
  })?.key
}

/** Adds the inclusion to the diagnostics of other files from index `from` on, since the problem may depend on its variables. */
export function nameInclusion(diagnostics: Diagnostic[], from: number, at: SourcePosition): void {
  for (const [index, one] of diagnostics.entries()) {
    if (index < from || one.at === undefined || one.at.file === at.file) continue
    diagnostics[index] = { ...one, related: [...(one.related ?? []), { message: 'included here', at }] }
  }
}

/** Adds the records of a fragment to the zone. */
export function readFragment(entry: IncludeEntry, files: FileLoader, state: ParseState, expansion: VariableExpansion): void {
  const { problems } = state
  const refuse = (message: string): void => problems.report('include-invalid', entry.at, state.zone, `${quoted(entry.path)} ${message}`)
  if (/\.(?:zone|db)$/i.test(entry.path)) {
    refuse('is a zone file; a fragment must be a map of records in YAML (only a zone file can include another, with $INCLUDE)')
    return
  }
  const tree = files.include(entry.path, entry.at)
  if (tree === null) return
  if (hasSettings(tree)) {
    refuse('is a complete definition (it has domain:), not a fragment of records')
    return
  }
  const stray = straySetting(tree)
  if (stray !== undefined) {
    refuse(`has the setting ${quoted(stray.text)}; a fragment can only contain records, at the top level`)
    return
  }
  const used = new Set<string>()
  const root = expandVariables(tree, entry.with, used, expansion)
  for (const name of entry.with.keys()) {
    if (used.has(name)) continue
    problems.report('variable-unused', entry.at, state.zone, `${quoted(entry.path)} does not use the variable ${quoted(name)}`, {
      severity: 'warning',
    })
  }
  readRecordMap(root, state)
}
