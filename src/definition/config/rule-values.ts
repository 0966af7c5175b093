/** Reads values of the rules of a config that have a form of their own: what is allowed, and owners. */
import { parseAllowance } from '../../dns/allowance.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { parseOwner } from '../../dns/ownership.ts'
import type { Allowance } from '../../dns/zone.ts'
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
