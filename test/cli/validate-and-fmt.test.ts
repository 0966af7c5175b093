import { describe, expect, test } from 'vitest'
import { expectEnd } from '../support/cli.ts'
import { openScene, ZONE, zoneOf } from './scene.ts'

const UNTIDY = `domain: example.com
records:
  www:   {type: CNAME,   value: "@"}
  # The apex.
  '': {value: 192.0.2.1, type: A}
soa_email: hostmaster@example.com
`

const WARNED = `${ZONE}  alias: {type: MX, value: {preference: 1, exchange: www}}\n`

describe('validate', () => {
  test('without errors: nothing on standard output, the number of zones on standard error', async () => {
    const scene = openScene()
    expect(await scene.run('validate')).toEqual({ status: 0, stdout: '', stderr: '1 zone, 3 records in 1 file: no problems.\n' })
    expect(await scene.run('validate', '--quiet')).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  test('prints the diagnostics, then their number', async () => {
    const scene = openScene({ files: { 'zones/example.com.yaml': WARNED } })
    const { status, stdout, stderr } = await scene.run('validate')
    expect(status).toBe(0)
    expect(stdout).toMatch(/^zones\/example\.com\.yaml:7:\d+: warning\[target-is-cname\] .*\n$/)
    expect(stderr).toBe('1 zone, 4 records in 1 file: 1 warning.\n')
  })

  test('--verbose shows lines and hints', async () => {
    const scene = openScene({ files: { 'zones/example.com.yaml': `${ZONE}  x: {type: A, valu: 192.0.2.1}\n` } })
    expectEnd(await scene.run('validate', '--verbose'), 1, { out: ['  > 7 |   x: {type: A, valu: 192.0.2.1}\n', '  hint: Did you mean'] })
  })

  test('refuses a TXT record that a selector without quotes matches', async () => {
    const zone = `domain: example.com
soa_email: hostmaster@example.com
unmanaged: [{target: 'v=spf1*', type: TXT}]
records:
  '': {type: TXT, value: v=spf1 -all}
  www: {type: TXT, value: something else}
`
    const scene = openScene({ files: { 'zones/example.com.yaml': zone } })
    expectEnd(await scene.run('validate'), 1, { out: /^zones\/example\.com\.yaml:5:\d+: error\[unmanaged-collision\] \S+ TXT .*3:13.*\n$/ })
  })

  test('only the given paths', async () => {
    const scene = openScene({ files: { 'zones/example.com.yaml': ZONE, 'zones/example.net.yaml': 'a: [' } })
    expect((await scene.run('validate')).status).toBe(1)
    expect((await scene.run('validate', 'zones/example.com.yaml')).status).toBe(0)
    expect((await scene.run('validate', 'zones')).status).toBe(1)
  })

  test('needs no server and no token', async () => {
    const scene = openScene()
    expect((await scene.runWith({ ZONEWRIGHT_TOKEN: undefined }, 'validate')).status).toBe(0)
    expect(scene.memory.requests).toEqual([])
  })
})

describe('fmt', () => {
  test('--check writes nothing, lists the files, and exits with 2; otherwise writes them and exits with 0', async () => {
    const scene = openScene({ files: { 'zones/example.com.yaml': UNTIDY, 'zones/example.net.yaml': zoneOf('example.net') } })
    const before = scene.files()
    const check = await scene.run('fmt', '--check')
    expect(check).toEqual({ status: 2, stdout: 'zones/example.com.yaml\n', stderr: '1 of 2 files would change.\n' })
    expect(scene.files()).toEqual(before)
    expect(await scene.run('fmt')).toEqual({ status: 0, stdout: 'zones/example.com.yaml\n', stderr: '1 of 2 files changed.\n' })
    expect(scene.files()['zones/example.com.yaml']).toContain('  # The apex.\n')
    expect(await scene.run('fmt', '--check', '--quiet')).toEqual({ status: 0, stdout: '', stderr: '' })
    expect((await scene.run('validate')).stderr).toContain('no problems')
  })

  test('does not change a file that is not YAML, reports its position, and formats the others', async () => {
    const scene = openScene({ files: { 'zones/example.com.yaml': UNTIDY, 'zones/example.net.yaml': 'a:\n  b: [\n' } })
    const { stdout, stderr } = expectEnd(await scene.run('fmt'), 1)
    expect(stdout).toBe('zones/example.com.yaml\n')
    expect(stderr).toMatch(/^zones\/example\.net\.yaml:[23]:\d+: error\[yaml-syntax\] /)
    expect(scene.files()['zones/example.net.yaml']).toBe('a:\n  b: [\n')
  })

  test('in a folder that is named, only YAML that looks like a definition', async () => {
    const other = 'on:\n    push:\n        branches: [main]\nspec: {type: ClusterIP}\n'
    const files = {
      'all/example.com.yaml': UNTIDY,
      'all/parts/hosts.yaml': 'www:   {type: A, value: 192.0.2.1}\n',
      'all/.ci/dns.yaml': other,
      'all/app.yaml': other,
    }
    const scene = openScene({ files })
    const { stdout, stderr } = expectEnd(await scene.run('fmt', 'all'), 0)
    expect(stdout).toBe('all/example.com.yaml\nall/parts/hosts.yaml\n')
    expect(stderr).toMatch(/^Not formatted, .*: 1 YAML file\./m)
    expect(scene.files()).toMatchObject({ 'all/app.yaml': other, 'all/.ci/dns.yaml': other })
    expect((await scene.run('fmt', '--check', 'all/app.yaml')).stdout).toBe('all/app.yaml\n')
  })

  test('nothing to format', async () => {
    const scene = openScene({ files: { 'zones/example.com.zone': '$TTL 300\nwww A 192.0.2.1\n' } })
    expect(await scene.run('fmt', '--check')).toEqual({ status: 0, stdout: '', stderr: 'There are no YAML definitions to format.\n' })
  })
})
