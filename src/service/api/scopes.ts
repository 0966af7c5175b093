/**
 * Scopes limit the operations that a token may call. A token stores them as one text, separated by single spaces; `*` means all. A
 * `read_write` scope includes `read_only` of its family.
 */
import { ALIAS_SCOPES } from './alias-names.ts'

/** The families that operations of this API require. */
const OWN_FAMILIES = ['instances', 'scripts', 'domains', 'images', 'account'] as const

export type Family = (typeof OWN_FAMILIES)[number]

/** A scope that an operation requires. */
export type Scope = `${Family}:${'read_only' | 'read_write'}`

/** Families of the hosting service that no operation here requires; tokens may carry them. */
const OTHER_FAMILIES = [
  ...['child_account', 'databases', 'events', 'firewall', 'ips', 'lke', 'longview', 'monitor', 'nodebalancers', 'object_storage'],
  ...['tickets', 'users', 'volumes', 'vpc'],
] as const

/** The family of each family name. */
const FAMILIES: ReadonlyMap<string, string> = new Map([
  ...[...OWN_FAMILIES, ...OTHER_FAMILIES].map((family): [string, string] => [family, family]),
  ...Object.entries(ALIAS_SCOPES),
])

/** Maximum length of a list of scopes in characters. */
const MAX_SCOPES = 1000

/** The access to each family; null for full access. */
type Access = ReadonlyMap<string, 'read_only' | 'read_write'> | null

/** Whether the scopes of a token include all the required ones. */
export function allowsScopes(granted: string, required: readonly Scope[]): boolean {
  const access = accessOf(granted)
  return required.every((scope) => {
    const [family, level] = scope.split(':') as [string, string]
    return includes(access, family, level)
  })
}

/**
 * Returns the scopes of a new token: the requested ones, each once, or those of the acting token if `*` or nothing is requested. Null if the
 * request is not a list of scopes; `'exceeded'` if it has more than the acting token.
 */
export function scopesOfNewToken(requested: string | undefined, acting: string): string | 'exceeded' | null {
  if (requested === undefined || requested === '*') return acting
  if (requested.length > MAX_SCOPES) return null
  const scopes = new Set(requested.split(' '))
  const known = [...scopes].every((scope) => scope === '*' || isScope(scope))
  if (!known) return null
  if (scopes.has('*')) return acting
  const actingAccess = accessOf(acting)
  const exceeded = [...(accessOf(requested) ?? [])].some(([family, level]) => !includes(actingAccess, family, level))
  return exceeded ? 'exceeded' : [...scopes].join(' ')
}

/** Whether a text is a list of scopes that a token can carry. */
export const isScopeList = (text: string): boolean => text.length <= MAX_SCOPES && (text === '*' || text.split(' ').every(isScope))

function isScope(text: string): boolean {
  const [family = '', level, ...more] = text.split(':')
  return FAMILIES.has(family) && (level === 'read_only' || level === 'read_write') && more.length === 0
}

function accessOf(scopes: string): Access {
  if (scopes === '*') return null
  const access = new Map<string, 'read_only' | 'read_write'>()
  for (const scope of scopes.split(' ')) {
    if (!isScope(scope)) continue
    const [name, level] = scope.split(':') as [string, 'read_only' | 'read_write']
    const family = FAMILIES.get(name) as string
    if (access.get(family) !== 'read_write') access.set(family, level)
  }
  return access
}

const includes = (access: Access, family: string, level: string): boolean => {
  if (access === null) return true
  const granted = access.get(family)
  return granted === level || granted === 'read_write'
}
