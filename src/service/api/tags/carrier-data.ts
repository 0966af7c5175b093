import type { Connection } from '../../store/database.ts'
import { findDomains } from '../../store/domain-store.ts'
import { findInstances } from '../../store/instance-store.ts'
import type { TaggedKind } from '../../store/tables/tagged-objects.ts'
import type { TaggedEntity } from '../../store/tag-store.ts'
import { findLoadBalancers, findVolumes } from '../../store/volume-store.ts'

/** What a list of tagged objects calls the kinds. */
export const TYPES: Readonly<Record<TaggedKind, string>> = {
  instance: 'linode',
  domain: 'domain',
  volume: 'volume',
  loadbalancer: 'nodebalancer',
}

/** An object as a list of tagged objects gives it. */
export interface TaggedObject {
  readonly type: string
  readonly data: object
}

type Load = (connection: Connection, ids: readonly number[]) => Promise<readonly { readonly id: number }[]>

/** Reads the objects of a kind as their own operations answer them. */
const LOADS: Readonly<Record<TaggedKind, Load>> = {
  instance: findInstances,
  domain: async (connection, ids) => (await findDomains(connection, ids)).map(({ recordCount: _, ...domain }) => domain),
  volume: findVolumes,
  loadbalancer: findLoadBalancers,
}

/** The objects with all their fields, in the order they are named. */
export async function dataOf(connection: Connection, carriers: readonly TaggedEntity[]): Promise<readonly TaggedObject[]> {
  const data = new Map<string, object>()
  for (const [kind, load] of Object.entries(LOADS)) {
    const ids = carriers.filter((carrier) => carrier.kind === kind).map(({ id }) => id)
    for (const object of await load(connection, ids)) data.set(`${kind} ${object.id}`, object)
  }
  return carriers.map(({ kind, id }) => ({ type: TYPES[kind], data: data.get(`${kind} ${id}`) as object }))
}
