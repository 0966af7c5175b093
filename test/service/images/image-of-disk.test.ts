import { describe, expect, test } from 'vitest'
import { seedOfPeople, tokenOf } from '../accounts/people.ts'
import { connect } from '../harness.ts'
import { IMAGE, startClocked } from '../instances/fixture.ts'

const { service, client, pass, made } = await startClocked({ seed: seedOfPeople([]), bootstrapToken: 'administrator' })

/** The disks of an instance by the devices of its configuration profile. */
async function disksOf(path: string): Promise<[number, number]> {
  const { devices } = (await client.ok('GET', `${path}/configs`)).data[0]
  return [devices.sda.disk_id, devices.sdb.disk_id]
}

describe('an image from a disk', async () => {
  const { path } = await made(IMAGE, 120)
  const [disk] = await disksOf(path)

  test('becomes available later, and can then be deployed', async () => {
    const image = await client.ok('POST', '/images', { disk_id: disk, description: 'released' })
    expect(image).toMatchObject({ label: 'Debian 11 Disk', description: 'released', size: 50_688, status: 'creating', type: 'manual' })
    const deployment = { ...IMAGE, image: image.id }
    expect(await client.problems('POST', '/compute/instances', deployment)).toEqual(['image: image is not valid'])
    await pass(29)
    expect(await client.ok('GET', `/images/${image.id}`)).toMatchObject({ status: 'creating' })
    await pass(1)
    const finished = await client.ok('GET', `/images/${image.id}`)
    expect(finished).toMatchObject({ status: 'available' })
    expect(finished.updated > finished.created).toBe(true)
    expect(await client.ok('POST', '/compute/instances', deployment)).toMatchObject({ image: image.id })
    const named = await client.ok('POST', '/images', { disk_id: disk, label: 'named' })
    expect(named).toMatchObject({ label: 'named', description: null })
    // An image that is deleted meanwhile does not reappear.
    await client.ok('DELETE', `/images/${named.id}`)
    await pass(60)
    expect((await client.call('GET', `/images/${named.id}`)).status).toBe(404)
  })

  test('cannot be created while the disk is being written', async () => {
    const busy = await made(IMAGE, 0)
    const [fresh] = await disksOf(busy.path)
    expect(await client.problems('POST', '/images', { disk_id: fresh })).toEqual(['Linode busy.'])
  })

  test('cannot be created by another account, or without a grant', async () => {
    const as = (user: string) => connect(service.baseUrl, tokenOf(user)).client
    expect(await as('stranger').problems('POST', '/images', { disk_id: disk })).toEqual(['disk_id: disk_id is not valid'])
    expect((await as('guest').call('POST', '/images', { disk_id: disk })).status).toBe(403)
  })

  test('increments the deployments of a script', async () => {
    const script = await client.ok('POST', '/compute/scripts', { label: 'counted', images: [IMAGE.image], script: 'true' })
    const instances = [await made({ ...IMAGE, script_id: script.id }), await made({ ...IMAGE, script_id: script.id })]
    expect(await client.ok('GET', `/compute/scripts/${script.id}`)).toMatchObject({ deployments_total: 2, deployments_active: 2 })
    await client.ok('DELETE', (instances[0] as { path: string }).path)
    expect(await client.ok('GET', `/compute/scripts/${script.id}`)).toMatchObject({ deployments_total: 2, deployments_active: 1 })
    const headers = { 'x-filter': '{"deployments_total":{"+gte":2}}' }
    expect((await client.ok('GET', '/compute/scripts', undefined, headers)).results).toBe(1)
    const refused = { ...IMAGE, script_id: script.id, image: 'public/arch' }
    expect(await client.problems('POST', '/compute/instances', refused)).toEqual([
      'image: The requested distribution is not supported by this stackscript.',
    ])
  })
})
