/** Reads the rules for zones of a config, and the values that the config itself may also have. */
import { readSuppressions } from '../definition/parse/read-suppressions.ts'
import { nodeAt, positionAt } from '../definition/yaml/yaml-node.ts'
import { type DomainName, parseDomainName } from '../dns/domain-name.ts'
import { parseOwner } from '../dns/ownership.ts'
import { parseRecordType } from '../dns/record-type.ts'
import { isServerAddress } from '../dns/server-address.ts'
import type { Suppression } from '../dns/suppression.ts'
import { type Allowance, parseAllowance, type UnmanagedSelector } from '../dns/zone.ts'
import { hasGlob } from '../files/file-glob.ts'
import { DEFAULT_FILES, unknownProvider, type ZoneRule } from './config.ts'
import type { Reading, RuleDocument } from './config-document.ts'

/** Reads a rule of `zones`. */
export function ruleOf(document: RuleDocument, index: number, providers: ReadonlyMap<string, unknown>, reading: Reading): ZoneRule {
  const path = ['zones', index]
  const files = document.files === undefined ? DEFAULT_FILES : [document.files].flat()
  const zones = document.zone === undefined ? null : [document.zone].flat()
  document.targets?.forEach((target, i) => {
    if (providers.has(target)) return
    reading.diagnostics.push(unknownProvider(target, providers.keys(), positionAt(reading.root, [...path, 'targets', i])))
  })
  return {
    files,
    zones: zones?.map((zone) => zoneGlob(zone, path, reading)) ?? null,
    zoneName: onlyName(files, zones),
    enabled: document.enabled ?? true,
    owner: ownerOf(document.owner, [...path, 'owner'], reading),
    targets: document.targets ?? null,
    policy: document.policy ?? null,
    allow: allowancesOf(document.allow ?? [], [...path, 'allow'], reading),
    unsupported: document.unsupported ?? null,
    apexNs: document.apex_ns ?? null,
    autoPtr: document.auto_ptr ?? false,
    unmanaged: selectorsOf(document.unmanaged ?? [], [...path, 'unmanaged'], reading),
    internal: document.internal ?? false,
    ignore: ignoreOf(document, path, reading),
    safety: document.safety ?? {},
    deleteRemoved: document.delete_removed ?? null,
    nameservers: nameserversOf(document.nameservers, [...path, 'nameservers'], reading),
    at: positionAt(reading.root, path),
    filesAt: positionAt(reading.root, [...path, 'files']),
  }
}

/** Reads the selectors of the config, or of a rule. */
export function selectorsOf(
  selectors: readonly UnmanagedSelector[],
  path: readonly (string | number)[],
  { root, diagnostics }: Reading,
): UnmanagedSelector[] {
  return selectors.map((selector, i) => {
    const { type } = selector
    if (type === undefined) return { ...selector, at: positionAt(root, [...path, i]) }
    if (!parseRecordType(type).ok && !type.includes('/')) {
      const at = positionAt(root, [...path, i, 'type'])
      diagnostics.push({
        severity: 'error',
        code: 'type-unknown',
        message: `unmanaged: ${JSON.stringify(type)} is not a known record type`,
        at,
      })
    }
    return { ...selector, type: type.toUpperCase(), at: positionAt(root, [...path, i]) }
  })
}

/** Reads the suppressed findings of the config, or of a rule. */
export function ignoreOf(
  { ignore }: { readonly ignore?: unknown },
  path: readonly (string | number)[],
  { root, diagnostics }: Reading,
): Suppression[] {
  if (ignore === undefined) return []
  return readSuppressions(nodeAt(root, [...path.map(String), 'ignore']), new Set(), (code, at, message, hint) =>
    diagnostics.push({ severity: 'error', code, message, at, hint }),
  )
}

/** Reads the name servers of the config, or of a rule. */
export function nameserversOf(
  servers: readonly string[] | undefined,
  path: readonly (string | number)[],
  { root, diagnostics }: Reading,
): readonly string[] | null {
  servers?.forEach((server, i) => {
    if (isServerAddress(server)) return
    diagnostics.push({
      severity: 'error',
      code: 'schema-value',
      message: `nameservers: ${JSON.stringify(server)} is not the address of a name server`,
      at: positionAt(root, [...path, i]),
      hint: 'write an address or a name, such as 192.0.2.53, [2001:db8::53]:5353 or ns1.example.com',
    })
  })
  return servers ?? null
}

function allowancesOf(texts: readonly string[], path: readonly (string | number)[], { root, diagnostics }: Reading): Allowance[] {
  return texts.flatMap((text, i) => {
    const allowance = parseAllowance(text)
    if (allowance.ok) return allowance.value
    diagnostics.push({
      severity: 'error',
      code: 'schema-value',
      message: `allow: ${allowance.message}`,
      at: positionAt(root, [...path, i]),
    })
    return []
  })
}

function ownerOf(owner: string | undefined, path: readonly (string | number)[], { root, diagnostics }: Reading): string | null {
  if (owner === undefined) return null
  const parsed = parseOwner(owner)
  if (parsed.ok) return parsed.value
  diagnostics.push({ severity: 'error', code: 'schema-value', message: `owner: ${parsed.message}`, at: positionAt(root, path) })
  return null
}

/** A zone name or glob in the form in which names are compared: canonical, without the final dot. */
export function zoneGlob(text: string, path: readonly (string | number)[], { root, diagnostics }: Reading): string {
  if (text.includes('*')) return text.toLowerCase().replace(/\.$/, '')
  const name = parseDomainName(absolute(text))
  if (name.ok) return name.value.slice(0, -1)
  diagnostics.push({ severity: 'error', code: 'zone-name', message: name.message, at: positionAt(root, [...path, 'zone']) })
  return text
}

/** The only zone that the rule is for; null if it may be for others. */
function onlyName(files: readonly string[], zones: readonly string[] | null): DomainName | null {
  const [file, ...moreFiles] = files
  const [zone, ...moreZones] = zones ?? []
  if (file === undefined || zone === undefined || moreFiles.length > 0 || moreZones.length > 0) return null
  // A program names its zones itself.
  if (hasGlob(file) || zone.includes('*') || /\.[cm]?[jt]s$/i.test(file)) return null
  const name = parseDomainName(absolute(zone))
  return name.ok ? name.value : null
}

const absolute = (name: string): string => (name.endsWith('.') ? name : `${name}.`)
