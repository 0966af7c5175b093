import { seedFrom } from '../harness.ts'

/** A test person with tokens. */
export interface Person {
  readonly account: 'first' | 'second'
  readonly user: string
  /** Null for an unrestricted user. */
  readonly granted: null | { readonly objects: null | 'read_only' | 'read_write'; readonly global: boolean }
}

/** `owner` creates the objects of the first account. */
export const PEOPLE: Readonly<Record<string, Person>> = {
  owner: { account: 'first', user: 'owner', granted: null },
  colleague: { account: 'first', user: 'colleague', granted: null },
  guest: { account: 'first', user: 'guest', granted: { objects: null, global: false } },
  founder: { account: 'first', user: 'founder', granted: { objects: null, global: true } },
  reader: { account: 'first', user: 'reader', granted: { objects: 'read_only', global: false } },
  writer: { account: 'first', user: 'writer', granted: { objects: 'read_write', global: false } },
  keeper: { account: 'first', user: 'keeper', granted: { objects: 'read_write', global: true } },
  stranger: { account: 'second', user: 'stranger', granted: null },
}

/** The global grants of a restricted user. */
const ADDING = ['add_domains', 'add_images', 'add_instances', 'add_scripts']
const FAMILIES = ['instances', 'scripts', 'domains', 'images', 'account']

/** The scopes of everyone's tokens, by the suffix of the token. */
export const SCOPES: Readonly<Record<string, string>> = {
  all: '*',
  ...Object.fromEntries(FAMILIES.flatMap((family) => ['read_only', 'read_write'].map((may) => [`${family}-${may}`, `${family}:${may}`]))),
}

export const tokenOf = (user: string, which = 'all'): string => `${user}-${which}`

/** A token of the owner that has been revoked. */
export const EXPIRED = tokenOf('owner', 'expired')

/** Labels of the first account's other objects. */
export type Belongings = { instances?: readonly string[]; images?: readonly string[]; scripts?: readonly string[] }

/** The people as a seed, with grants for all named objects. */
export function seedOfPeople(domains: readonly string[], { instances = [], images = [], scripts = [] }: Belongings = {}) {
  const labelled = (labels: readonly string[], permissions: string | null) =>
    permissions === null ? [] : labels.map((label) => ({ label, permissions }))
  const userEntry = ({ user, granted }: Person) => ({
    username: user,
    email: `${user}@example.com`,
    restricted: granted !== null,
    tokens: [
      ...Object.entries(SCOPES).map(([which, scopes]) => ({ token: tokenOf(user, which), label: which, scopes })),
      ...(user === 'owner' ? [{ token: EXPIRED, label: 'expired', expiry: '2020-01-01T00:00:00' }] : []),
    ],
    // One to read, and one to delete.
    ...(user === 'owner'
      ? { apps: [{ label: 'kept' }, { label: 'deleted' }], devices: [{ user_agent: 'kept' }, { user_agent: 'deleted' }] }
      : {}),
    ...(granted === null
      ? {}
      : {
          grants: {
            global: granted.global ? { ...Object.fromEntries(ADDING.map((name) => [name, true])), account_access: 'read_only' } : {},
            domain: granted.objects === null ? [] : domains.map((domain) => ({ domain, permissions: granted.objects })),
            instance: labelled(instances, granted.objects),
            image: labelled(images, granted.objects),
            script: labelled(scripts, granted.objects),
          },
        }),
  })
  const ofAccount = (account: string) => Object.values(PEOPLE).filter((person) => person.account === account)
  const document = {
    accounts: [
      {
        users: ofAccount('first').map(userEntry),
        domains: domains.map((domain) => ({ domain, type: 'master', soa_email: 'hostmaster@example.com', tags: [`tag of ${domain}`] })),
        instances: instances.map((label) => ({ label, region: 'us-east', image: 'public/debian11', backups_enabled: true })),
        images: images.map((label) => ({ label })),
        scripts: scripts.map((label) => ({ label, script: '#!/bin/sh' })),
      },
      { users: ofAccount('second').map(userEntry) },
    ],
  }
  return seedFrom(document)
}
