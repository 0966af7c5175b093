/** Parses the settings of a definition. */
import type { SourcePosition } from '../../base/diagnostic.ts'
import { didYouMean } from '../../base/nearest-word.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { parseIpv4, parseIpv6 } from '../../dns/ip-address.ts'
import { isMailAddress } from '../../dns/mailbox.ts'
import type { Ownership } from '../../dns/ownership.ts'
import { canonicalSeconds, canonicalUnsigned } from '../../dns/rdata/numbers.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import { SOA_FIELDS, SOA_TIMES } from '../../dns/soa.ts'
import type { Suppression } from '../../dns/suppression.ts'
import { MAX_TTL, type Ttl } from '../../dns/ttl.ts'
import { plainSelector } from '../../dns/unmanaged.ts'
import {
  type Allowance,
  APEX_NS_MODES,
  type ApexNsMode,
  type Policy,
  PRESETS,
  parseAllowance,
  REFUSAL_NAMES,
  type SettingPositions,
  type SoaFields,
  type UnmanagedSelector,
  type ZoneSettings,
} from '../../dns/zone.ts'
import type { ZonePattern } from '../../dns/zone-source.ts'
import { isBroken, isNull, lookUp, type YamlMapping, type YamlNode, type YamlScalar } from '../yaml/yaml-node.ts'
import { type DiagnosticCollector, looksOctal } from './parse-state.ts'
import { readOwnership } from './read-record-settings.ts'
import { parseTtlNode, readTargetName } from './read-scalar.ts'
import { readPattern } from './read-source.ts'
import { readSuppressions } from './read-suppressions.ts'

/** All settings of a definition. */
export interface DefinitionSettings extends Ownership {
  readonly settings: ZoneSettings
  readonly settingPositions: SettingPositions
  readonly soa: SoaFields | undefined
  readonly enabled: boolean
  readonly absent: boolean
  readonly defaultTtl: Ttl | null
  readonly targets: readonly string[] | null
  readonly policy: Policy | null
  readonly allow: readonly Allowance[]
  readonly apexNs: ApexNsMode
  readonly unsupported: 'error' | 'skip'
  readonly autoPtr: boolean | undefined
  readonly unmanaged: readonly UnmanagedSelector[]
  readonly ignore: readonly Suppression[] | undefined
  readonly sources?: readonly ZonePattern[]
  readonly includes: readonly IncludeEntry[]
}

/** The terms of RFC 9499 for the types of zones. */
const MASTER_NAMES: Readonly<Record<string, string>> = { primary: 'master', secondary: 'slave' }

const POLICIES = ['sync', 'upsert-only', 'create-only'] as const

/** Reads the settings of a definition of a zone. */
export function readSettings(
  root: YamlMapping,
  subject: DomainName,
  invalidNodes: ReadonlySet<YamlNode>,
  problems: DiagnosticCollector,
): DefinitionSettings {
  const read = settingReader(root, subject, invalidNodes, problems)
  const settings: ZoneSettings = {
    type: read.choice('type', ['master', 'slave']),
    status: read.choice('status', ['active', 'disabled']),
    description: read.text('description'),
    group: read.text('group'),
    tags: read.texts('tags'),
    soa_email: read.email('soa_email'),
    master_ips: read.addresses('master_ips'),
    axfr_ips: read.addresses('axfr_ips'),
    expire_sec: read.seconds('expire_sec', 'setting-invalid'),
    refresh_sec: read.seconds('refresh_sec', 'setting-invalid'),
    retry_sec: read.seconds('retry_sec', 'setting-invalid'),
    ttl_sec: read.seconds('ttl_sec', 'setting-invalid'),
  }
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  const soa = readSoa(root, subject, invalidNodes, problems)
  return {
    settings: Object.fromEntries(given),
    settingPositions: {
      ...soa?.timesAt,
      ...(lookUp(root, 'targets') && { targets: read.items('targets').map(({ at }) => at) }),
      ...Object.fromEntries(given.flatMap(([key]) => (lookUp(root, key) === undefined ? [] : [[key, lookUp(root, key)?.at]]))),
    },
    soa: soa?.fields,
    enabled: read.flag('enabled') ?? true,
    absent: read.flag('absent') ?? false,
    defaultTtl: read.seconds('default_ttl', 'ttl-invalid') ?? null,
    targets: read.texts('targets') ?? null,
    policy: read.choice('policy', POLICIES) ?? null,
    allow: read.allowances('allow') ?? [],
    apexNs: read.choice('apex_ns', APEX_NS_MODES) ?? 'keep',
    unsupported: read.choice('unsupported', ['error', 'skip']) ?? 'error',
    autoPtr: read.flag('auto_ptr'),
    unmanaged: read.items('unmanaged').flatMap((node) => readSelector(node, subject, invalidNodes, problems) ?? []),
    ...readOwnership(root, subject, { invalid: invalidNodes, problems }),
    ignore: ignoreOf(root, subject, invalidNodes, problems),
    ...sourcesOf(read.items('sources').flatMap((node) => readPattern(node, subject, invalidNodes, problems) ?? [])),
    includes: read.items('include').flatMap((node) => readInclude(node, subject, invalidNodes, problems) ?? []),
  }
}

const sourcesOf = (sources: readonly ZonePattern[]): Pick<DefinitionSettings, 'sources'> => (sources.length === 0 ? {} : { sources })

/** Readers of settings by type. Each returns undefined if the key is absent or invalid, after reporting it unless the schema check has. */
function settingReader(root: YamlMapping, subject: string, invalidNodes: ReadonlySet<YamlNode>, problems: DiagnosticCollector) {
  const invalid = (node: YamlNode, key: string, message: string, hint?: string): undefined => {
    problems.report('setting-invalid', node.at, subject, `${key}: ${message}`, { hint })
    return undefined
  }
  const given = (key: string): YamlNode | undefined => {
    const node = lookUp(root, key)
    return node === undefined || invalidNodes.has(node) || isBroken(node) ? undefined : node
  }
  const textOf = (node: YamlNode, key: string): YamlScalar | undefined =>
    node.kind === 'scalar' && !isNull(node) ? node : invalid(node, key, 'must be text')
  const scalar = (key: string): YamlScalar | undefined => {
    const node = given(key)
    return node && textOf(node, key)
  }
  const items = (key: string): readonly YamlNode[] => {
    const node = given(key)
    if (node === undefined || isNull(node)) return []
    return (node.kind === 'sequence' ? node.items : [node]).filter((item) => !invalidNodes.has(item) && !isBroken(item))
  }
  const chosen = <T extends string>(node: YamlScalar | undefined, key: string, choices: readonly T[]): T | undefined => {
    if (node === undefined) return undefined
    const choice = choices.find((candidate) => candidate === node.text)
    return (
      choice ??
      invalid(
        node,
        key,
        `${quoted(node.text)} is not one of ${choices.join(', ')}`,
        didYouMean(MASTER_NAMES[node.text] ?? node.text, choices),
      )
    )
  }
  const list = <T>(key: string, read: (node: YamlScalar) => T | undefined): T[] | undefined =>
    given(key) === undefined
      ? undefined
      : items(key).flatMap((item) => {
          const node = textOf(item, key)
          const value = node && read(node)
          return value === undefined ? [] : [value]
        })
  return {
    items,
    text: (key: string): string | undefined => scalar(key)?.text,
    texts: (key: string): string[] | undefined => list(key, (node) => node.text),
    choice: <T extends string>(key: string, choices: readonly T[]): T | undefined => chosen(scalar(key), key, choices),
    allowances: (key: string): Allowance[] | undefined =>
      list(key, (node) => {
        const allowance = parseAllowance(node.text)
        return allowance.ok ? allowance.value : invalid(node, key, allowance.message, didYouMean(node.text, REFUSAL_NAMES))
      }),
    flag: (key: string): boolean | undefined => {
      const node = scalar(key)
      if (node === undefined) return undefined
      if (/^(?:true|false)$/i.test(node.text)) return node.text.toLowerCase() === 'true'
      return invalid(node, key, `must be true or false, not ${quoted(node.text)}`)
    },
    seconds: (key: string, code: 'setting-invalid' | 'ttl-invalid'): Ttl | undefined => {
      const node = given(key)
      if (node === undefined) return undefined
      const ttl = parseTtlNode(node)
      if (ttl.ok) return ttl.value
      problems.report(code, node.at, subject, `${key}: ${ttl.message}`)
      return undefined
    },
    addresses: (key: string): string[] | undefined =>
      list(key, (node) => {
        const address = node.text.includes(':') ? parseIpv6(node.text) : parseIpv4(node.text)
        return address.ok
          ? address.value
          : invalid(node, key, `${quoted(node.text)} is not an IP address`, 'Write it as 192.0.2.53 or 2001:db8::53.')
      }),
    email: (key: string): string | undefined => {
      const node = scalar(key)
      if (node === undefined || isMailAddress(node.text)) return node?.text
      return invalid(node, key, `${quoted(node.text)} is not a mail address`, 'Write it as hostmaster@example.com.')
    },
  }
}

function ignoreOf(
  root: YamlMapping,
  subject: string,
  invalidNodes: ReadonlySet<YamlNode>,
  problems: DiagnosticCollector,
): readonly Suppression[] | undefined {
  const found = readSuppressions(lookUp(root, 'ignore'), invalidNodes, (code, at, detail, hint) =>
    problems.report(code, at, subject, detail, { hint }),
  )
  return found.length === 0 ? undefined : found
}

function readSelector(
  node: YamlNode,
  subject: string,
  invalidNodes: ReadonlySet<YamlNode>,
  problems: DiagnosticCollector,
): UnmanagedSelector | null {
  if (node.kind !== 'mapping') return null
  const part = (key: string): string | undefined => {
    const value = lookUp(node, key)
    return value?.kind === 'scalar' && !invalidNodes.has(value) && !isBroken(value) ? value.text : undefined
  }
  const [name, type, target] = [part('name'), part('type'), part('target')]
  const owner = part('owner') === 'external-dns' ? 'external-dns' : undefined
  const preset = PRESETS.find((one) => one === part('preset'))
  const typeNode = lookUp(node, 'type')
  if (type !== undefined && typeNode && !parseRecordType(type).ok && !type.includes('/')) {
    problems.report('type-unknown', typeNode.at, subject, `unmanaged: ${quoted(type)} is not a known record type`)
    return null
  }
  if ([name, type, target, owner, preset].every((value) => value === undefined)) {
    if (node.entries.length === 0)
      problems.report('setting-invalid', node.at, subject, 'unmanaged: the selector is empty and would match all records', {
        hint: 'Write a name, type or target, such as {name: _acme-challenge}.',
      })
    return null
  }
  return { ...plainSelector({ name, type: type?.toUpperCase(), target, owner, preset }), at: node.at }
}

function readInclude(
  node: YamlNode,
  subject: string,
  invalidNodes: ReadonlySet<YamlNode>,
  problems: DiagnosticCollector,
): IncludeEntry | null {
  if (node.kind === 'scalar') return isNull(node) ? null : { path: node.text, with: new Map(), at: node.at }
  if (node.kind !== 'mapping') return null
  const file = lookUp(node, 'file')
  if (file?.kind !== 'scalar' || isNull(file) || invalidNodes.has(file)) return null
  const variables = new Map<string, string>()
  const given = lookUp(node, 'with')
  for (const { key, value } of given?.kind === 'mapping' ? given.entries : []) {
    if (!isVariableName(key.text))
      problems.report('setting-invalid', key.at, subject, `include: ${quoted(key.text)} is not a valid name of a variable`)
    else if (value.kind === 'scalar' && !isNull(value)) variables.set(key.text, value.text)
  }
  return { path: file.text, with: variables, at: file.at }
}

/** The keys of a definition with settings, in canonical order. */
export const SETTING_KEYS = [
  'domain',
  'enabled',
  'absent',
  'type',
  'status',
  'description',
  'group',
  'tags',
  'owner',
  'expires',
  'soa_email',
  'master_ips',
  'axfr_ips',
  'ttl_sec',
  'refresh_sec',
  'retry_sec',
  'expire_sec',
  'soa',
  'default_ttl',
  'targets',
  'policy',
  'allow',
  'apex_ns',
  'unsupported',
  'auto_ptr',
  'include',
  'unmanaged',
  'ignore',
  'sources',
  'records',
] as const

/** One entry of `include:`. */
export interface IncludeEntry {
  readonly path: string
  readonly with: ReadonlyMap<string, string>
  readonly at: SourcePosition
}

/** Whether the text is a valid name of a variable. */
const isVariableName = (text: string): boolean => /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(text)

// Reads the fields of the SOA record in a definition.

interface ReadSoa {
  readonly fields: SoaFields
  /** The positions of times, under the settings that services store instead. */
  readonly timesAt: SettingPositions
}

/** Reads `soa:`, the fields of the SOA record that settings cannot express; undefined without it. */
function readSoa(root: YamlMapping, zone: string, invalidNodes: ReadonlySet<YamlNode>, problems: DiagnosticCollector): ReadSoa | undefined {
  const soa = lookUp(root, 'soa')
  if (soa?.kind !== 'mapping' || invalidNodes.has(soa)) return undefined
  const fields: Partial<Record<keyof SoaFields, string | number>> = {}
  const timesAt: Partial<Record<keyof ZoneSettings, SourcePosition>> = {}
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
  if (looksOctal(node)) return failure(`${text} begins with a zero, so some YAML parsers read it as octal: write ${Number(text)}`)
  const number = field === 'serial' ? canonicalUnsigned(text, 'u32') : canonicalSeconds(text)
  if (!number.ok) return number
  return field === 'ttl' && Number(number.value) > MAX_TTL ? failure(`${text} is more than ${MAX_TTL}`) : ok(Number(number.value))
}
