/** What providers support, as text and as the versioned document of `schemas/providers.schema.json`. */
import { oneLine } from '../base/diagnostic.ts'
import { jsonText } from '../base/text.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import { CAPABILITY_SUBJECTS, type CapabilitySubject, describeCapabilities, refusedTypes } from './describe-capabilities.ts'
import { paletteOf } from './palette.ts'

export interface ProviderView {
  /** Its name in the config; null for a type. */
  readonly name: string | null
  readonly type: string
  readonly capabilities: Capabilities
}

/** The document as text that ends in a newline. Its key order is fixed. */
export const renderProvidersJson = (providers: readonly ProviderView[]): string =>
  jsonText({ format: 'zonewright-providers', version: 1, providers: providers.map(documentOf) })

const documentOf = ({ name, type, capabilities }: ProviderView) => {
  const { calls, readOnly = false, types, ttlSteps, ttlDefault, fallbackTtl, settings, fixedSettings, maxRecords } = capabilities
  return {
    name,
    type,
    readOnly,
    onlyCreates: capabilities.onlyCreates !== undefined,
    calls: {
      unit: calls.unit,
      maxUnits: calls.maxUnits,
      maxOctets: calls.maxOctets,
      maxRecords: calls.maxValues?.count ?? null,
      maxCharacters: calls.maxValues?.characters ?? null,
      atomic: calls.atomic,
      hasPrecondition: calls.hasPrecondition,
      createsZoneWithRecords: calls.createsZoneWithRecords,
    },
    createsZones: capabilities.createsZones,
    types: types === null ? null : [...types].sort(),
    refusedTypes: refusedTypes(capabilities).map((refused) => ({
      types: refused.types,
      atApex: refused.atApex,
      reason: refused.reason,
    })),
    ttls: ttlSteps,
    followsZoneTtl: ttlDefault,
    fallbackTtl: fallbackTtl ?? null,
    maxRecords,
    servesApexNs: capabilities.servesApexNs,
    settings: [...settings].sort(),
    fixedSettings: [...fixedSettings].sort(),
  }
}

/** One paragraph per provider, with a line per subject. */
export function renderProvidersText(providers: readonly ProviderView[], { color }: { readonly color: boolean }): string {
  const palette = paletteOf(color)
  const width = Math.max(...Object.values(CAPABILITY_SUBJECTS).map((label) => label.length))
  const paragraphs = providers.map(({ name, type, capabilities }) => {
    const facts = describeCapabilities(capabilities)
    const lines = Object.entries(CAPABILITY_SUBJECTS).map(
      ([subject, label]) => `  ${palette.dim(label.padEnd(width))}  ${oneLine(facts[subject as CapabilitySubject])}`,
    )
    return [palette.bold(oneLine(name === null ? type : `${name} (${type})`)), ...lines].join('\n')
  })
  return `${paragraphs.join('\n\n')}\n`
}
