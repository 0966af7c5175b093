import { expect, test } from 'vitest'
import { freshDatabase, LOOPBACK, MASTER, startForTest } from '../../harness.ts'

test('all processes render with the name servers of the last started process', async () => {
  const database = await freshDatabase()
  const lines: string[] = []
  const start = (nsNames: string[]) =>
    startForTest({
      database,
      dns: LOOPBACK,
      bootstrapToken: 'bootstrap',
      nsNames,
      log: { level: 'warn', write: (line) => lines.push(line) },
    })
  const first = await start(['ns1.example.net', 'ns2.example.net'])
  const { id } = await first.client.ok('POST', '/domains', { ...MASTER, domain: 'alike.example' })
  await first.service.flush()
  const last = await start(['ns.example.org'])

  const zoneOf = async (): Promise<{ serial: number; servers: string[] }> => {
    const lines = (await first.client.ok('GET', `/domains/${id}/zone-file`)).zone_file as string[]
    return {
      serial: Number(lines.find((line) => /\sSOA\s/.test(line))?.match(/\s(\d{10})\s/)?.[1]),
      servers: lines.flatMap((line) => /\sNS\s+(\S+)/.exec(line)?.[1] ?? []),
    }
  }
  const { serial, servers } = await zoneOf()
  expect(servers).toEqual(['ns.example.org.'])
  // A change costs one serial, whichever process accepts or renders it.
  for (const [index, { client, service }] of [first, last, first, last].entries()) {
    await client.ok('POST', `/domains/${id}/records`, { type: 'A', name: `h${index}`, target: '192.0.2.1' })
    await service.flush()
    expect(await zoneOf()).toEqual({ serial: serial + 1 + index, servers: ['ns.example.org.'] })
  }
  // The process with the replaced names logs it once.
  await expect.poll(() => lines.length).toBe(1)
  expect(JSON.parse(lines[0] as string)).toMatchObject({ level: 'warn', nsNames: ['ns.example.org.'] })
})
