import { expect } from 'vitest'
import type { Client } from './harness.ts'

/** What a service has acknowledged to writers that create records, and delete every fourth of them again. */
export interface Acknowledged {
  readonly created: Map<number, string>
  readonly askedToDelete: Set<number>
  readonly deleted: Set<number>
}

export const nothingAcknowledged = (): Acknowledged => ({ created: new Map(), askedToDelete: new Set(), deleted: new Set() })

export interface Writers {
  /** From now on a write may fail: the service or its database is killed. */
  expectFailures(): void
  /** Resolves when the writes under way have come to an end. Throws where one failed before it was expected. */
  stop(): Promise<void>
}

/** Sixteen writers; names begin with the label. Those whose writes fail go on. */
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

/** Every acknowledged write stands, the count is that of the records, and the rendered zone has them all. */
export async function expectKept(client: Client, domainId: number, { created, askedToDelete, deleted }: Acknowledged): Promise<void> {
  const path = `/domains/${domainId}/records?page_size=500`
  const first = await client.ok('GET', path)
  const kept = new Map<number, string>()
  for (let page = 1; page <= first.pages; page += 1) {
    for (const { id, name } of (await client.ok('GET', `${path}&page=${page}`)).data) kept.set(id, name)
  }
  expect(first.results).toBe(kept.size)
  // A delete that was under way when all was killed may or may not have been done.
  expect([...created].filter(([id, name]) => !askedToDelete.has(id) && kept.get(id) !== name)).toEqual([])
  expect([...deleted].filter((id) => kept.has(id))).toEqual([])
  const zone = (await client.ok('GET', `/domains/${domainId}/zone-file`)).zone_file.join('\n')
  for (const name of kept.values()) expect(zone).toContain(`\n${name}\t`)
}
