import { describe, expect, test } from 'vitest'
import { EMPTY, IMAGE, startClocked, WITH_VLANS } from './fixture.ts'

const { client, made } = await startClocked()
const instance = await made(IMAGE)
const path = `${instance.path}/configs`
const { sda, sdb } = (await client.ok('GET', path)).data[0].devices
const none = { sda: null, sdb: null, sdc: null, sdd: null, sde: null, sdf: null, sdg: null, sdh: null }
const helpers = { updatedb_disabled: true, distro: true, modules_dep: true, network: true, devtmpfs_automount: true }

describe('a configuration profile', () => {
  test('has the defaults of the API', async () => {
    const config = await client.ok('POST', path, { label: 'defaults', devices: {} })
    expect(config).toEqual({
      ...{ id: config.id, label: 'defaults', comments: '', devices: none, helpers, interfaces: [], kernel: 'linode/latest-64bit' },
      ...{ memory_limit: 0, root_device: '/dev/sda', run_level: 'default', virt_mode: 'paravirt', initrd: null },
      ...{ created: '2026-01-31T09:00:20', updated: '2026-01-31T09:00:20' },
    })
    expect((await client.ok('GET', path)).data).toContainEqual(config)
  })

  test('stores all given fields', async () => {
    const body = {
      ...{ label: 'x'.repeat(48), comments: null, kernel: 'linode/grub2', memory_limit: 2048, root_device: '/dev/root' },
      ...{ run_level: 'single', virt_mode: 'fullvirt' },
    }
    const devices = { sda: { disk_id: sdb.disk_id }, sdh: { disk_id: sda.disk_id, volume_id: null }, sdc: null, sdd: {} }
    const interfaces = [{ purpose: 'public', label: '' }]
    const config = await client.ok('POST', path, { ...body, devices, helpers: { distro: false }, interfaces })
    expect(config).toMatchObject({ ...body, helpers: { ...helpers, distro: false } })
    expect(config.devices).toEqual({ ...none, sda: sdb, sdh: sda })
    expect(config.interfaces).toEqual([{ purpose: 'public', label: null, ipam_address: null }])
    // A returned profile can be sent to create another.
    expect(await client.ok('POST', path, config)).toMatchObject(body)
  })

  test.each(['sda', 'nothing', '/dev/../x', ''])('with the root device %j boots from /dev/sda', async (root_device) => {
    expect((await client.ok('POST', path, { label: 'root', devices: {}, root_device })).root_device).toBe('/dev/sda')
  })

  test('has at most three interfaces, in order', async () => {
    const { path } = await made({ ...EMPTY, region: WITH_VLANS })
    const vlan = (label: string) => ({ purpose: 'vlan', label, ipam_address: null })
    const interfaces = [vlan('a'), { purpose: 'public', label: null, ipam_address: null }, vlan('b')]
    expect((await client.ok('POST', `${path}/configs`, { label: 'three', devices: {}, interfaces })).interfaces).toEqual(interfaces)
    expect(
      await client.problems('POST', `${path}/configs`, { label: 'four', devices: {}, interfaces: [...interfaces, vlan('c')] }),
    ).toEqual(['interfaces: At most 3 interfaces can be given.'])
  })
})

test.each<[string, object, string[]]>([
  ['a disk of another', { label: 'x', devices: { sda: { disk_id: 9999 } } }, ['devices.sda.disk_id: devices.sda.disk_id is not valid']],
  ['invalid volume', { label: 'x', devices: { sda: { volume_id: 9999 } } }, ['devices.sda.volume_id: devices.sda.volume_id is not valid']],
  ['a disk twice', { label: 'x', devices: { sda, sdb: sda } }, ['devices.sdb: A disk or volume can be used by only one device.']],
  ['both', { label: 'x', devices: { sda: { ...sda, volume_id: 1 } } }, ['devices.sda: A device cannot be both a disk and a volume.']],
  ['an invalid kernel', { label: 'x', devices: {}, kernel: 'linode/none' }, ['kernel: kernel is not valid']],
  ['more memory than it has', { label: 'x', devices: {}, memory_limit: 2049 }, ['memory_limit: memory_limit must be between 0 and 2048']],
  [
    'a VLAN in a region without VLANs',
    { label: 'x', devices: {}, interfaces: [{ purpose: 'vlan', label: 'v' }] },
    ["interfaces: This Linode's region does not support VLANs at this time."],
  ],
  ['schema errors and semantic errors', { devices: {}, kernel: 'none' }, ['label: label is required', 'kernel: kernel is not valid']],
])('%s is refused', async (_name, body, problems) => {
  const { results } = await client.ok('GET', path)
  expect(await client.problems('POST', path, body)).toEqual(problems)
  expect((await client.ok('GET', path)).results).toBe(results)
})
