/** File names with line breaks and other control characters are reported, each on one line, and not ignored. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openScene, ZONE } from './scene.ts'

const CHARACTERS: readonly (readonly [name: string, character: string, shown: string])[] = [
  ['a line break', '\n', '\\n'],
  ['CR and line break', '\r\n', '\\u000d\\n'],
  ['U+2028', '\u2028', '\\u2028'],
  ['escape', '\u001b', '\\u001b'],
]

const OTHER = 'domain: example.org\nsoa_email: hostmaster@example.org\nrecords: {www: {type: A, value: 192.0.2.1}}\n'

/** Expects that every output line is a diagnostic or a sentence of the program, not the rest of a name. */
function expectReported({ stdout, stderr }: { stdout: string; stderr: string }, shown: string): void {
  expect((stdout + stderr).split('\n').filter((line) => line.includes('error[file-name]') && line.includes(shown))).toHaveLength(1)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain them
  expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/)
}

/** The places of a control character in a file name; the character is `!`. */
const PLACES: readonly (readonly [name: string, path: string])[] = [
  ['within a name', 'zones/exam!ple.org.yaml'],
  ['after a name', 'zones/example.org.yaml!'],
  ['within an ending', 'zones/example.org.ya!ml'],
  ['within the name of a zone file', 'zones/exam!ple.org.zone'],
  ['before a name', 'zones/!db.example.org'],
  ['within the name of a folder', 'zones/fol!der/example.org.yaml'],
]

test.each(PLACES)('a line break %s is reported by every command', async (_, path) => {
  const [real, seen] = [path.replace('!', '\n'), path.replace('!', '\\n')]
  const scene = openScene({ files: { 'zones/example.com.yaml': ZONE, [real]: OTHER } })
  for (const command of [['validate'], ['plan'], ['apply', '--yes'], ['verify'], ['fmt', '--check'], ['export', 'zonefile']]) {
    const result = await scene.run(...command)
    expect(result.status, command.join(' ')).toBe(1)
    expectReported(result, seen)
  }
  expect(scene.memory.requests).toEqual([])
  expectReported(await scene.run('validate', join(scene.folder, real)), seen)
})

describe.each(CHARACTERS)('%s', (_, character, shown) => {
  test('in every place', async () => {
    const files = Object.fromEntries(PLACES.map(([, path]) => [path.replace('!', character), OTHER]))
    const result = await openScene({ files: { 'zones/example.com.yaml': ZONE, ...files } }).run('validate')
    expect(result.status).toBe(1)
    for (const [, path] of PLACES) expectReported(result, path.replace('!', shown))
  })

  test('with a glob for the extension, and listed in the config', async () => {
    for (const files of [['zones/*.yaml'], [`zones/exam${character}ple.org.yaml`, 'zones/example.com.yaml']]) {
      const scene = openScene({
        files: { 'zones/example.com.yaml': ZONE, [`zones/exam${character}ple.org.yaml`]: OTHER, 'zones/notes\n.txt': 'no definition' },
        config: `zones: [{files: ${JSON.stringify(files)}}]\n`,
      })
      expectReported(await scene.run('validate'), `zones/exam${shown}ple.org.yaml`)
    }
  })

  test('within a folder of split files', async () => {
    const files = { 'zones/example.org./$example.org.yaml': '{}\n', [`zones/example.org./w${character}ww.yaml`]: '{}\n' }
    expectReported(await openScene({ files }).run('validate'), `zones/example.org./w${shown}ww.yaml`)
  })

  test('in an included file', async () => {
    const scene = openScene({
      files: {
        'zones/example.com.yaml': `include: [${JSON.stringify(`../more${character}.yaml`)}]\n${ZONE}`,
        [`more${character}.yaml`]: 'records: {}\n',
      },
    })
    const { status, stdout, stderr } = await scene.run('validate')
    expect([status, stdout + stderr]).toEqual([1, expect.stringContaining(`more${shown}.yaml contains a line break or another`)])
  })

  test('in an imported file', async () => {
    const records = "---\nwww: {type: A, value: 192.0.2.1}\n'': {type: NS, values: [ns1.example.net.]}\n"
    const files = ['example.com', `exam${character}ple.org`].flatMap((zone) => [
      [`named/${zone}.zone`, '$TTL 300\n@ SOA ns1 hostmaster 1 2 3 4 5\n@ NS ns1\nns1 A 192.0.2.53\n'],
      [`octodns/${zone}.yaml`, records],
      [`split/${zone}./www.yaml`, records],
    ])
    const scene = openScene({
      files: {
        ...Object.fromEntries(files),
        [`split/example.com./m${character}ail.yaml`]: 'mail: {type: A, value: 192.0.2.2}\n',
        'production.yaml': `providers: {config: {class: octodns.provider.yaml.YamlProvider, directory: ./octodns}}
zones: {'*': {sources: [config], targets: [config]}}
`,
      },
    })
    for (const [format, source, ...seen] of [
      ['zonefile', 'named', `named/exam${shown}ple.org.zone`],
      ['octodns', 'octodns', `octodns/exam${shown}ple.org.yaml`],
      ['octodns', 'split', `split/exam${shown}ple.org.`, `split/example.com./m${shown}ail.yaml`],
      ['octodns', 'production.yaml', `octodns/exam${shown}ple.org.yaml`],
    ] as const) {
      const result = await scene.run('import', format, source, '-o', 'new')
      expect([source, result.status]).toEqual([source, 1])
      for (const one of seen) expectReported(result, one)
    }
    expect(readdirSync(scene.folder)).not.toContain('new')
  })
})
