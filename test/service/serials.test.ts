import { expect, test } from 'vitest'
import { type Client, during, freshStore, MASTER, startForTest } from './harness.ts'

const { service, client } = await startForTest()

async function serialOf(id: number, from: Client = client, flush = service.flush): Promise<number> {
  await flush()
  return Number(/SOA\t\S+ \S+ (\d+)/.exec((await from.ok('GET', `/domains/${id}/zone-file`)).zone_file[2])?.[1])
}

const create = async (domain: string): Promise<number> => (await client.ok('POST', '/domains', { ...MASTER, domain })).id
const addRecord = (id: number) => client.ok('POST', `/domains/${id}/records`, { type: 'TXT', target: 'x' })

test('the serials of a domain continue if it is deleted and created again', async () => {
  const first = await create('again.example')
  for (let change = 0; change < 4; change += 1) {
    await addRecord(first)
    await service.flush()
  }
  const before = await serialOf(first)
  await client.ok('DELETE', `/domains/${first}`)
  const second = await create('again.example')
  expect(await serialOf(second)).toBe(before + 1)
})

test('the serials of a name continue if it moves between domains', async () => {
  const [first, second] = [await create('name-a.example'), await create('name-b.example')]
  await addRecord(second)
  const seen = new Map<string, number>()
  const note = async (domain: string, id: number): Promise<void> => {
    const serial = await serialOf(id)
    expect(serial).toBeGreaterThan(seen.get(domain) ?? 0)
    seen.set(domain, serial)
  }
  await note('name-a.example', first)
  await note('name-b.example', second)
  for (let round = 0; round < 3; round += 1) {
    const names = round % 2 === 0 ? ['name-b.example', 'name-a.example'] : ['name-a.example', 'name-b.example']
    await client.ok('PUT', `/domains/${first}`, { domain: 'name-c.example' })
    await client.ok('PUT', `/domains/${second}`, { domain: names[1] })
    await client.ok('PUT', `/domains/${first}`, { domain: names[0] })
    await note(names[0] as string, first)
    await note(names[1] as string, second)
  }
})

test('a disabled and enabled domain keeps its serial, or gets the next one if it has changed', async () => {
  const id = await create('status.example')
  const before = await serialOf(id)
  const setStatus = async (status: string): Promise<void> => {
    await client.ok('PUT', `/domains/${id}`, { status })
    await service.flush()
  }
  await setStatus('disabled')
  await setStatus('active')
  expect(await serialOf(id)).toBe(before)
  await setStatus('disabled')
  await addRecord(id)
  await setStatus('active')
  expect(await serialOf(id)).toBe(before + 1)
})

test('a start renders zones again only for other name servers', async () => {
  const store = await freshStore()
  const serials: number[] = []
  let id = 0
  for (const nsNames of [['ns.one.test'], ['ns.one.test'], ['ns.two.test'], ['ns.two.test']]) {
    await during({ ...store, nsNames }, async (other, { flush }) => {
      if (id === 0) id = (await other.ok('POST', '/domains', { ...MASTER, domain: 'start.example' })).id
      serials.push((await serialOf(id, other, flush)) % 1_000_000)
      expect((await other.ok('GET', `/domains/${id}/zone-file`)).zone_file).toContain(`@\t\tNS\t${nsNames[0]}.`)
    })
  }
  expect(serials).toEqual([1, 1, 2, 2])
})
