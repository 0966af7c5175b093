import type { Policy, UnmanagedSelector } from '../../dns/zone.ts'
import type { ConvertedSafety, ConvertedTarget } from './converted-target.ts'
import { printText } from './print-scalar.ts'

/** Definitions that go to the same targets. */
export interface ConvertedRule {
  /** Paths from the config's folder. */
  readonly files: readonly string[]
  readonly targets: readonly string[]
  readonly safety?: ConvertedSafety | undefined
  readonly skipsUnsupported?: boolean | undefined
  /** False where nothing is ever to be done to the zones. */
  readonly isEnabled?: boolean | undefined
  readonly policy?: Policy | null | undefined
  readonly unmanaged?: readonly UnmanagedSelector[] | undefined
}

export interface ConvertedConfig {
  /** The file it was made from. */
  readonly from: string
  readonly defaultTtl: number
  readonly splitExtension: string | null
  readonly targets: readonly Pick<ConvertedTarget, 'name' | 'settings'>[]
  readonly rules: readonly ConvertedRule[]
}

/** The text of a `zonewright.yaml`. */
export function printConvertedConfig({ from, defaultTtl, splitExtension, targets, rules }: ConvertedConfig): string {
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
    if (rule.isEnabled === false) text += '    enabled: false\n'
    // Without the key they would go to the only provider.
    text += `    targets: [${rule.targets.map(printText).join(', ')}]\n`
    if (rule.policy) text += `    policy: ${rule.policy}\n`
    const limits = Object.entries(rule.safety ?? {})
    if (limits.length > 0) text += `    safety: {${limits.map(([key, percent]) => `${key}: ${percent}`).join(', ')}}\n`
    if (rule.skipsUnsupported) text += '    unsupported: skip\n'
    const selectors = (rule.unmanaged ?? []).map(({ name, type }) =>
      flowMap({ ...(name !== undefined && { name }), ...(type && { type }) }),
    )
    if (selectors.length > 0) text += `    unmanaged:\n${selectors.map((selector) => `      - ${selector}\n`).join('')}`
  }
  text += `octodns_default_ttl: ${defaultTtl}\n`
  return splitExtension === null ? text : `${text}octodns_split_extension: ${printText(splitExtension)}\n`
}

const flowMap = (map: Readonly<Record<string, string>>): string =>
  `{${Object.entries(map)
    .map(([key, value]) => `${key}: ${printText(value)}`)
    .join(', ')}}`
