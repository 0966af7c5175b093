/** `copy` between providers in memory: the records that others may do more without. */
import { expect, test } from 'vitest'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { CLOUD } from '../../src/providers/cloud/cloud-config.ts'
import { createMemory } from '../../src/providers/memory/memory-provider.ts'
import { expectEnd } from '../support/cli.ts'
import { openScene } from './scene.ts'

const ZONE = `domain: example.com
soa_email: hostmaster@example.com
records:
  '': [{type: A, value: 192.0.2.1}, {type: CAA, value: {flags: 0, tag: issue, value: ca.example.net}}]
  _sip._tcp: {type: SRV, value: {priority: 1, weight: 2, port: 5060, target: '@'}}
  mail: {type: TXT, value: v=spf1 -all}
  note: {type: TXT, value: a note}
`

test.each([
  ['CAA', ['--lossy'], ['SRV', 'CAA']],
  ['TXT', ['--lossy'], ['SRV', 'TXT']],
])('a target without %s stops the copy with --lossy, until it is named', async (type, lossy, missing) => {
  const types = new Set([...(CLOUD_CAPABILITIES.types ?? [])].filter((one) => !missing.includes(one)))
  const own = createMemory({ capabilities: { ...CLOUD_CAPABILITIES, types } })
  const scene = openScene({ files: { 'zones/example.com.yaml': ZONE }, types: { own: own.as(CLOUD) } })
  expectEnd(await scene.run('apply', '--yes'), 0)
  scene.write({
    'zonewright.yaml': scene
      .config()
      .replace('\n', "\n  own: {type: cloud, base_url: 'http://127.0.0.1:9/v4', token: 'env:ZONEWRIGHT_TOKEN'}\n"),
  })
  const copy = (...more: string[]) => scene.run('copy', '--from', 'cloud', '--to', 'own', 'example.com', '--yes', ...more)
  const refused = expectEnd(await copy(...lossy), 1, { err: `others may do more without it, so --lossy must name it` })
  expect(refused.stderr).toMatch(
    new RegExp(`error\\[record-unsupported\\] \\S+ ${type}: own does not support ${type} records .*--lossy=${type}`),
  )
  expect(refused.stderr).not.toMatch(/error\[.*(SRV|note)/)
  expect(refused.stderr).not.toContain('it is skipped')
  expectEnd(await copy(`--lossy=${type}`), 1, { err: /error\[record-unsupported\] _sip\._tcp\.example\.com\. SRV: .*--lossy=SRV/ })
  expect(own.writes()).toEqual([])
  expectEnd(await copy(...lossy, `--lossy=${type}`), 0, {
    err: `warning[type-unsupported] own does not support ${type} records`,
    out: /created/,
  })
})

test.each(['plan', 'verify --no-dns', 'snapshot --out snapshot.json', 'copy --from cloud --to own example.com --dry-run'])(
  '%s warns of a journal that cannot be read',
  async (line) => {
    const scene = openScene({ types: { own: createMemory({ capabilities: CLOUD_CAPABILITIES }).as(CLOUD) } })
    expectEnd(await scene.run('apply', '--yes'), 0)
    const [own] = scene.config().match(/^ {2}cloud: .*\n/m) ?? []
    const more = "zones: [{targets: [cloud]}]\njournal: {url: 'file:///dev/null/journal'}\n"
    scene.write({ 'zonewright.yaml': scene.config() + own?.replace('cloud', 'own') + more })
    const { stdout, stderr } = await scene.run(...line.split(' '))
    expect(stdout + stderr).toContain('warning[journal-unreadable]')
  },
)
