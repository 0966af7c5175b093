import { readSeed } from '../../../src/service/index.ts'

/** Somebody with tokens, as a test names them. */
export interface Person {
  readonly account: 'first' | 'second'
  readonly user: string
  /** Null for an unrestricted user. */
  readonly granted: null | { readonly domain: null | 'read_only' | 'read_write'; readonly global: boolean }
}

/** The user that the objects of the first account are made by is `owner`. */
export const PEOPLE: Readonly<Record<string, Person>> = {
  owner: { account: 'first', user: 'owner', granted: null },
  colleague: { account: 'first', user: 'colleague', granted: null },
  guest: { account: 'first', user: 'guest', granted: { domain: null, global: false } },
  founder: { account: 'first', user: 'founder', granted: { domain: null, global: true } },
  reader: { account: 'first', user: 'reader', granted: { domain: 'read_only', global: false } },
  writer: { account: 'first', user: 'writer', granted: { domain: 'read_write', global: false } },
  keeper: { account: 'first', user: 'keeper', granted: { domain: 'read_write', global: true } },
  stranger: { account: 'second', user: 'stranger', granted: null },
}

const FAMILIES = ['instances', 'scripts', 'domains', 'images', 'account']

/** The scopes of the tokens that everybody has, by what the tokens end in. */
export const SCOPES: Readonly<Record<string, string>> = {
  all: '*',
  ...Object.fromEntries(
    FAMILIES.flatMap((family) => ['read_only', 'read_write'].map((access) => [`${family}-${access}`, `${family}:${access}`])),
  ),
}

export const tokenOf = (user: string, which = 'all'): string => `${user}-${which}`

/** The people as a seed, with grants for the domains named. */
export function seedOfPeople(domains: readonly string[]) {
  const userEntry = ({ user, granted }: Person) => ({
    username: user,
    email: `${user}@example.com`,
    restricted: granted !== null,
    tokens: Object.entries(SCOPES).map(([which, scopes]) => ({ token: tokenOf(user, which), label: which, scopes })),
    ...(granted === null
      ? {}
      : {
          grants: {
            global: granted.global ? { add_domains: true, account_access: 'read_only' } : {},
            domain: granted.domain === null ? [] : domains.map((domain) => ({ domain, permissions: granted.domain })),
          },
        }),
  })
  const ofAccount = (account: string) => Object.values(PEOPLE).filter((person) => person.account === account)
  const document = {
    accounts: [
      {
        users: ofAccount('first').map(userEntry),
        domains: domains.map((domain) => ({ domain, type: 'master', soa_email: 'hostmaster@example.com', tags: [`tag of ${domain}`] })),
      },
      { users: ofAccount('second').map(userEntry) },
    ],
  }
  const { seed, diagnostics } = readSeed(JSON.stringify(document), 'people.yaml')
  if (seed === null) throw new Error(JSON.stringify(diagnostics))
  return seed
}
