import { describe, expect, test } from 'vitest'
import { allowsScopes, isScopeList, type Scope, scopesOfNewToken } from '../../../src/service/api/scopes.ts'
import { fc } from '../../support/fast-check.ts'

const FAMILIES = ['instances', 'scripts', 'domains', 'images', 'account'] as const
const ALL: readonly Scope[] = FAMILIES.flatMap((family): Scope[] => [`${family}:read_only`, `${family}:read_write`])

const OTHERS = ['linodes:read_only', 'linodes:read_write', 'stackscripts:read_write', 'events:read_only', 'volumes:read_write']
const oneScope = fc.constantFrom(...ALL, ...OTHERS)
const someScopes = fc.oneof(
  fc.constant('*'),
  fc.array(oneScope, { minLength: 1, maxLength: 6 }).map((scopes) => scopes.join(' ')),
)
const allowed = (scopes: string): readonly Scope[] => ALL.filter((scope) => allowsScopes(scopes, [scope]))

describe('scopes allow', () => {
  test.each<[string, Scope[]]>([
    ['*', [...ALL]],
    ['domains:read_only', ['domains:read_only']],
    ['domains:read_write', ['domains:read_only', 'domains:read_write']],
    ['domains:read_write domains:read_only', ['domains:read_only', 'domains:read_write']],
    ['linodes:read_only', ['instances:read_only']],
    ['stackscripts:read_write images:read_only', ['scripts:read_only', 'scripts:read_write', 'images:read_only']],
    ['events:read_write', []],
    ['', []],
    ['domains', []],
    ['domain:read_write domains_x:read_write', []],
    ['domains:*', []],
    ['domains:read_write:x', []],
    ['* ', []],
  ])('%j', (scopes, expected) => expect(allowed(scopes)).toEqual(expected))

  test('several scopes are all required', () => {
    const needed: Scope[] = ['images:read_write', 'instances:read_only']
    expect(allowsScopes('images:read_write', needed)).toBe(false)
    expect(allowsScopes('images:read_write linodes:read_write', needed)).toBe(true)
    expect(allowsScopes('', [])).toBe(true)
  })
})

test('new scopes never exceed the acting ones, and are the requested ones', () => {
  fc.assert(
    fc.property(someScopes, someScopes, (acting, asked) => {
      const given = scopesOfNewToken(asked, acting)
      if (given === null) throw new Error('these are scopes')
      const within = allowed(asked).every((scope) => allowsScopes(acting, [scope]))
      if (given === 'exceeded') {
        // Families of other services, besides those that operations here require.
        expect(within && !/events|volumes/.test(asked)).toBe(false)
        return
      }
      expect(isScopeList(given)).toBe(true)
      expect(allowed(given)).toEqual(asked === '*' ? allowed(acting) : allowed(asked))
      expect(allowed(given).every((scope) => allowsScopes(acting, [scope]))).toBe(true)
    }),
  )
})
