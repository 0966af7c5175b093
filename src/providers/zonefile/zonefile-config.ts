/** Creates a provider of zone files from its settings in the config. */
import { resolve } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { Environment } from '../../base/environment.ts'
import { redacted } from '../../base/secret-guard.ts'
import type { ProviderConfig } from '../../config/config.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import type { SerialNumber } from '../../dns/serial-number.ts'
import { dateSerial, unixTimeSerial } from '../../dns/zone-file/choose-serial.ts'
import type { CreatedProvider, ProviderContext, ProviderType } from '../provider.ts'
import { refusedCode } from '../run-code.ts'
import { settingProblem } from '../setting-problem.ts'
import { canBeServed, ZONEFILE_CAPABILITIES, zonefileCapabilities } from './capabilities.ts'
import { type Command, hasPlaceholder, parseCommand } from './run-command.ts'
import type { ListSettings } from './served-lists.ts'
import type { ListFormat } from './zone-lists.ts'

const DEFAULT_PARALLELISM = 4
const DEFAULT_TIMEOUT_SECONDS = 30
const DEFAULT_FILE_NAME = '{zone}.zone'

export const ZONEFILE: ProviderType = {
  capabilities: ZONEFILE_CAPABILITIES,
  capabilitiesFor: (config) => zonefileCapabilities(catalogOf(config)),
  checkSettings: (config) => settingProblems(config, null),
  endpoints: () => [],
  paths: (config) => {
    const file = listOf(config)?.file
    const list = file === undefined ? [] : [{ setting: 'list.file', path: file }]
    return [{ setting: 'directory', path: String(config.settings['directory']) }, ...list]
  },
  create,
}

interface ListDocument {
  readonly format: ListFormat
  readonly file: string
  readonly lines?: readonly string[]
  readonly path?: string
  readonly reload?: unknown
}

const listOf = ({ settings }: ProviderConfig): ListDocument | null => (settings['list'] as ListDocument | undefined) ?? null

/** With the environment of a run that may start the commands, also those that it must not start. */
function settingProblems(config: ProviderConfig, env: Environment | null): readonly Diagnostic[] {
  const { settings } = config
  const diagnostics: Diagnostic[] = []
  const report = (setting: string, message: string, hint?: string): void =>
    void diagnostics.push(settingProblem(config, setting, message, hint))
  for (const setting of ['catalog', 'primary'] as const) {
    const name = settings[setting]
    if (name !== undefined && nameOf(name) === null) report(setting, `${JSON.stringify(name)} is not a domain name`)
  }
  const commands = { check: settings['check'], reload: settings['reload'], 'list.reload': listOf(config)?.reload }
  for (const [setting, written] of Object.entries(commands)) {
    if (written === undefined) continue
    const command = parseCommand(written)
    const refused = command.ok && env !== null ? refusedCode(config, setting, command.value[0], env) : null
    if (refused !== null) diagnostics.push(refused)
    if (!command.ok) report(setting, command.message)
    else if (setting !== 'check' && hasPlaceholder(command.value, 'file'))
      report(setting, '{file} has no value here', '{zone} stands for the zone')
    else if (setting === 'list.reload' && hasPlaceholder(command.value, 'zone')) report(setting, '{zone} has no value here')
    else if (setting === 'check' && hasPlaceholder(command.value, 'zone') && !hasPlaceholder(command.value, 'file'))
      report(setting, 'the command does not get the file', 'add {file}')
  }
  return diagnostics
}

/** The absolute name of a setting, with or without the final dot; null if it is none. */
function nameOf(setting: unknown): DomainName | null {
  const text = String(setting)
  const name = parseAbsoluteName(text.endsWith('.') ? text : `${text}.`)
  return name.ok && canBeServed(name.value) ? name.value : null
}

const catalogOf = ({ settings }: ProviderConfig): DomainName | null =>
  settings['catalog'] === undefined ? null : nameOf(settings['catalog'])

const commandOf = (setting: unknown): Command | null => {
  const command = setting === undefined ? null : parseCommand(setting)
  return command?.ok ? command.value : null
}

/** A check command without placeholders gets the zone and the file, as named-checkzone and nsd-checkzone expect them. */
function checkCommand(setting: unknown): Command | null {
  const command = commandOf(setting)
  return command === null || hasPlaceholder(command, 'file') ? command : [...command, '{zone}', '{file}']
}

function serialFloor(rule: unknown, now: () => Date): () => SerialNumber | null {
  if (rule === 'date') return () => dateSerial(now())
  return rule === 'unixtime' ? () => unixTimeSerial(now()) : () => null
}

async function create(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const { settings } = config
  const { folder, env, loaded } = context.secrets
  const diagnostics = settingProblems(config, env)
  if (diagnostics.length > 0) return { provider: null, diagnostics }
  const shown = String(settings['directory']).replace(/(?<=.)\/+$/, '')
  const directory = resolve(folder, shown)
  const list = listOf(config)
  const listSettings: ListSettings | null = list && {
    format: list.format,
    file: resolve(folder, list.file),
    shown: list.file,
    lines: list.lines ?? [],
    path: list.path ?? directory,
    reload: commandOf(list.reload),
  }
  const { createZonefileProvider } = await import('./zonefile-provider.ts')
  const provider = createZonefileProvider({
    provider: config.name,
    scope: context.secrets,
    directory,
    shown,
    fileName: String(settings['file_name'] ?? DEFAULT_FILE_NAME),
    serialFloor: serialFloor(settings['serial'], context.now ?? (() => new Date())),
    check: checkCommand(settings['check']),
    reload: commandOf(settings['reload']),
    list: listSettings,
    catalog: catalogOf(config),
    primary: settings['primary'] === undefined ? null : nameOf(settings['primary']),
    adopt: settings['adopt'] === true,
    parallelism: context.parallelism ?? Number(settings['parallelism'] ?? DEFAULT_PARALLELISM),
    commands: { folder, env, timeout: Number(settings['timeout'] ?? DEFAULT_TIMEOUT_SECONDS) * 1000 },
    redact: (text) => redacted(loaded, text),
  })
  return { provider, diagnostics: [] }
}
