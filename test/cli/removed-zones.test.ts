/** Zones whose definition was removed: named by plan and doctor, and deleted only on request. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { validate as isPlan } from '../../generated/plan-schema.js'
import { type CliResult, documentIn, expectEnd } from '../support/cli.ts'
import { GIT_ENVIRONMENT, gitRepository } from '../support/git-repository.ts'
import { describeWithTools } from '../support/skip.ts'
import { openLiveScene, openScene, type Scene, zoneFiles, zoneOf } from './scene.ts'

const FILES = zoneFiles(['example.com', 'example.org', 'example.net'])

/** Two zones are applied; the definition of one is removed. */
async function sceneAfterRemoval(config = ''): Promise<Scene> {
  const scene = await openLiveScene({ files: FILES, config })
  rmSync(join(scene.folder, 'zones/example.org.yaml'))
  return scene
}

const documentOf = (result: Pick<CliResult, 'stdout'>) => documentIn(result, isPlan)

const NAMED =
  /^warning\[zone-removed\] example\.org\. still exists at cloud, but its definition is gone; run \S+ applied one \(to delete it, set "delete_removed: true"/m

describe('a zone that a previous run applied', () => {
  test('may be one that a program makes with other variables', async () => {
    const program = `CLI_DEFAULTS({name: 'example.com'})
D(name, NewRegistrar('none'), DnsProvider(NewDnsProvider('cloud')), A('@', '192.0.2.1'))\n`
    const config = 'zones: [{files: dnsconfig.js}]\ndefaults: {soa_email: hostmaster@example.com}\n'
    const scene = await openLiveScene({ files: { 'dnsconfig.js': program }, config })
    const err = /zone-removed\] example\.com\. .*restore its definition; perhaps another --var makes it/
    expectEnd(await scene.run('plan', '--var', 'name=example.net'), 0, { err })
  })

  test('is named by each plan of all zones, and not by a plan of others', async () => {
    const scene = await sceneAfterRemoval()
    expectEnd(await scene.run('plan', '--detailed-exitcode'), 0, { err: NAMED })
    expect((await scene.run('plan', 'example.com')).stderr).not.toContain('zone-removed')
    const { zones, diagnostics } = documentOf(await scene.run('plan', '--format', 'json'))
    expect(zones).toMatchObject([{ zone: 'example.com.' }, { zone: 'example.net.' }])
    expect(diagnostics).toMatchObject([{ code: 'zone-removed' }])
  })

  test('is not named when its provider has it no more', async () => {
    const scene = await sceneAfterRemoval()
    scene.write({ 'zones/example.org.yaml': 'domain: example.org\nabsent: true\n' })
    expect((await scene.run('apply', '--yes', '--allow', 'delete-zone')).status).toBe(0)
    rmSync(join(scene.folder, 'zones/example.org.yaml'))
    expect((await scene.run('plan')).stderr).not.toContain('zone-removed')
  })

  test('is deleted with delete_removed, after consent to deletions', async () => {
    const scene = await sceneAfterRemoval('delete_removed: true\n')
    expectEnd(await scene.run('verify', '--no-dns'), 2, { out: '1 change pending ("zonewright plan" shows it)' })
    expect((await scene.run('doctor')).stdout).toContain('2 zones defined')
    expectEnd(await scene.run('apply', '--yes'), 3, { out: 'delete-zone' })
    expect((await scene.run('plan', '--out', 'plan.json', '--allow', 'delete-zone')).status).toBe(0)
    const applied = documentOf(await scene.run('apply', './plan.json', '--yes', '--format', 'json'))
    const deleted = applied.zones.find(({ zone }: { zone: string }) => zone === 'example.org.')
    expect(deleted.changes).toMatchObject([{ action: 'delete', subject: 'domain', outcome: { state: 'applied' } }])
    const after = await scene.run('plan', '--detailed-exitcode')
    expect([after.status, after.stdout, after.stderr]).toEqual([0, expect.not.stringContaining('example.org'), ''])
  })

  test('stays if one of the rules that may have matched it does not delete', async () => {
    const scene = await sceneAfterRemoval('zones: [{files: zones/none/*, enabled: false}, {files: "zones/*", delete_removed: true}]\n')
    const { status, stderr, stdout } = await scene.run('plan')
    expect([status, stdout, stderr]).toEqual([0, expect.not.stringContaining('delete'), expect.stringMatching(NAMED)])
  })

  test('stays while a rule matches nothing, as in an incomplete checkout', async () => {
    const scene = await sceneAfterRemoval('delete_removed: true\nzones: [{files: "zones/*"}, {files: "module/*"}]\n')
    const { stdout, stderr } = await scene.run('plan', '--allow', 'delete-zone')
    expect(stdout).not.toContain('example.org')
    expect(stderr).toContain('a rule of the config matches nothing')
  })

  test('stays while another definition has an error or its name is unknown', async () => {
    const scene = await sceneAfterRemoval('delete_removed: true\n')
    scene.write({ 'zones/broken.example.yaml': 'domain: [\n' })
    const { status, stdout, stderr } = await scene.run('plan', '--keep-going', '--allow', 'delete-zone')
    expect([status, stdout]).toEqual([1, expect.not.stringContaining('example.org')])
    expect(stderr).toContain('it is not deleted while another definition may describe it')
  })
})

describeWithTools(['git'], 'a zone of a revision', () => {
  test('is named and deleted like that; a file without a rule keeps its zone', async () => {
    const scene = openScene({ files: FILES, config: 'delete_removed: true\n' })
    const repository = gitRepository({}, scene.folder)
    const run = (...args: string[]) => scene.runWith(GIT_ENVIRONMENT, ...args)
    expect((await run('apply', '--yes')).status).toBe(0)
    rmSync(join(scene.folder, '.zonewright'), { recursive: true })
    repository.write({ 'zones/example.org.yaml': null })
    const only = await run('plan', '--since', 'HEAD', '--allow', 'delete-zone', '--format', 'json')
    expect(documentOf(only).zones).toMatchObject([{ zone: 'example.org.', changes: [{ action: 'delete', subject: 'domain' }] }])
    expect((await run('apply', '--yes', '--since', 'HEAD')).status).toBe(3)
    // Nobody asked for all zones, and the journal is gone: only the revision knows the zone.
    expect((await run('plan')).stdout).not.toContain('example.org')

    repository.write({ 'zonewright.yaml': `${scene.config()}zones: [{files: ['zones/*', '!zones/example.net*']}]\n` })
    const unmatched = await run('plan', '--since', 'HEAD', '--allow', 'delete-zone')
    expect(unmatched.stderr).toContain('no rule of the config matches zones/example.net.yaml: add one, or remove the file')
    expect(unmatched.stdout).not.toContain('example.net')
  })

  /** The revision had a zone at the service, at servers that cannot delete zones, and at a provider without its secret. */
  async function withTargets(config: string) {
    const scene = openScene({ files: FILES, config: 'zones: [{files: zones/*, targets: [cloud]}]\n' })
    const text = scene.config()
    const providers = `providers:
  dns: {type: rfc2136, server: '127.0.0.1:9'}
  copy: {type: axfr, server: '127.0.0.1:9'}
  locked: {type: cloud, base_url: 'http://127.0.0.1:9/v4', token: 'env:NOT_SET'}
`
    scene.write({
      'zonewright.yaml': text.replace('providers:\n', providers),
      'zones/r.example.yaml': zoneOf('r.example').replace('records:', 'targets: [cloud, dns, copy, locked]\nrecords:'),
    })
    const repository = gitRepository({}, scene.folder)
    repository.write({ 'zones/r.example.yaml': null, 'zonewright.yaml': `${scene.config()}${config}` })
    const run = (...args: string[]) => scene.runWith(GIT_ENVIRONMENT, ...args)
    return { ...scene, run, repository }
  }
  const UNDELETABLE = Object.fromEntries(['copy', 'dns'].map((name) => [name, expect.stringMatching(`^plans cannot delete zones at`)]))
  const hintsOf = (stderr: string) =>
    Object.fromEntries(
      [...stderr.matchAll(/r\.example\. (?:still exists|may still exist) at (\w+), .*\((.*)\)$/gm)].map(([, target, hint]) => [
        target,
        hint,
      ]),
    )

  test('at another provider is named with what can be done there', async () => {
    const { run } = await withTargets('')
    const { status, stderr } = await run('plan', '--since', 'HEAD')
    expect([status, hintsOf(stderr)]).toEqual([0, { ...UNDELETABLE, locked: expect.stringContaining('set "delete_removed: true"') }])
  })

  test('at another provider is not deleted where plans cannot, which the hint says also with delete_removed', async () => {
    const { run } = await withTargets('delete_removed: true\n')
    const { status, stderr } = await run('plan', '--since', 'HEAD', '--allow', 'delete-zone')
    expect([status, hintsOf(stderr)]).toEqual([0, { ...UNDELETABLE, locked: expect.stringMatching(/because locked cannot be used/) }])
    expect((await run('zones', '--since', 'HEAD')).stderr).toContain('(a plan deletes it after --allow delete-zone; to keep it')
  })
})

test('zones that a provider lists are a notice of each plan of all zones, also without a journal; a plan of some asks for no list', async () => {
  const scene = await sceneAfterRemoval()
  rmSync(join(scene.folder, '.zonewright'), { recursive: true })
  const lists = () => scene.memory.requests.filter(({ kind }) => kind === 'list').length
  const before = lists()
  const all = await scene.run('plan', '--format', 'json')
  expect(lists()).toBe(before + 1)
  expect(documentOf(all).diagnostics).toMatchObject([{ code: 'zone-undescribed', message: expect.stringContaining(': example.org.') }])
  const some = await scene.run('plan', 'example.com', 'example.net', '--format', 'json')
  expect(documentOf(some).diagnostics).toEqual([])
  expect(lists()).toBe(before + 1)
})

test('many zones of a provider that was renamed in the config are one warning', async () => {
  const many = zoneFiles(Array.from({ length: 12 }, (_, index) => `z${index}.example`))
  const scene = await openLiveScene({ files: many, also: ['renamed'] })
  scene.write({ 'zonewright.yaml': scene.config().replace('  cloud:', '  renamed:') })
  const { status, stderr } = await scene.run('plan', '--detailed-exitcode')
  expect([status, stderr.match(/zone-removed/g)]).toEqual([0, ['zone-removed']])
  expect(stderr).toMatch(/12 zones may be at cloud, and no definition .*: z0\.example\., .* and 2 more \(cloud is not in the config/)
})

describe('doctor', () => {
  test('names what previous runs applied at a provider that cannot list zones, or that is gone from the config', async () => {
    const scene = await openLiveScene({ files: FILES, also: ['other'] })
    rmSync(join(scene.folder, 'zones/example.org.yaml'))
    const renamed = scene.config().replace('  cloud:', '  other:')
    scene.write({ 'zonewright.yaml': renamed })
    expect((await scene.run('doctor')).stdout).toMatch(
      /warning +zones +example\.org\. may still exist at cloud, .*\n +cloud is not in the config/,
    )
    // A server that answers nothing has no list of its zones either.
    scene.write({ 'zonewright.yaml': renamed.replace('providers:\n', "providers:\n  cloud: {type: rfc2136, server: '127.0.0.1:9'}\n") })
    for (const name of ['example.com', 'example.net'])
      scene.write({ [`zones/${name}.yaml`]: zoneOf(name).replace('records:', 'targets: [other]\nrecords:') })
    const others = [...scene.providerTypes].filter(([name]) => name !== 'cloud')
    const unlisted = await scene.runIn({ providerTypes: new Map(others) }, 'doctor')
    expect(unlisted.stdout).toMatch(/warning +zones +example\.org\. may still exist at cloud, .*\n +plans cannot delete zones at cloud/)
  })

  test('lists what a provider holds without a definition, bounded', async () => {
    const many = zoneFiles(Array.from({ length: 12 }, (_, index) => `z${index}.example`))
    const scene = await openLiveScene({ files: { ...FILES, ...many } })
    expect((await scene.run('doctor')).stdout).not.toContain('no definition')
    for (const file of Object.keys(many)) rmSync(join(scene.folder, file))
    expectEnd(await scene.run('doctor'), 0, { out: [/12 zones have no definition: z0\.example\., .* and 2 more/, 'import provider cloud'] })
    expect((await scene.run('doctor', 'example.com')).stdout).not.toContain('no definition')
  })

  test('says nothing of zones that are disabled, and says if a provider cannot delete zones', async () => {
    const scene = await openLiveScene({ files: FILES })
    scene.write({ 'zones/example.org.yaml': `enabled: false\n${zoneOf('example.org')}` })
    expect((await scene.run('doctor')).stdout).not.toContain('no definition')
  })
})
