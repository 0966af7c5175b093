/** The objects that the paths of operations name: an object of the owner for each parameter. */
import type { Route } from '../../../src/service/api/route.ts'
import type { Client } from '../harness.ts'
import { SSH_KEYS } from '../profile/ssh-key-samples.ts'
import type { Belongings, Person } from './people.ts'

/** The variant of each object for operations that leave it unchanged, as far as possible. */
export const SHARED = 'shared.example'

/** The instance with a snapshot. */
const SAVED = 'saved.example'

/** The variant of the objects for operations that are refused. */
export const sharedName = ({ path }: Route): string => (path.includes('{backupId}') ? SAVED : SHARED)

/** The variant for allowed operations: those that delete need one object per person. */
export const nameFor = (route: Route, place: number, person: string): string =>
  route.method === 'DELETE' ? `${person}-${place}.example` : sharedName(route)

/** All objects that must exist. */
export function namesFor(routes: readonly Route[], people: readonly string[]): Required<Belongings> & { readonly domains: string[] } {
  const names = (parameters: readonly string[]): string[] => {
    const concerned = routes.flatMap((route, place) =>
      parameters.some((name) => route.path.includes(`{${name}}`)) ? [{ route, place }] : [],
    )
    return [...new Set([SHARED, ...people.flatMap((person) => concerned.map(({ route, place }) => nameFor(route, place, person)))])]
  }
  return {
    domains: names(['domainId', 'label']),
    instances: names(['instanceId']),
    images: names(['imageId']),
    scripts: names(['scriptId']),
  }
}

interface OwnedObject {
  /** The value for a variant. */
  readonly value: (name: string) => Promise<string | number>
  /** Who can see that the object exists. */
  readonly seenBy: (person: Person) => boolean
}

const ofAccount = ({ account }: Person): boolean => account === 'first'
const ofOwner = ({ user }: Person): boolean => user === 'owner'

/** By path parameter. */
export async function ownedObjects(owner: Client): Promise<Readonly<Record<string, OwnedObject>>> {
  const numbers = async (path: string, label: string, keep = (_: Item): boolean => true): Promise<Map<string, number | string>> =>
    new Map((await owner.ok('GET', `${path}?page_size=500`)).data.filter(keep).map((item: Item) => [item[label], item.id]))
  const [domains, instances, images, scripts] = await Promise.all([
    numbers('/domains', 'domain'),
    numbers('/compute/instances', 'label'),
    numbers('/images', 'label', ({ is_public }) => is_public === false),
    numbers('/compute/scripts', 'label'),
  ])
  const own = async (kind: string): Promise<(number | string)[]> => [...(await numbers(`/profile/${kind}`, 'id')).values()]
  const [apps, devices, logins] = await Promise.all([own('apps'), own('devices'), own('logins')])
  const backup = await owner.ok('POST', `/compute/instances/${instances.get(SAVED)}/backups`, { label: 'snapshot' })
  const of = (all: ReadonlyMap<string, number | string>) => async (name: string) => all.get(name) as number
  return {
    domainId: { value: of(domains), seenBy: ofAccount },
    recordId: {
      value: async (name) => (await owner.ok('POST', `/domains/${domains.get(name)}/records`, { type: 'TXT', target: 'x' })).id,
      seenBy: ofAccount,
    },
    instanceId: { value: of(instances), seenBy: ofAccount },
    backupId: { value: async () => backup.id, seenBy: ofAccount },
    imageId: { value: of(images), seenBy: ofAccount },
    scriptId: { value: of(scripts), seenBy: ofAccount },
    label: {
      value: async (name) => encodeURIComponent(`tag of ${name}`),
      seenBy: (person) => ofAccount(person) && (person.granted === null || person.granted.objects !== null),
    },
    tokenId: { value: async () => (await owner.ok('POST', '/profile/tokens', { label: 'target' })).id, seenBy: ofOwner },
    appId: { value: async (name) => apps[name === SHARED ? 0 : 1] as number, seenBy: ofOwner },
    deviceId: { value: async (name) => devices[name === SHARED ? 0 : 1] as number, seenBy: ofOwner },
    loginId: { value: async () => logins[0] as number, seenBy: ofOwner },
    sshKeyId: {
      value: async () => (await owner.ok('POST', '/profile/sshkeys', { label: 'target', ssh_key: SSH_KEYS['ssh-ed25519'] })).id,
      seenBy: ofOwner,
    },
    regionId: { value: async () => 'us-east', seenBy: () => true },
    typeId: { value: async () => 'g6-nanode-1', seenBy: () => true },
    kernelId: { value: async () => 'linode/latest-64bit', seenBy: () => true },
  }
}

type Item = { readonly [field: string]: string | number | boolean; readonly id: number }

/** The parameters of a path, in order. */
export const parametersOf = ({ path }: Route): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string)

/** The path of an operation on a variant of the objects. */
export async function pathFor(route: Route, name: string, objects: Readonly<Record<string, OwnedObject>>): Promise<string> {
  let path = route.path
  for (const parameter of parametersOf(route)) {
    const object = objects[parameter]
    if (object === undefined) throw new Error(`no object for the parameter ${parameter}`)
    path = path.replace(`{${parameter}}`, String(await object.value(name)))
  }
  return path
}
