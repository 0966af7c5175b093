import { expect, test } from 'vitest'
import { startProgram } from '../support/built-program.ts'
import { expectEnd } from '../support/cli.ts'
import { openLiveScene, openScene, TOKEN } from './scene.ts'

const RECORDS = 1100

const DEFINITION = `domain: example.com
soa_email: hostmaster@example.com
default_ttl: 600
records:
${Array.from({ length: RECORDS }, (_, index) => `  h${index}: {type: A, value: 192.0.2.1}\n`).join('')}`

const NOTICE = 'notice[ttl-rounded] 1,100 record sets: cloud rounds TTL 600 down to 300; default_ttl at zones/example.com.yaml:3:14\n'

test('1,100 record sets with a TTL that the target rounds are one line; JSON and --verbose have them all', { tags: ['long'] }, async () => {
  const scene = openScene({ files: { 'zones/example.com.yaml': DEFINITION } })
  const plan = await scene.run('plan')
  expect(plan.stderr).toBe(`${NOTICE}1,100 notices. --verbose lists all.\n`)
  const github = await scene.run('plan', '--format', 'github')
  expect(github.stderr).toBe('')
  expect(github.stdout.match(/^::notice /gm)).toHaveLength(1)
  expect(JSON.parse((await scene.run('plan', '--format', 'json')).stdout).zones[0].diagnostics).toHaveLength(RECORDS)
  for (const format of ['markdown', 'html']) {
    expect((await scene.run('plan', '--format', format)).stdout.split('ttl-rounded')).toHaveLength(2)
  }
  expect((await scene.run('plan', '--verbose')).stderr.match(/ttl-rounded/g)).toHaveLength(RECORDS)

  expect((await scene.run('apply', '--yes')).status).toBe(0)
  const again = await scene.run('plan')
  expect(again).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n' })
  expect(again.stderr).toBe(plan.stderr)
})

test('a plan without changes prints at most ten lines, whatever there is to say', async () => {
  const zone = (index: number): string => `domain: z${index}.example
soa_email: hostmaster@example.com
records:
  '': [{type: NS, value: ns.example.net.}]
  a: {type: A, ttl: ${400 + index}, value: 192.0.2.1}
  b: {type: A, ttl: ${4000 + index}, value: 192.0.2.1}
  c_d: {type: A, value: 192.0.2.1}
`
  const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`zones/z${index}.example.yaml`, zone(index)]))
  const scene = await openLiveScene({ files })
  const { stdout, stderr } = expectEnd(await scene.run('plan'), 0)
  expect((stdout + stderr).trimEnd().split('\n').length).toBeLessThanOrEqual(10)
  expect(stderr).toContain('--verbose lists all.\n')
  expect((await scene.run('plan', '--verbose')).stderr.match(/ttl-rounded/g)).toHaveLength(24)
})

const HEAD = "domain: example.com\nsoa_email: hostmaster@example.com\nrecords: {'': {type: NS, value: ns1.example.net.}"
const repeat = (count: number, text: (index: number) => string): string => Array.from({ length: count }, (_, index) => text(index)).join('')

/** Small files that make millions of records, or gigabytes of data. */
const BOMBS: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
  [
    '88 kB of includes that make 3,840,000 records',
    {
      'zones/example.com.yaml': `${HEAD}}\ninclude:\n${repeat(1000, (i) => `  - {file: ../f.yaml, with: {x: a${i}}}\n`)}`,
      'f.yaml': repeat(64, (i) => `"n${i}.\${x}": {type: A, values: [${repeat(60, (j) => `192.0.2.${j}, `)}]}\n`),
    },
    /^f\.yaml:\d+:1: error\[file-too-large\] the definition has more than 500000 records.*included here: zones\/example\.com\.yaml:\d+:\d+/m,
  ],
  [
    '3.3 MB with 100,000 aliases of one text',
    {
      'zones/example.com.yaml': `${HEAD},\n  t: {type: TXT, value: &t ${'x'.repeat(60_000)}},\n${repeat(100_000, (i) => `  a${i}: {type: TXT, value: *t},\n`)}  }\n`,
    },
    /^zones\/example\.com\.yaml:\d+:3: error\[file-too-large\] the definition has more than 67108864 octets of data/m,
  ],
]

for (const command of ['validate', 'plan'])
  test.each(BOMBS)(`${command}: %s are one error, in 512 MB`, { tags: ['long'] }, async (_, files, error) => {
    const { folder: cwd } = openScene({ files })
    const run = await startProgram([command], { cwd, env: { ZONEWRIGHT_TOKEN: TOKEN, NODE_OPTIONS: '--max-old-space-size=512' } })
    expect(await run.ended).toEqual({ status: 1, signal: null })
    const said = run.stdout() + run.stderr()
    expect(said).toMatch(error)
    expect(said.match(/error\[/g)).toHaveLength(1)
  })
