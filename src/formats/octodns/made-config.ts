import type { LostItem } from '../../model/exchange.ts'
import { printText } from './print-scalar.ts'
import type { OctodnsProvider } from './read-octodns-config.ts'

/** A provider of ours that does the work of one of octoDNS's. */
export interface MadeTarget {
  readonly name: string
  /** As YAML has it: keys in order. */
  readonly settings: Readonly<Record<string, string>>
}

/** Which of our providers stands for a class of octoDNS's, and its settings of plain text. */
const OURS: readonly { readonly pattern: RegExp; readonly settings: Readonly<Record<string, string>> }[] = [
  { pattern: /(?:^|\.)LinodeProvider$/, settings: { type: 'cloud', preset: 'linode' } },
]

/**
 * Our provider for one of octoDNS's; null where there is none. A secret is carried as a reference to the environment, never as it is.
 * `taken` are names that others have.
 */
export function targetOf(provider: OctodnsProvider, lost: LostItem[], taken: ReadonlySet<string> = new Set()): MadeTarget | null {
  const ours = OURS.find(({ pattern }) => pattern.test(provider.className))
  if (ours === undefined) return null
  const token = secretOf(provider, 'token', lost)
  for (const key of Object.keys(provider.settings)) {
    if (key !== 'token') lost.push({ zone: null, name: null, type: null, what: `${key} of the provider ${provider.name}`, at: provider.at })
  }
  const name = freeName(provider.name, taken)
  if (name !== provider.name) {
    const what = `the name of the provider ${JSON.stringify(provider.name)}: it becomes ${name}`
    lost.push({ zone: null, name: null, type: null, what, at: provider.at })
  }
  return { name, settings: { ...ours.settings, token } }
}

/** A name that a config takes (schemas/config.schema.json), as like to the one given as may be. */
function freeName(text: string, taken: ReadonlySet<string>): string {
  const name =
    text
      .replace(/[^A-Za-z0-9_.-]/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 55) || 'target'
  const plain = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(text) ? text : name
  if (!taken.has(plain)) return plain
  let count = 2
  while (taken.has(`${name}-${count}`)) count += 1
  return `${name}-${count}`
}

/** A secret as a reference: `env/NAME` as it is meant, everything else as a variable that is yet to be set. */
function secretOf({ name, settings, at }: OctodnsProvider, key: string, lost: LostItem[]): string {
  const [, variable] = /^env\/([A-Za-z_][A-Za-z0-9_]{0,99})$/.exec(String(settings[key] ?? '')) ?? []
  if (variable !== undefined) return `env:${variable}`
  const stand = `${name}_${key}`
    .toUpperCase()
    .replace(/[^A-Z0-9_]/g, '_')
    .replace(/^(?=[0-9])/, '_')
  if (settings[key] !== undefined) {
    lost.push({
      zone: null,
      name: null,
      type: null,
      what: `the ${key} of the provider ${name} as plain text: set ${stand} in the environment`,
      at,
    })
  }
  return `env:${stand}`
}

/** Definitions that go to the same targets. */
export interface MadeRule {
  /** Paths from the config's folder. */
  readonly files: readonly string[]
  readonly targets: readonly string[]
}

export interface MadeConfig {
  /** The file it was made from. */
  readonly from: string
  readonly defaultTtl: number
  readonly splitExtension: string | null
  readonly targets: readonly MadeTarget[]
  readonly rules: readonly MadeRule[]
}

/** The text of a `zonewright.yaml`. */
export function printMadeConfig({ from, defaultTtl, splitExtension, targets, rules }: MadeConfig): string {
  let text = `# Made from ${from.replace(/[^ -~]/g, '?')}, a configuration of octoDNS.\n`
  text +=
    targets.length === 0
      ? '# None of its targets has a provider here: add one, and name it in the targets below.\nproviders: {}\n'
      : 'providers:\n'
  for (const { name, settings } of targets) {
    text += `  ${printText(name)}: ${flowMap(settings)}\n`
  }
  text += rules.length === 0 ? 'zones: []\n' : 'zones:\n'
  for (const rule of rules) {
    text += `  - files:\n${rule.files.map((file) => `      - ${printText(file)}\n`).join('')}`
    if (rule.targets.length > 0) text += `    targets: [${rule.targets.map(printText).join(', ')}]\n`
  }
  text += `octodns_default_ttl: ${defaultTtl}\n`
  return splitExtension === null ? text : `${text}octodns_split_extension: ${printText(splitExtension)}\n`
}

const flowMap = (map: Readonly<Record<string, string>>): string =>
  `{${Object.entries(map)
    .map(([key, value]) => `${key}: ${printText(value)}`)
    .join(', ')}}`
