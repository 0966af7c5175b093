/** The runner of GitHub Actions reads commands from standard output and standard error. Text from files and servers must not become a command. */
import { expect, test } from 'vitest'
import type { CliResult } from '../support/cli.ts'
import type { Script } from './recording-proxy.ts'
import { ZONE } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

const EVIL = '##[add-mask]x ::error::forged'

/** Commands of the program. The runner searches for `##[` only in lines that do not begin with a command. */
const OWN = /^::(?:(?:error|warning|notice) [^:]*title=[^:]*|group|endgroup)::/

/** A command for the runner: `::` at the start of a line, `##[` anywhere. */
const commandsIn = (text: string): string[] =>
  text.split(/\r\n|\r|\n/).filter((line) => !OWN.test(line) && (/^\s*::/.test(line) || line.includes('##[')))

/** A server with only hostile text. */
const script: Script = ({ method, path }) => {
  if (method !== 'GET') return { status: 400, body: JSON.stringify({ errors: [{ field: EVIL, reason: EVIL }] }) }
  const data = path.includes('/records')
    ? [{ id: 1, type: EVIL, name: EVIL, target: EVIL, ttl_sec: 300 }]
    : [{ id: 1, domain: 'example.com', type: 'master', status: 'active', soa_email: `${EVIL}@example.com`, description: EVIL }]
  return { body: JSON.stringify({ data, page: 1, pages: 1, results: 1 }) }
}

const FILES = {
  'zones/example.com.yaml': `${ZONE}  '${EVIL}': {type: A, value: '${EVIL}'}\n`,
  'zones/::error::.yaml': `domain: '${EVIL}'\nrecords: {}\n`,
  'zones/##[error].yaml': `${EVIL}: '\n`,
}

const COMMANDS = [
  ['validate'],
  ['validate', '--verbose'],
  ['plan'],
  ['plan', '--verbose'],
  ['apply', '--yes'],
  ['verify'],
  ['rollback', '--last'],
  ['rollback', EVIL],
  ['history', EVIL],
  ['doctor'],
  ['plan', EVIL],
  ['plan', '-c', EVIL],
  ['fmt', '--check'],
  [EVIL],
  ['plan', `--${EVIL}`],
  ['import', EVIL, EVIL],
  ['export', 'zonefile', EVIL],
  ['explain', EVIL],
]

const scenes = (): Promise<ServiceScene>[] => [openServiceScene({ files: FILES, script }), openServiceScene({ script })]

function expectNoCommand({ stdout, stderr }: CliResult, command: readonly string[]): void {
  expect(commandsIn(stderr), command.join(' ')).toEqual([])
  expect(commandsIn(stdout), command.join(' ')).toEqual([])
}

test.each(COMMANDS.map((command) => [command.join(' '), command] as const))('in a job: %s', async (_, command) => {
  for (const scene of await Promise.all(scenes())) expectNoCommand(await scene.runWith({ GITHUB_ACTIONS: 'true' }, ...command), command)
})

test.each(['validate', 'plan', 'apply', 'verify', 'rollback'])('%s --format github', async (command) => {
  for (const scene of await Promise.all(scenes())) {
    const more = command === 'apply' ? ['--yes'] : command === 'rollback' ? [EVIL] : []
    expectNoCommand(await scene.run(command, ...more, '--verbose', '--format', 'github'), [command])
  }
})

test('does not change text outside GitHub Actions', async () => {
  const scene = await openServiceScene({ files: FILES })
  const { stderr } = await scene.run('plan')
  expect(stderr).toContain('##[')
})

test.each([['--format', 'github'], ['--format=github']])('an error of the command line with %s', async (...format) => {
  const scene = await openServiceScene()
  const { stderr } = await scene.run('plan', ...format, `--${EVIL}`)
  expect(stderr).toContain('error[usage]')
  expect(commandsIn(stderr)).toEqual([])
})
