/** Every command in every situation that a user may be in: an error with its code and a status, and never a program error, with which `cli` rejects. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FaultChoice } from '../../src/providers/memory/memory-provider.ts'
import { cli } from '../support/cli.ts'
import { openScene, type Scene, zoneFiles } from './scene.ts'

const refuse =
  (code: 'provider-unauthorized' | 'provider-unreachable', kinds = ''): FaultChoice =>
  ({ kind }) =>
    kinds.includes(kind) ? null : { kind: 'refused', code, message: code }

const removeZone = ({ folder }: Scene): void => rmSync(join(folder, 'zones/example.com.yaml'))

const ARGUMENTS = ['plan.json', 'list.txt', 'snapshot.json', 'key', 'octodns.yaml', 'ir.json', 'seed.yaml']

const SITUATIONS: readonly (readonly [string, (scene: Scene) => void])[] = [
  ['no config', ({ folder }) => rmSync(join(folder, 'zonewright.yaml'))],
  ['an empty config', ({ write }) => write({ 'zonewright.yaml': '' })],
  ['a wrong token', ({ memory }) => memory.use(refuse('provider-unauthorized'))],
  ['a dead server', ({ memory }) => memory.use(refuse('provider-unreachable'))],
  [
    'a server that fails after its first answer',
    ({ memory }) => {
      memory.set('example.com', 'www 300 A 192.0.2.7\n')
      memory.use(refuse('provider-unreachable', 'list look-up'))
    },
  ],
  [
    'a missing zone',
    (scene) => {
      removeZone(scene)
      scene.write(zoneFiles(['example.net']))
    },
  ],
  [
    'unreadable files, and none in the place of the journal',
    (scene) => {
      removeZone(scene)
      for (const path of ['zones/example.com.yaml', ...ARGUMENTS]) mkdirSync(join(scene.folder, path))
      scene.write({ '.zonewright': '' })
    },
  ],
]

const SERVER = 'provider-unauthorized provider-unreachable provider-unreachable'
const FILE = 'file-unreadable|no-definitions|file-exists|journal-failed'
const PLANS = `config-missing target-missing ${SERVER}`
const MOVES = `config-missing provider-unknown ${SERVER} zone-unknown ${FILE}`

/** The code in each situation, or in all: `-` for success, `report` for an error in a report without codes, `steps` for steps that could not be done. */
const COMMANDS: readonly (readonly [codes: string, ...commands: string[]])[] = [
  [`${PLANS} - ${FILE}`, 'plan', 'plan --usage list.txt', 'apply --yes', 'snapshot -o snapshot.json'],
  [`${PLANS} zone-unknown ${FILE}`, 'plan example.com --out new.json', 'apply example.com --yes --choreograph', 'verify example.com'],
  [MOVES, 'copy --from cloud --to own example.com --yes', 'cutover --from cloud --to own example.com --yes'],
  [`provider-unknown provider-unknown ${SERVER} zone-unknown zone-unknown`, 'import --from cloud example.com -o out'],
  [`provider-unknown provider-unknown ${SERVER} no-definitions no-definitions`, 'import provider cloud'],
  [`no-definitions no-definitions ${SERVER} no-definitions no-definitions`, 'init --from http://127.0.0.1:9/v4'],
  [`config-missing provider-unknown ${SERVER} report report`, 'conformance example.com --target cloud --delete-records --group 1'],
  ['config-missing report report report - - report', 'doctor'],
  [`config-missing target-missing - - - - ${FILE}`, 'zones'],
  [`- target-missing - - - - ${FILE}`, 'validate'],
  [`- target-missing - - - ${FILE} ${FILE}`, 'validate zones/example.com.yaml'],
  [`- target-missing - - - zone-unknown ${FILE}`, 'record add example.com new A 192.0.2.3', 'record rename example.com www web'],
  [`- target-missing - - - zone-unknown ${FILE}`, 'zone remove example.com', 'zone rename example.com example.org'],
  ['steps', 'trace example.com --nameserver 127.0.0.1:9 --resolver 127.0.0.1:9 --parent-server 127.0.0.1:9'],
  [`- - - - - ${FILE} ${FILE}`, 'fmt zones/example.com.yaml'],
  [`- - - - - - ${FILE}`, 'export zonefile', 'render'],
  [`- - - - - zone-unknown ${FILE}`, 'export csv example.com -o plan.json'],
  ['- - - - - - -', 'init --zone example.org'],
  ['config-missing - - - - - -', 'providers'],
  ['config-missing - - - - - journal-unreadable', 'history'],
  [`config-missing - - - - - ${FILE}`, 'unlock example.com --yes'],
  ['config-missing|usage|journal-failed', 'cutover example.com --abort --yes'],
  ['config-missing|run-unknown', 'history 20261121T071813Z-ac1a', 'report --last', 'rollback --last --yes'],
  ['config-missing|plan-file-invalid', 'apply plan.json --yes', 'report plan.json', 'report merge plan.json list.txt'],
  ['config-missing|plan-file-invalid', 'approve plan.json --key key --yes'],
  [
    FILE,
    'plan --zones-from list.txt',
    'import zonefile list.txt',
    'import octodns octodns.yaml',
    'import dnscontrol ir.json',
    'import csv list.txt',
  ],
  [FILE, 'spf', 'serve --seed seed.yaml', 'restore list.txt --data nowhere', 'demo --zones nowhere'],
  ['service-start', 'serve --tls-cert key --tls-key key'],
  ['service-store', 'serve rotate-key --data nowhere', 'backup new.bak --data nowhere'],
  ['nameserver-failed', 'import axfr 127.0.0.1:9 example.com'],
  ['ci-job', 'ci plan', 'ci comment --plan plan.json', 'ci find reviewed-plan', 'ci apply', 'ci drift'],
  ['-', 'fmt --check', 'explain value-invalid'],
]

const ROWS = COMMANDS.flatMap(([codes, ...commands]) => commands.map((command) => [command, codes.split(' ')] as const))

test.each(ROWS)('%s', async (command, codes) => {
  // A command that needs neither a config nor a server ends alike, whatever they are.
  const situations = codes.length === 1 ? SITUATIONS.slice(-1).concat(SITUATIONS.slice(0, 1)) : SITUATIONS
  for (const [at, [situation, prepare]] of situations.entries()) {
    const scene = openScene({ also: ['own'], files: zoneFiles(['example.com']), config: 'zones: [{targets: [cloud]}]\n' })
    scene.write({ 'zonewright.yaml': scene.config().replace(/^ {2}cloud: (.*)$/m, '$&\n  own: $1') })
    prepare(scene)
    const { status, stdout, stderr } = await scene.run(...command.split(' '))
    const said = stdout + stderr
    const code = codes[at] ?? codes[0]
    expect(said, situation).not.toMatch(/program error|^ +at .*:\d+|\[object |\bundefined\b/m)
    expect([situation, status, said]).toEqual([situation, code === '-' ? 0 : 1, expect.stringMatching(patternOf(code))])
  }
})

const patternOf = (code = ''): RegExp =>
  code === 'steps'
    ? /places could not be queried/
    : code === '-'
      ? /\S/
      : code === 'report'
        ? /\b(?:error|failed) .*\S/
        : new RegExp(`error\\[(?:${code})\\] \\S.{10}`)

test('the table has every command', async () => {
  const { stdout } = await cli(['--help'], { cwd: '/' })
  const listed = [...(stdout.split('\nCommands:\n')[1] ?? '').matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name)
  const walked = new Set(ROWS.map(([command]) => command.split(' ')[0]))
  expect(listed.filter((name) => name !== 'help' && !walked.has(name as string))).toEqual([])
})
