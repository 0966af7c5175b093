/**
 * Scopes: what a token may be used for. A token carries them as one text, separated by single spaces; `*` stands for all. A
 * `read_write` scope includes `read_only` of its family.
 */

/** The families of this interface. */
const OWN = ['instances', 'scripts', 'domains', 'images', 'account'] as const

/** What an operation needs of a token. */
export type Scope = `${(typeof OWN)[number]}:${'read_only' | 'read_write'}`

/** What clients written for the hosting service that this interface comes from call two of them. */
const ALIASES = { linodes: 'instances', stackscripts: 'scripts' } as const

/** Families of theirs that no operation here needs: tokens may carry them. */
const FOREIGN = [
  ...['child_account', 'databases', 'events', 'firewall', 'ips', 'lke', 'longview', 'monitor', 'nodebalancers', 'object_storage'],
  ...['tickets', 'users', 'volumes', 'vpc'],
] as const

/** Every name of a family, with the family it means. */
const FAMILIES: ReadonlyMap<string, string> = new Map([
  ...[...OWN, ...FOREIGN].map((family): [string, string] => [family, family]),
  ...Object.entries(ALIASES),
])

/** Characters of the longest text of scopes that is read. */
const MAX_SCOPES = 1000

/** Scopes taken apart: what may be done in each family; null for everything. */
type Reach = ReadonlyMap<string, 'read_only' | 'read_write'> | null

/** Whether scopes as a token carries them allow what needs all of these. */
export function allowsScopes(granted: string, needed: readonly Scope[]): boolean {
  const reach = reachOf(granted)
  return needed.every((scope) => {
    const [family, access] = scope.split(':') as [string, string]
    return includes(reach, family, access)
  })
}

/**
 * The scopes of a token that is made by use of another: those that are asked for, each once, or all of the acting token's for `*`
 * or nothing. Null where what is asked for is no scopes; `'exceeded'` where it is more than the acting token has.
 */
export function scopesOfNewToken(asked: string | undefined, acting: string): string | 'exceeded' | null {
  if (asked === undefined || asked === '*') return acting
  if (asked.length > MAX_SCOPES) return null
  const scopes = new Set(asked.split(' '))
  const known = [...scopes].every((scope) => scope === '*' || isScope(scope))
  if (!known) return null
  if (scopes.has('*')) return acting
  const reach = reachOf(acting)
  const exceeded = [...(reachOf(asked) ?? [])].some(([family, access]) => !includes(reach, family, access))
  return exceeded ? 'exceeded' : [...scopes].join(' ')
}

/** Whether a text is scopes that a token can carry. */
export const isScopeList = (text: string): boolean => text.length <= MAX_SCOPES && (text === '*' || text.split(' ').every(isScope))

function isScope(text: string): boolean {
  const [family = '', access, ...more] = text.split(':')
  return FAMILIES.has(family) && (access === 'read_only' || access === 'read_write') && more.length === 0
}

function reachOf(scopes: string): Reach {
  if (scopes === '*') return null
  const reach = new Map<string, 'read_only' | 'read_write'>()
  for (const scope of scopes.split(' ')) {
    if (!isScope(scope)) continue
    const [name, access] = scope.split(':') as [string, 'read_only' | 'read_write']
    const family = FAMILIES.get(name) as string
    if (reach.get(family) !== 'read_write') reach.set(family, access)
  }
  return reach
}

const includes = (reach: Reach, family: string, access: string): boolean => {
  if (reach === null) return true
  const given = reach.get(family)
  return given === access || given === 'read_write'
}
