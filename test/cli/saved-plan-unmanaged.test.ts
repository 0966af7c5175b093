/** Unmanaged records, such as those of ACME clients, change between plan and apply; the plan is not stale. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Client, connect } from '../service/harness.ts'
import { TOKEN, ZONE } from './scene.ts'
import { openServiceScene } from './service-scene.ts'

const THEIRS = ZONE.replace('records:', 'unmanaged: [{name: _acme-challenge*, type: TXT}, {type: TXT, name: alias}]\nrecords:')
const CHANGED = `${THEIRS.replace('192.0.2.2', '192.0.2.7')}  alias: {type: CNAME, value: mail}\n`

const TOKENS = { type: 'TXT', name: '_acme-challenge', target: 'first' }

/** A live zone with an unmanaged record, a saved plan, and the other client. */
async function plannedScene() {
  const scene = await openServiceScene({ files: { 'zones/example.com.yaml': THEIRS } })
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  const { client, close } = connect(scene.service.baseUrl, TOKEN)
  onTestFinished(close)
  const { data } = await client.ok('GET', '/domains')
  const path = `/domains/${data[0].id}/records`
  const { id } = await client.ok('POST', path, TOKENS)
  scene.write({ 'zones/example.com.yaml': CHANGED })
  expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
  return { scene, client, path, theirs: `${path}/${id}` }
}

type Theirs = { readonly client: Client; readonly path: string; readonly theirs: string }

test.each<[string, (others: Theirs) => Promise<unknown>, readonly string[]]>([
  ['are created', ({ client, path }) => client.ok('POST', path, { ...TOKENS, target: 'second' }), ['first', 'second']],
  ['are deleted', ({ client, theirs }) => client.ok('DELETE', theirs), []],
  ['are changed', ({ client, theirs }) => client.ok('PUT', theirs, { target: 'third' }), ['third']],
])('unmanaged records %s: applies the plan and does not change them', async (_, move, left) => {
  const others = await plannedScene()
  await move(others)
  const { scene, client, path } = others
  const applied = await scene.run('apply', 'plan.json', '--yes')
  expect(applied).toMatchObject({ status: 0, stderr: '' })
  expect(applied.stdout).toContain('Applied: 1 created, 1 updated, 0 deleted in 1 zone')
  const { data } = await client.ok('GET', path)
  const texts = data.filter(({ type }: { type: string }) => type === 'TXT').map(({ target }: { target: string }) => target)
  expect(texts.sort()).toEqual(left)
  expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(0)

  const again = await scene.run('apply', 'plan.json', '--yes')
  expect(again.status).toBe(3)
  expect(again.stderr).toContain('the zone already is as planned: the plan has been applied')
  // The run can be rolled back despite the changes of the other client.
  const back = await scene.run('rollback', '--last', '--yes')
  expect(back).toMatchObject({ status: 0, stderr: expect.stringMatching(/^Rolling back run \S+, apply of \S+\n$/) })
  expect((await client.ok('GET', path)).data.filter(({ type }: { type: string }) => type === 'TXT')).toHaveLength(left.length)
})

test('reports an unmanaged record at the name of a planned CNAME before any call', async () => {
  const { scene, client, path } = await plannedScene()
  await client.ok('POST', path, { ...TOKENS, name: 'alias' })
  const before = scene.proxy.mutations().length
  const { status, stderr } = await scene.run('apply', 'plan.json', '--yes')
  expect(stderr).toContain('has changed since the plan was made')
  expect(stderr).toContain(': 1 unmanaged record is in conflict with the plan (plan again and review the changes)')
  expect(stderr).toContain('alias.example.com. TXT "first" conflicts with the planned CNAME mail.example.com.')
  expect(status).toBe(3)
  expect(scene.proxy.mutations()).toHaveLength(before)
})

test('the plan contains the unmanaged selectors', async () => {
  const { scene } = await plannedScene()
  const { zones } = JSON.parse(readFileSync(join(scene.folder, 'plan.json'), 'utf8'))
  expect(zones[0].unmanaged).toEqual([
    { name: '_acme-challenge*', type: 'TXT' },
    { name: 'alias', type: 'TXT' },
  ])
})
