/** Sources of octoDNS that are no folder of its zone files: the import says how to take over their records, and that works. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, expectEnd } from '../../support/cli.ts'
import { OCTODNS_PYTHON } from '../../support/octodns-python.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

const CONFIG = `providers:
  files: {class: octodns.provider.yaml.YamlProvider, directory: ./zones}
  tiny: {class: octodns.source.tinydns.TinyDnsFileSource, directory: ./tinydns}
  live: {class: octodns_gandi.GandiProvider, token: env/GANDI_TOKEN}
zones:
  example.com.: {sources: [files, tiny], targets: [live]}
  example.net.: {sources: [live], targets: [live]}
`

function repository(): string {
  const folder = temporaryDirectory()
  for (const name of ['zones', 'tinydns']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'config.yaml'), CONFIG)
  // The new config is with its files.
  writeFileSync(join(folder, 'zonewright.yaml'), 'providers: {}\n')
  writeFileSync(join(folder, 'zones/example.com.yaml'), 'www: {type: A, value: 192.0.2.1}\n')
  writeFileSync(join(folder, 'tinydns/zones'), '+one.example.com:192.0.2.2:300\n@example.com::mail.example.com:10:300\n')
  return folder
}

test('a notice for each source has the provider to add, if there is none, and the command', async () => {
  expectEnd(await cli(['import', 'octodns', 'config.yaml', '-o', 'new', '--lossy'], { cwd: repository() }), 0, {
    err: [
      'the records of the source tiny (octodns.source.tinydns.TinyDnsFileSource) are no files, so they are not imported (to import them as they are today, ' +
        'add "tiny: {type: octodns, class: octodns.source.tinydns.TinyDnsFileSource, options: {directory: ../tinydns}}" to providers in zonewright.yaml, then ' +
        'run: zonewright import --from tiny example.com -o DIRECTORY)',
      '(to import them as they are today, run: zonewright import --from live example.net -o DIRECTORY)',
    ],
  })
})

describeWithTools([OCTODNS_PYTHON], 'a source of octoDNS', () => {
  test('is imported as the notice says, and is never a target that changes', async () => {
    const cwd = repository()
    const env = { PATH: `${dirname(OCTODNS_PYTHON)}:${process.env['PATH']}` }
    const { stderr } = await cli(['import', 'octodns', 'config.yaml', '-o', 'new', '--lossy'], { cwd })
    const [, entry = ''] = /add "(tiny: .*?)" to providers/.exec(stderr) ?? []
    const config = join(cwd, 'new/zonewright.yaml')
    writeFileSync(config, readFileSync(config, 'utf8').replace('providers:\n', `providers:\n  ${entry}\n`))
    expectEnd(await cli(['import', '--from', 'tiny', 'example.com', '-o', 'tiny'], { cwd: join(cwd, 'new'), env }), 0)
    const imported = readFileSync(join(cwd, 'new/tiny/example.com.yaml'), 'utf8')
    expect(imported).toContain('one: {type: A, ttl: 300, value: 192.0.2.2}')
    expect(imported).toContain('exchange: mail}')
    const rest = join(cwd, 'rest')
    mkdirSync(join(rest, 'zones'), { recursive: true })
    writeFileSync(join(rest, 'zonewright.yaml'), `providers: {${entry}}\n`)
    writeFileSync(join(rest, 'zones/example.com.yaml'), `${imported}`.replace('192.0.2.2', '192.0.2.3'))
    expectEnd(await cli(['plan'], { cwd: rest, env }), 1, { said: 'zone-read-only' })
  })
})
