/** The examples of the library, as a user runs them. `examples/zones.test.ts` is a suite itself. */
import { mkdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { apply, plan } from 'zonewright'
import type { PackageOptions } from 'zonewright/provider'
import { conformance, conformanceGroups, inMemoryProvider } from 'zonewright/testing'
import { applyInventory } from '../../examples/inventory.ts'
import { mapProvider, type Store } from '../../examples/provider.ts'
import { planServer } from '../../examples/web-service.ts'
import { afterThisFile } from '../support/after-file.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

/** A folder with a config whose provider `cloud` every example replaces, and a zone. */
function folderOf(type = 'cloud'): string {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  const settings = type === 'cloud' ? ", preset: linode, token: 'env:LINODE_TOKEN'" : ''
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  cloud: {type: '${type}'${settings}}\n`)
  writeFileSync(join(folder, 'zones/example.com.yaml'), 'domain: example.com\nrecords:\n  www: {type: A, value: 192.0.2.1}\n')
  return folder
}

test('3,000 records of an inventory are planned and applied, and a shrunken inventory is not', async () => {
  const folder = folderOf()
  const cloud = inMemoryProvider({ type: 'cloud', capabilities: { maxRecords: null } })
  const hosts = Array.from({ length: 3000 }, (_, i) => ({ name: `host${i}`, address: `10.0.${Math.floor(i / 250)}.${(i % 250) + 1}` }))
  const said = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  try {
    const applied = await applyInventory(folder, 'hosts.example', hosts, { env: {}, journal: 'journal', providers: { cloud } })
    expect([applied.result, applied.plan.summary.applied]).toEqual(['done', 3001])
    expect(said).toHaveBeenCalledWith('applying 3001 of 3001')
    expect(cloud.zone('hosts.example.')).toHaveLength(3000)
    const shrunken = await applyInventory(folder, 'hosts.example', hosts.slice(0, 100), {
      env: {},
      journal: 'journal',
      providers: { cloud },
    })
    expect([shrunken.result, cloud.zone('hosts.example.')?.length]).toEqual(['refused', 3000])
  } finally {
    said.mockRestore()
  }
})

test('a provider as a value replaces that of the config, and passes the suite', async () => {
  const store: Store = new Map()
  const run = { cwd: folderOf('npm:map'), env: {}, providers: { cloud: mapProvider(store) } }
  expect((await apply(run)).result).toBe('done')
  expect(store.get('example.com.')).toEqual([{ name: 'www.example.com.', type: 'A', ttl: 3600, data: '192.0.2.1' }])
  expect((await plan(run)).result).toBe('done')
  const states: Record<string, number> = {}
  const failures: string[] = []
  for await (const { group, step, state, reason } of conformance({
    provider: mapProvider(new Map()),
    zone: 'test.example',
    maxSize: 100,
  })) {
    states[state] = (states[state] ?? 0) + 1
    if (state === 'failed') failures.push(`${group}: ${step}: ${reason}`)
  }
  expect(failures).toEqual([])
  expect(states['passed']).toBeGreaterThan(conformanceGroups.length)
})

test('the suite finds the fault of a provider', async () => {
  const broken = mapProvider(new Map())
  const provider = {
    ...broken,
    create: async (options: PackageOptions) => ({ ...(await broken.create(options)), apply: async () => undefined }),
  }
  const states: string[] = []
  for await (const { state } of conformance({ provider, zone: 'test.example', groups: conformanceGroups.slice(0, 1) })) states.push(state)
  expect(states).toContain('failed')
})

test('the web service shows a plan as a page and as a document', async () => {
  const server = planServer({ cwd: folderOf(), journal: 'journal', env: {}, providers: { cloud: inMemoryProvider({ type: 'cloud' }) } })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterThisFile(() => server.close())
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect(await (await fetch(address)).text()).toContain('<li>cloud: create www.example.com. A</li>')
  expect(await (await fetch(`${address}/plan.json`)).json()).toMatchObject({ format: 'zonewright-plan' })
})
