import { expect } from 'vitest'
import type { Client, Store } from './harness.ts'
import { numberOf } from './raw-files.ts'

/** The acknowledged writes of writers that create records and delete every fourth one. */
export type Acknowledged = { readonly created: Map<number, string>; readonly askedToDelete: Set<number>; readonly deleted: Set<number> }
export const nothingAcknowledged = (): Acknowledged => ({ created: new Map(), askedToDelete: new Set(), deleted: new Set() })

export interface Writers {
  /** Allows writes to fail from now on: the service or its database is killed. */
  expectFailures(): void
  /** Resolves after the last writes. Throws if one failed unexpectedly. */
  stop(): Promise<void>
}

/** Sixteen writers; names start with the label. A writer continues after a failure. */
export function startWriters(client: Client, domainId: number, label: string, acknowledged: Acknowledged): Writers {
  const path = `/domains/${domainId}/records`
  let mayFail = false
  let stopped = false
  const writers = Array.from({ length: 16 }, async (_, writer) => {
    for (let index = 0; !stopped; index += 1) {
      try {
        const name = `${label}-${writer}-${index}`
        const { id } = await client.ok('POST', path, { type: 'A', name, target: '192.0.2.1' })
        acknowledged.created.set(id, name)
        if (index % 4 !== 3) continue
        acknowledged.askedToDelete.add(id)
        await client.ok('DELETE', `${path}/${id}`)
        acknowledged.deleted.add(id)
      } catch (error) {
        if (!mayFail) throw error
        await new Promise((done) => setTimeout(done, 10))
      }
    }
  })
  return {
    expectFailures: () => {
      mayFail = true
    },
    stop: async () => {
      stopped = true
      await Promise.all(writers)
    },
  }
}

/** Expects every acknowledged write, a correct number of records, and a rendered zone with all of them. */
export async function expectKept(client: Client, domainId: number, { created, askedToDelete, deleted }: Acknowledged): Promise<void> {
  const path = `/domains/${domainId}/records?page_size=500`
  const first = await client.ok('GET', path)
  const kept = new Map<number, string>()
  for (let page = 1; page <= first.pages; page += 1) {
    for (const { id, name } of (await client.ok('GET', `${path}&page=${page}`)).data) kept.set(id, name)
  }
  expect(first.results).toBe(kept.size)
  // A delete in progress at the kill may or may not be done.
  expect([...created].filter(([id, name]) => !askedToDelete.has(id) && kept.get(id) !== name)).toEqual([])
  expect([...deleted].filter((id) => kept.has(id))).toEqual([])
  const zone = (await client.ok('GET', `/domains/${domainId}/zone-file`)).zone_file.join('\n')
  for (const name of kept.values()) expect(zone).toContain(`\n${name}\t`)
}

/** Expects an audit log that has each acknowledged write once, and from which the present records follow. */
export async function expectAudited(store: Store, { created, deleted }: Acknowledged): Promise<void> {
  const entries = (action: string, more = '') => `from audit where object = 'record' and action = '${action}' ${more}`
  const count = (action: string, ids: Iterable<number>) =>
    numberOf(store, `select count(*) as number ${entries(action, `and object_id in (0${[...ids].map((id) => `,${id}`).join('')})`)}`)
  expect([await count('create', created.keys()), await count('delete', deleted)]).toEqual([created.size, deleted.size])
  const standing = `select object_id ${entries('create')} except select object_id ${entries('delete')}`
  for (const [one, other] of [
    ['select id from records', standing],
    [standing, 'select id from records'],
  ])
    expect(await numberOf(store, `select count(*) as number from (select * from (${one}) a except select * from (${other}) b) c`)).toBe(0)
}
