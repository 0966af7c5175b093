/** Reads the key `approvals` of the config: how many people must approve a plan, and their keys. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { type PathStep, positionAt } from '../definition/yaml/yaml-node.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { globTest } from '../dns/glob.ts'
import type { ApprovalsDocument, Reading } from './config-document.ts'
import { parseSshPublicKey, type SshPublicKey } from './ssh-public-key.ts'

/** Who must approve plans. */
export interface Approvals {
  /** The approvals that a plan needs. */
  readonly needed: number
  /** Zones that need another number. The first entry that matches applies. */
  readonly zones: readonly { readonly globs: readonly string[]; readonly needed: number }[]
  readonly keys: readonly ApprovalKey[]
}

export interface ApprovalKey extends SshPublicKey {
  /** The person, as the config names them. */
  readonly name: string
}

/** How many approvals a plan needs that changes these zones: as many as the zone that needs most. */
export function neededApprovals({ needed, zones }: Approvals, names: readonly DomainName[]): number {
  const ofZone = (name: string): number => zones.find(({ globs }) => globs.some((glob) => globTest(glob)(name)))?.needed ?? needed
  return Math.max(0, ...names.map((name) => ofZone(name.slice(0, -1))))
}

/** `zoneGlob` parses a zone name or glob, and reports what is wrong with it at a path. */
export function approvalsOf(
  document: ApprovalsDocument | undefined,
  { root, diagnostics }: Reading,
  zoneGlob: (text: string, path: readonly PathStep[]) => string,
): Approvals | null {
  if (document === undefined) return null
  const refuse = (path: readonly PathStep[], message: string, related?: Diagnostic['related']): void => {
    const at = positionAt(root, ['approvals', ...path])
    diagnostics.push({ severity: 'error', code: 'schema-value', message: `approvals.${path.join('.')}: ${message}`, at, related })
  }
  const keys: ApprovalKey[] = []
  for (const [name, line] of Object.entries(document.keys ?? {})) {
    const key = parseSshPublicKey(line)
    if (!key.ok) {
      refuse(['keys', name], `${name} ${key.message}`)
      continue
    }
    const same = keys.find(({ fingerprint }) => fingerprint === key.value.fingerprint)
    if (same === undefined) keys.push({ name, ...key.value })
    else
      refuse(['keys', name], `${name} has the key of ${same.name}: one person cannot approve twice`, [
        { message: 'the same key', at: positionAt(root, ['approvals', 'keys', same.name]) },
      ])
  }
  const listed = Object.keys(document.keys ?? {}).length
  const check = (needed: number, path: readonly PathStep[]): void => {
    if (needed > listed) refuse(path, `${needed} approvals are needed, and ${listed === 1 ? 'one key is' : `${listed} keys are`} listed`)
  }
  check(document.needed, ['needed'])
  const zones = (document.zones ?? []).map(({ zone, needed }, index) => {
    check(needed, ['zones', index, 'needed'])
    return { globs: [zone].flat().map((glob) => zoneGlob(glob, ['approvals', 'zones', index])), needed }
  })
  return { needed: document.needed, zones, keys }
}
