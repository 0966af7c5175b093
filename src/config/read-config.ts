/** Parses a config. */
import { resolve } from 'node:path'
import { text as SCHEMA } from '../../generated/config-schema-text.js'
import { type Diagnostic, hasErrors } from '../base/diagnostic.ts'
import { createValidator } from '../base/json-schema.ts'
import { type LoadedSecrets, noSecrets } from '../base/secret-guard.ts'
import { quoted } from '../base/text.ts'
import { toJsonValue } from '../definition/yaml/plain-scalars.ts'
import { readYaml } from '../definition/yaml/read-yaml.ts'
import { isNull, positionAt, type YamlMapping, type YamlNode } from '../definition/yaml/yaml-node.ts'
import { isMailAddress } from '../dns/mailbox.ts'
import { type FullDate, parseFullDate } from '../dns/ownership.ts'
import { parseTtl, type Ttl } from '../dns/ttl.ts'
import type { ZoneSettings } from '../dns/zone.ts'
import { DEFAULT_QUARANTINE, MAX_QUARANTINE, type QuarantineRule } from '../dns/zone-source.ts'
import { DEFAULT_THRESHOLDS } from '../plan/safety-limits.ts'
import { approvalsOf } from './approvals.ts'
import { type Config, type ConfigDefaults, DEFAULT_ZONE_RULE, type ProviderConfig } from './config.ts'
import type { ConfigDocument, Reading } from './config-document.ts'
import { journalOf, LOCAL_JOURNAL } from './journal-place.ts'
import { emptyReferences, plainTextSecretWarnings, secretFilesOf } from './resolve-secret.ts'
import { schemaDiagnostics } from './schema-diagnostics.ts'
import { NO_USAGE, usageOf } from './usage-source.ts'
import { ignoreOf, nameserversOf, ruleOf, selectorsOf, zoneGlob } from './zone-rule.ts'

const MAX_CONFIG_LENGTH = 1024 * 1024

const schemaErrors = createValidator(SCHEMA)

/** The location of the config. */
export interface ConfigLocation {
  /** The file as messages show it. */
  readonly file: string
  /** Absolute. */
  readonly folder: string
  /** Absolute; file names in messages are relative to it. */
  readonly cwd: string
  /** The secrets of the run; none if absent. */
  readonly secrets?: LoadedSecrets | undefined
}

export interface ConfigResult {
  /** Null if the text is not a valid config. */
  readonly config: Config | null
  readonly diagnostics: readonly Diagnostic[]
}

/** The config of an empty file. */
export function defaultConfig(place: Omit<ConfigLocation, 'file'>): Config {
  return {
    file: null,
    folder: place.folder,
    cwd: place.cwd,
    providers: new Map(),
    programDate: null,
    zoneRules: [DEFAULT_ZONE_RULE],
    defaults: { settings: {}, ttl: null },
    safety: DEFAULT_THRESHOLDS,
    unsupported: 'error',
    ignore: [],
    deleteRemoved: false,
    nameservers: null,
    usage: NO_USAGE,
    quarantine: DEFAULT_QUARANTINE,
    journal: resolve(place.folder, '.zonewright'),
    journalStore: LOCAL_JOURNAL,
    policies: null,
    approvals: null,
    trusted: null,
    base: null,
    octodnsDefaultTtl: 3600 as Ttl,
    octodnsSplitExtension: '.',
    secretFiles: [],
    secrets: place.secrets ?? noSecrets(),
  }
}

/** Reads a config. Collects all problems with their positions; with errors the config is null. */
export function readConfig(text: string, place: ConfigLocation): ConfigResult {
  const { root, diagnostics: yaml } = readYaml(text, { file: place.file, maxLength: MAX_CONFIG_LENGTH })
  if (root === null) return { config: null, diagnostics: yaml }
  const document = isNull(root) ? {} : toJsonValue(withoutEmpty(root))
  const errors = schemaErrors(document)
  if (errors.length > 0) return { config: null, diagnostics: [...yaml, ...schemaDiagnostics(root, errors)] }
  if (hasErrors(yaml)) return { config: null, diagnostics: yaml }
  const reading: Reading = { root, diagnostics: [...yaml] }
  const config = configOf(document as ConfigDocument, reading, place)
  return { config: hasErrors(reading.diagnostics) ? null : config, diagnostics: reading.diagnostics }
}

const policiesOf = (paths: ConfigDocument['policies'], { root }: Reading): Config['policies'] =>
  paths === undefined
    ? null
    : [paths].flat().map((path, i) => ({ path, at: positionAt(root, Array.isArray(paths) ? ['policies', i] : ['policies']) }))

/** The root without keys that have no value, such as `providers:` with everything below it commented out. */
function withoutEmpty(root: YamlNode): YamlNode {
  if (root.kind !== 'mapping') return root
  return { ...root, entries: root.entries.filter(({ value }) => !isNull(value)) } satisfies YamlMapping
}

function configOf(document: ConfigDocument, reading: Reading, place: ConfigLocation): Config {
  const base = defaultConfig(place)
  const providers = new Map(Object.entries(document.providers ?? {}).map(([name, settings]) => [name, providerOf(name, settings, reading)]))
  const rules = document.zones?.map((rule, index) => ruleOf(rule, index, providers, reading)) ?? base.zoneRules
  const unmanaged = selectorsOf(document.unmanaged ?? [], ['unmanaged'], reading)
  for (const provider of providers.values()) reading.diagnostics.push(...emptyReferences(provider), ...plainTextSecretWarnings(provider))
  return {
    ...base,
    file: place.file,
    providers,
    zoneRules: rules.map((rule) => ({ ...rule, unmanaged: [...rule.unmanaged, ...unmanaged] })),
    defaults: defaultsOf(document.defaults ?? {}, reading),
    safety: { ...base.safety, ...document.safety },
    unsupported: document.unsupported ?? base.unsupported,
    ignore: ignoreOf(document, [], reading),
    deleteRemoved: document.delete_removed ?? base.deleteRemoved,
    nameservers: nameserversOf(document.nameservers, ['nameservers'], reading),
    usage: usageOf(document.usage ?? {}, reading, place),
    quarantine: quarantineOf(document.quarantine, reading),
    ...journalOf(document.journal, reading, place.folder, base),
    policies: policiesOf(document.policies, reading),
    approvals: approvalsOf(document.approvals, reading, (glob, path) => zoneGlob(glob, path, reading)),
    programDate: programDateOf(document.programs?.date, reading),
    octodnsDefaultTtl: ttlOf(document.octodns_default_ttl, ['octodns_default_ttl'], reading) ?? base.octodnsDefaultTtl,
    octodnsSplitExtension: document.octodns_split_extension ?? base.octodnsSplitExtension,
    secretFiles: secretFilesOf(providers.values(), place.folder),
  }
}

function providerOf(
  name: string,
  document: Readonly<Record<string, unknown>> & { readonly type: string },
  { root }: Reading,
): ProviderConfig {
  const { type, ...settings } = document
  return {
    name,
    type,
    settings,
    at: positionAt(root, ['providers', name]),
    placeOf: (...path) => positionAt(root, ['providers', name, ...path]),
  }
}

const TIMES = ['ttl_sec', 'refresh_sec', 'retry_sec', 'expire_sec'] as const

function defaultsOf(document: Readonly<Record<string, unknown>>, reading: Reading): ConfigDefaults {
  const { default_ttl: defaultTtl, ...rest } = document
  const settings: Record<string, unknown> = { ...rest }
  for (const key of TIMES) {
    const seconds = ttlOf(rest[key], ['defaults', key], reading)
    if (seconds !== null) settings[key] = seconds
  }
  const { soa_email: email } = settings
  if (typeof email === 'string' && !isMailAddress(email))
    reading.diagnostics.push({
      severity: 'error',
      code: 'setting-invalid',
      message: `defaults: soa_email: ${quoted(email)} is not a mail address`,
      at: positionAt(reading.root, ['defaults', 'soa_email']),
      hint: 'write it like hostmaster@example.com',
    })
  const settingPositions = Object.fromEntries(Object.keys(settings).map((key) => [key, positionAt(reading.root, ['defaults', key])]))
  return {
    settings: settings as ZoneSettings,
    ...(Object.keys(settings).length > 0 ? { settingPositions } : {}),
    ttl: ttlOf(defaultTtl, ['defaults', 'default_ttl'], reading),
    ...(defaultTtl === undefined ? {} : { ttlAt: positionAt(reading.root, ['defaults', 'default_ttl']) }),
  }
}

function ttlOf(value: unknown, path: readonly string[], { root, diagnostics }: Reading): Ttl | null {
  if (value === undefined) return null
  const ttl = parseTtl(String(value))
  if (ttl.ok) return ttl.value
  diagnostics.push({ severity: 'error', code: 'ttl-invalid', message: `"${path.join('.')}": ${ttl.message}`, at: positionAt(root, path) })
  return null
}

function programDateOf(text: string | undefined, { root, diagnostics }: Reading): FullDate | null {
  const date = text === undefined ? null : parseFullDate(text)
  if (date?.ok === false)
    diagnostics.push({
      severity: 'error',
      code: 'schema-value',
      message: `"programs.date": ${date.message}`,
      at: positionAt(root, ['programs', 'date']),
    })
  return date?.ok ? date.value : null
}

// Reads `quarantine` of the config.

function quarantineOf(
  { reads, for: time }: NonNullable<ConfigDocument['quarantine']> = {},
  { root, diagnostics }: Reading,
): QuarantineRule {
  const seconds = parseTtl(String(time ?? DEFAULT_QUARANTINE.seconds))
  if (!seconds.ok || seconds.value > MAX_QUARANTINE.seconds) {
    const message = `"quarantine.for": ${seconds.ok ? 'it is more than 30 days' : seconds.message}`
    diagnostics.push({ severity: 'error', code: 'schema-value', message, at: positionAt(root, ['quarantine', 'for']) })
  }
  return { reads: reads ?? DEFAULT_QUARANTINE.reads, seconds: seconds.ok ? seconds.value : DEFAULT_QUARANTINE.seconds }
}
