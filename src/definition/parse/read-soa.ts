/** Reads the fields of the SOA record in a definition. */
import type { SourcePosition } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { canonicalSeconds, canonicalUnsigned } from '../../dns/rdata/numbers.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import { SOA_FIELDS, SOA_TIMES } from '../../dns/soa.ts'
import { MAX_TTL } from '../../dns/ttl.ts'
import type { SettingPositions, SoaFields } from '../../dns/zone.ts'
import { isBroken, isNull, lookUp, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import { type DiagnosticCollector, looksOctal } from './parse-state.ts'
import { readTargetName } from './read-scalar.ts'

export interface ReadSoa {
  readonly fields: SoaFields
  /** The positions of times, under the settings that services store instead. */
  readonly timesAt: SettingPositions
}

/** Reads `soa:`, the fields of the SOA record that settings cannot express; undefined without it. */
export function readSoa(
  root: YamlMapping,
  zone: string,
  invalidNodes: ReadonlySet<YamlNode>,
  problems: DiagnosticCollector,
): ReadSoa | undefined {
  const soa = lookUp(root, 'soa')
  if (soa?.kind !== 'mapping' || invalidNodes.has(soa)) return undefined
  const fields: Partial<Record<keyof SoaFields, string | number>> = {}
  const timesAt: Partial<Record<keyof SettingPositions, SourcePosition>> = {}
  for (const field of SOA_FIELDS) {
    const node = lookUp(soa, field)
    if (node === undefined || invalidNodes.has(node) || isBroken(node)) continue
    const value = readField(field, node, zone as DomainName)
    if (!value.ok) {
      problems.report('setting-invalid', node.at, zone, `soa.${field}: ${value.message}`)
      continue
    }
    fields[field] = value.value
    const setting = SOA_TIMES.find(([time]) => time === field)?.[1]
    if (setting !== undefined) timesAt[setting] = node.at
  }
  return { fields: fields as SoaFields, timesAt }
}

function readField(field: keyof SoaFields, node: YamlNode, zone: DomainName): Result<string | number> {
  if (node.kind !== 'scalar' || isNull(node)) return failure('must be a single value')
  const { text } = node
  if (field === 'primary' || field === 'mailbox') {
    const name = readTargetName(text, zone, 'settings')
    return name.ok ? ok(name.value) : failure(name.hint === undefined ? name.message : `${name.message}. ${name.hint}`)
  }
  if (looksOctal(node)) return failure(`${text} begins with a zero, so some YAML parsers read it as octal`)
  const number = field === 'serial' ? canonicalUnsigned(text, 'u32') : canonicalSeconds(text)
  if (!number.ok) return number
  return field === 'ttl' && Number(number.value) > MAX_TTL ? failure(`${text} is more than ${MAX_TTL}`) : ok(Number(number.value))
}
