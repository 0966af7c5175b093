/** Parses `ignore`: the findings that a definition or the config accepts, each with a reason. */
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import type { DiagnosticCode } from '../../base/diagnostic-codes.ts'
import { DIAGNOSTIC_CODES } from '../../base/diagnostic-codes.ts'
import { didYouMean } from '../../base/nearest-word.ts'
import { quoted } from '../../base/text.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import { isSuppressible, SUPPRESSIBLE_CODES, type Suppression } from '../../dns/suppression.ts'
import { isBroken, isNull, lookUp, type YamlNode } from '../yaml/yaml-node.ts'

type Report = (code: DiagnosticCode, at: SourcePosition, detail: string, hint: string | undefined) => void

/** The keys of an entry at a record. Entries of a zone or the config also have `name` and `type`. */
export const SUPPRESSION_KEYS = ['code', 'reason'] as const

/** Reads `ignore`, whose structure the schema has checked. `invalid` has the nodes with errors, which are reported. */
export function readSuppressions(node: YamlNode | undefined, invalid: ReadonlySet<YamlNode>, report: Report): Suppression[] {
  if (node === undefined || isNull(node) || isBroken(node) || invalid.has(node)) return []
  const entries = node.kind === 'sequence' ? node.items : [node]
  return entries.flatMap((entry) => readSuppression(entry, invalid, report) ?? [])
}

function readSuppression(node: YamlNode, invalid: ReadonlySet<YamlNode>, report: Report): Suppression | null {
  if (node.kind !== 'mapping' || invalid.has(node)) return null
  const textOf = (key: string): string | undefined => {
    const value = lookUp(node, key)
    return value?.kind === 'scalar' && !isNull(value) && !isBroken(value) && !invalid.has(value) ? value.text : undefined
  }
  const at = (key: string): SourcePosition => (lookUp(node, key) ?? node).at
  const [code, reason, name, type] = [textOf('code'), textOf('reason'), textOf('name'), textOf('type')]
  if (code === undefined) return null
  if (!isSuppressible(code)) {
    const isKnown = Object.hasOwn(DIAGNOSTIC_CODES, code)
    const detail = isKnown ? `ignore: ${code} cannot be suppressed` : `ignore: there is no diagnostic ${quoted(code)}`
    const hint = isKnown ? 'Only lints and warnings about records can be.' : didYouMean(code, SUPPRESSIBLE_CODES)
    report('setting-invalid', at('code'), detail, hint)
    return null
  }
  if (reason === undefined || reason.trim() === '') {
    const value = lookUp(node, 'reason')
    if (value !== undefined && !invalid.has(value)) report('setting-invalid', at('reason'), 'ignore: the reason is empty', REASON)
    return null
  }
  if (type !== undefined && !parseRecordType(type).ok) {
    report('type-unknown', at('type'), `ignore: ${quoted(type)} is not a known record type`, undefined)
    return null
  }
  return { code, reason, ...(name !== undefined && { name }), ...(type !== undefined && { type: type.toUpperCase() }), at: node.at }
}

const REASON = 'Say why the finding is no problem here, such as reason: only the VPN resolves it.'

/** A notice for each suppression that matched nothing. */
export const unusedSuppression = ({ code, at }: Suppression): Diagnostic => ({
  severity: 'notice',
  code: 'ignore-unused',
  message: `ignore: there is no finding ${code} to suppress`,
  at,
  hint: 'remove the entry',
})
