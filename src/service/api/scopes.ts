/** What an operation needs of a token; null where any valid token will do. */
export type Scope = `${'instances' | 'scripts' | 'domains' | 'images' | 'account'}:${'read_only' | 'read_write'}`

/** Whether scopes as a token carries them (separated by one space, `*` for all) allow what needs this one; writing includes reading. */
export function allowsScope(granted: string, needed: Scope | null): boolean {
  if (needed === null) return true
  const family = needed.slice(0, needed.indexOf(':'))
  return granted.split(' ').some((scope) => scope === '*' || scope === needed || scope === `${family}:read_write`)
}
