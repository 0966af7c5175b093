/** File names with line breaks and other control characters are reported, each on one line, and not ignored. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { ZONE } from './scene.ts'
import { openServiceScene } from './service-scene.ts'

const CHARACTERS: readonly (readonly [name: string, character: string, shown: string])[] = [
  ['a line break', '\n', '\\n'],
  ['CR', '\r', '\\u000d'],
  ['CR and line break', '\r\n', '\\u000d\\n'],
  ['U+2028', '\u2028', '\\u2028'],
  ['U+2029', '\u2029', '\\u2029'],
  ['escape', '\u001b', '\\u001b'],
  ['U+0085', '\u0085', '\\u0085'],
]

const OTHER = 'domain: example.org\nsoa_email: hostmaster@example.org\nrecords: {www: {type: A, value: 192.0.2.1}}\n'

/** Expects that every output line is a diagnostic or a sentence of the program, not the rest of a name. */
function expectReported({ stdout, stderr }: { stdout: string; stderr: string }, shown: string): void {
  const lines = (stdout + stderr).split('\n')
  expect(lines.filter((line) => line.includes('error[file-name]') && line.includes(shown))).toHaveLength(1)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain them
  expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/)
}

describe.each(CHARACTERS)('%s', (_, character, shown) => {
  const places: readonly (readonly [name: string, path: string, seen: string])[] = [
    ['within a name', `zones/exam${character}ple.org.yaml`, `zones/exam${shown}ple.org.yaml`],
    ['after a name', `zones/example.org.yaml${character}`, `zones/example.org.yaml${shown}`],
    ['within an ending', `zones/example.org.ya${character}ml`, `zones/example.org.ya${shown}ml`],
    ['within the name of a zone file', `zones/exam${character}ple.org.zone`, `zones/exam${shown}ple.org.zone`],
    ['before a name', `zones/${character}db.example.org`, `zones/${shown}db.example.org`],
    ['within the name of a folder', `zones/fol${character}der/example.org.yaml`, `zones/fol${shown}der/example.org.yaml`],
  ]

  test.each(places)('%s', async (__, path, seen) => {
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': ZONE, [path]: OTHER } })
    for (const command of [['validate'], ['plan'], ['apply', '--yes'], ['verify'], ['fmt', '--check'], ['export', 'zonefile']]) {
      const result = await scene.run(...command)
      expect(result.status, command.join(' ')).toBe(1)
      expectReported(result, seen)
    }
    expect(scene.proxy.mutations()).toEqual([])
    expectReported(await scene.run('validate', join(scene.folder, path)), seen)
  })

  test('with a glob for the extension, and listed in the config', async () => {
    for (const files of [['zones/*.yaml'], [`zones/exam${character}ple.org.yaml`, 'zones/example.com.yaml']]) {
      const scene = await openServiceScene({
        files: { 'zones/example.com.yaml': ZONE, [`zones/exam${character}ple.org.yaml`]: OTHER, 'zones/notes\n.txt': 'no definition' },
        config: `zones: [{files: ${JSON.stringify(files)}}]\n`,
      })
      expectReported(await scene.run('validate'), `zones/exam${shown}ple.org.yaml`)
    }
  })

  test('within a folder of split files', async () => {
    const scene = await openServiceScene({
      files: { 'zones/example.org./$example.org.yaml': '{}\n', [`zones/example.org./w${character}ww.yaml`]: '{}\n' },
    })
    expectReported(await scene.run('validate'), `zones/example.org./w${shown}ww.yaml`)
  })

  test('in an included file', async () => {
    const scene = await openServiceScene({
      files: {
        'zones/example.com.yaml': `include: [${JSON.stringify(`../more${character}.yaml`)}]\n${ZONE}`,
        [`more${character}.yaml`]: 'records: {}\n',
      },
    })
    const { status, stdout, stderr } = await scene.run('validate')
    expect([status, stdout + stderr]).toEqual([
      1,
      expect.stringContaining(`more${shown}.yaml contains a line break or another control character`),
    ])
  })

  test('in an imported file', async () => {
    const folder = temporaryDirectory()
    const write = (path: string, text: string): void => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const zoneFile = '$TTL 300\n@ SOA ns1 hostmaster 1 2 3 4 5\n@ NS ns1\nns1 A 192.0.2.53\n'
    const records = "---\nwww: {type: A, value: 192.0.2.1}\n'': {type: NS, values: [ns1.example.net.]}\n"
    for (const zone of ['example.com', `exam${character}ple.org`]) {
      write(`named/${zone}.zone`, zoneFile)
      write(`octodns/${zone}.yaml`, records)
      write(`split/${zone}./www.yaml`, records)
    }
    write(`split/example.com./m${character}ail.yaml`, 'mail: {type: A, value: 192.0.2.2}\n')
    write(
      'production.yaml',
      'providers:\n  config: {class: octodns.provider.yaml.YamlProvider, directory: ./octodns}\nzones: {"*": {sources: [config], targets: [config]}}\n',
    )
    const imported = (...args: string[]) => cli(['import', ...args, '-o', 'new'], { cwd: folder })
    const expected: readonly (readonly [args: readonly string[], seen: readonly string[]])[] = [
      [['zonefile', 'named'], [`named/exam${shown}ple.org.zone`]],
      [['octodns', 'octodns'], [`octodns/exam${shown}ple.org.yaml`]],
      [
        ['octodns', 'split'],
        [`split/exam${shown}ple.org.`, `split/example.com./m${shown}ail.yaml`],
      ],
      [['octodns', 'production.yaml'], [`octodns/exam${shown}ple.org.yaml`]],
    ]
    for (const [args, seen] of expected) {
      const result = await imported(...args)
      expect([args, result.status]).toEqual([args, 1])
      for (const one of seen) expectReported(result, one)
    }
    expect(readdirSync(folder)).not.toContain('new')
  })
})
