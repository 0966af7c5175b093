/** Reads the rules of a policy file. Collects all problems with their positions. */
import { type SchemaError, validate } from '../../../generated/policies-schema.js'
import { type Diagnostic, formatDiagnostic, hasErrors, type SourcePosition } from '../../base/diagnostic.ts'
import { isPolicyCode } from '../../base/diagnostic-codes.ts'
import { quoted } from '../../base/text.ts'
import { schemaDiagnostics } from '../../config/schema-diagnostics.ts'
import { toJsonValue } from '../../definition/yaml/plain-scalars.ts'
import { isBlankYaml, readYaml } from '../../definition/yaml/read-yaml.ts'
import { type PathStep, positionAt, type YamlNode } from '../../definition/yaml/yaml-node.ts'
import { parseFullDate } from '../../dns/ownership.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import { nameGlob } from '../../dns/unmanaged.ts'
import { schemaFaults, unknownKey } from './check-schema.ts'
import { ACCEPTS_ALL, type CompiledSchema, type SchemaCompiler } from './compile-schema.ts'
import { SHAPES } from './policy-documents.ts'
import type { PolicyException, PolicyRule, PolicySubject } from './policy-rule.ts'

/** Maximum characters of a policy file. */
const MAX_LENGTH = 1024 * 1024

/** A rule as the schema describes it. */
interface RuleDocument {
  readonly name: string
  readonly each: PolicySubject
  readonly where?: object | boolean
  readonly require: object | boolean
  readonly message?: string
  readonly severity?: Diagnostic['severity']
  readonly exceptions?: readonly Omit<PolicyException, 'at'>[]
  readonly tests?: readonly { readonly given: object; readonly expect: 'pass' | 'fail' }[]
}

export interface ReadPolicies {
  /** Only those without errors. */
  readonly rules: readonly PolicyRule[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads the text of a policy file, which messages call `file`. */
export function readPolicies(text: string, file: string, compiler: SchemaCompiler): ReadPolicies {
  if (isBlankYaml(text)) return { rules: [], diagnostics: [] }
  const { root, diagnostics } = readYaml(text, { file, maxLength: MAX_LENGTH })
  if (root === null || hasErrors(diagnostics)) return { rules: [], diagnostics }
  const document = toJsonValue(root)
  if (!validate(document)) return { rules: [], diagnostics: [...diagnostics, ...layoutErrors(root, validate.errors ?? [])] }
  const rules: PolicyRule[] = []
  const problems: Diagnostic[] = [...diagnostics]
  for (const [index, rule] of (document as readonly RuleDocument[]).entries()) {
    const report: Report = (path, message, hint) =>
      void problems.push({
        severity: 'error',
        code: 'policies-invalid',
        message: `the policy ${rule.name}: ${message}`,
        at: positionAt(root, [index, ...path]),
        hint,
      })
    const count = problems.length
    const read = ruleOf(rule, index, root, compiler, report)
    if (problems.length === count) rules.push(read)
  }
  return { rules, diagnostics: problems }
}

/** The errors of the layout. The meta-schema of JSON Schema finds some of them several times, and its only `anyOf` repeats another. */
function layoutErrors(root: YamlNode, errors: readonly SchemaError[]): Diagnostic[] {
  const found = schemaDiagnostics(
    root,
    errors.filter(({ keyword }) => keyword !== 'anyOf'),
  )
  return [...new Map(found.map((one) => [formatDiagnostic(one), one])).values()]
}

type Report = (path: readonly PathStep[], message: string, hint?: string) => void

function ruleOf(document: RuleDocument, index: number, root: YamlNode, compiler: SchemaCompiler, report: Report): PolicyRule {
  const { name, each, require, severity = 'error', exceptions = [], tests = [] } = document
  const code = `policy-${name}` as const
  if (!isPolicyCode(code)) report(['name'], `the code ${code} has another meaning`, 'choose another name')
  const message = document.message ?? `the policy ${name} is not kept`
  checkMessage(message, each, report)
  const where = compiled(document.where ?? true, 'where', each, compiler, report)
  const required = compiled(require, 'require', each, compiler, report)
  for (const [i, exception] of exceptions.entries())
    checkException(exception, each, (path, ...rest) => report(['exceptions', i, ...path], ...rest))
  for (const [i, { given }] of tests.entries()) {
    const unknown = unknownKey(given, SHAPES[each])
    if (unknown !== null) report(['tests', i, 'given', ...unknown.path], unknown.message, unknown.hint)
  }
  return {
    name,
    code,
    each,
    severity,
    message,
    exceptions: exceptions.map((exception, i) => exceptionOf(exception, positionAt(root, [index, 'exceptions', i]))),
    tests: tests.map((test, i) => ({ ...test, at: positionAt(root, [index, 'tests', i]) })),
    at: positionAt(root, [index]),
    selects: where.accepts,
    problemOf: (value) => (where.accepts(value) ? required.problemOf(value) : null),
  }
}

function compiled(
  schema: object | boolean,
  key: 'where' | 'require',
  each: PolicySubject,
  { compile, checkPattern }: SchemaCompiler,
  report: Report,
): CompiledSchema {
  const found = schemaFaults(schema, SHAPES[each], checkPattern)
  const result = found.length > 0 ? { schema: ACCEPTS_ALL, faults: found } : compile(schema)
  for (const { path, message, hint } of result.faults) report([key, ...path], message, hint)
  return result.schema
}

/** The placeholders that a message can have. */
const PLACEHOLDERS: Readonly<Record<PolicySubject, readonly string[]>> = {
  zone: ['zone'],
  record_set: ['zone', 'name', 'type'],
  change: ['zone', 'name', 'type'],
  plan: [],
}

function checkMessage(message: string, each: PolicySubject, report: Report): void {
  const allowed = PLACEHOLDERS[each]
  const known =
    allowed.length === 0 ? `for each: ${each} there are none` : `for each: ${each} there are ${allowed.map((one) => `{${one}}`).join(', ')}`
  for (const [whole, name = ''] of message.matchAll(/\{([a-z_]*)\}/gi))
    if (!allowed.includes(name)) report(['message'], `${whole} is no placeholder`, known)
}

/** The exception with its names in the form in which names are compared. */
const exceptionOf = ({ zone, name, type, ...rest }: Omit<PolicyException, 'at'>, at: SourcePosition): PolicyException => ({
  ...rest,
  ...(zone !== undefined && { zone: nameGlob(zone.replace(/\.$/, '')) }),
  ...(name !== undefined && { name: nameGlob(name) }),
  ...(type !== undefined && { type: type.toUpperCase() }),
  at,
})

function checkException({ zone, name, type, until, reason }: Omit<PolicyException, 'at'>, each: PolicySubject, report: Report): void {
  const named = [zone, name, type].some((one) => one !== undefined)
  if (each !== 'plan' && !named) report([], 'an exception names a zone, a name or a type', 'to switch the rule off, remove it')
  if (each === 'plan' && named) report([], 'an exception from a rule for plans names no zone, name or type')
  if (each === 'zone' && (name !== undefined || type !== undefined)) report([], 'an exception from a rule for zones names only the zone')
  if (name?.endsWith('.')) report(['name'], `${quoted(name)} is not relative to the zone`, 'write www instead of www.example.com.')
  if (type !== undefined && !parseRecordType(type).ok) report(['type'], `${JSON.stringify(type)} is not a known record type`)
  const date = parseFullDate(until)
  if (!date.ok) report(['until'], date.message)
  if (reason.trim() === '') report(['reason'], 'the reason is empty')
}
