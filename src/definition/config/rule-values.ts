/** Reads values of the rules of a config that have a form of their own: what is allowed, owners, and zones. */
import { parseAllowance } from '../../dns/allowance.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { parseOwner } from '../../dns/ownership.ts'
import type { Allowance } from '../../dns/zone.ts'
import { hasGlob } from '../files/file-glob.ts'
import { positionAt, type YamlNode } from '../yaml/yaml-node.ts'

interface Reading {
  readonly root: YamlNode
  readonly diagnostics: Diagnostic[]
}

export function allowancesOf(texts: readonly string[], path: readonly (string | number)[], { root, diagnostics }: Reading): Allowance[] {
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

export function ownerOf(owner: string | undefined, path: readonly (string | number)[], { root, diagnostics }: Reading): string | null {
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
export function onlyName(files: readonly string[], zones: readonly string[] | null): DomainName | null {
  const [file, ...moreFiles] = files
  const [zone, ...moreZones] = zones ?? []
  if (file === undefined || zone === undefined || moreFiles.length > 0 || moreZones.length > 0) return null
  if (hasGlob(file) || zone.includes('*')) return null
  const name = parseDomainName(absolute(zone))
  return name.ok ? name.value : null
}

const absolute = (name: string): string => (name.endsWith('.') ? name : `${name}.`)
