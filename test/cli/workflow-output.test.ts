/** The runner of GitHub Actions reads commands from standard output and standard error. Text from files and servers must not become a command. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Script } from './recording-proxy.ts'
import { openScene, ZONE } from './scene.ts'
import { openWireScene } from './service-scene.ts'

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
  ...['validate', 'validate --verbose', 'plan', 'plan --verbose', 'apply --yes', 'verify --no-dns', 'doctor', 'fmt --check'],
  ...['rollback --last', `rollback ${EVIL}`, `history ${EVIL}`, `plan ${EVIL}`, `plan -c ${EVIL}`, EVIL, `plan --${EVIL}`],
  ...[`import ${EVIL} ${EVIL}`, `export zonefile ${EVIL}`, `explain ${EVIL}`],
].map(
  (line) =>
    [
      line,
      line
        .replaceAll(EVIL, '\0')
        .split(' ')
        .map((word) => word.replace('\0', EVIL)),
    ] as const,
)

/** In a folder of hostile files, and in one of good files. */
async function expectNoCommand(env: Readonly<Record<string, string>>, args: readonly string[]): Promise<void> {
  for (const options of [{ files: FILES }, {}]) {
    const scene = await openWireScene(script, options)
    const { stdout, stderr } = await scene.runWith(env, ...args)
    for (const text of [stdout, stderr]) expect(commandsIn(text), args.join(' ')).toEqual([])
  }
}

test.each(COMMANDS)('in a job: %s', (_, args) => expectNoCommand({ GITHUB_ACTIONS: 'true' }, args))

test.each([['validate'], ['plan'], ['apply', '--yes'], ['verify', '--no-dns'], ['rollback', EVIL]])('%s --format github', (...args) =>
  expectNoCommand({}, [...args, '--verbose', '--format', 'github']),
)

test('fmt lists a file at the top whose name is a command', async () => {
  const scene = openScene({ files: { '::error::x.yaml': `${ZONE}\n\n` }, config: 'zones: [{files: "*.yaml"}]\n' })
  expect((await scene.runWith({ GITHUB_ACTIONS: 'true' }, 'fmt', '--check')).stdout).toBe('\\u003a:error::x.yaml\n')
})

test('does not change text outside GitHub Actions', async () => {
  const scene = openScene({ files: FILES })
  expect((await scene.run('plan')).stderr).toContain('##[')
})

test.each([['--format', 'github'], ['--format=github']])('an error of the command line with %s', async (...format) => {
  const scene = openScene()
  const { stderr } = await scene.run('plan', ...format, `--${EVIL}`)
  expect(stderr).toContain('error[usage]')
  expect(commandsIn(stderr)).toEqual([])
})

const COMMIT = 'a'.repeat(40)
const EVENT = JSON.stringify({ pull_request: { number: 7, head: { sha: 'b'.repeat(40) }, base: { ref: 'main' } } })
const GITHUB = {
  GITHUB_ACTIONS: 'true',
  GITHUB_SERVER_URL: 'https://github.example',
  GITHUB_REPOSITORY: 'team/dns',
  GITHUB_RUN_ID: '1',
  GITHUB_SHA: COMMIT,
}
const GITLAB = {
  GITLAB_CI: 'true',
  CI_PROJECT_URL: 'https://gitlab.example/team/dns',
  CI_JOB_URL: 'https://gitlab.example/1',
  CI_PIPELINE_ID: '1',
}

const PAGES: [Readonly<Record<string, string>>, string, ...string[]][] = [
  [{ ...GITHUB, GITHUB_EVENT_NAME: 'pull_request' }, 'https://github.example/team/dns', `commit/${'b'.repeat(40)}`, 'pull/7'],
  [{ ...GITHUB, GITHUB_EVENT_NAME: 'push', GITHUB_REF_NAME: 'main' }, 'https://github.example/team/dns', `commit/${COMMIT}`],
  [
    { ...GITLAB, CI_COMMIT_SHA: COMMIT, CI_MERGE_REQUEST_IID: '7', CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main' },
    'https://gitlab.example/team/dns/-',
    `commit/${COMMIT}`,
    'merge_requests/7',
  ],
  [{}, ''],
]

test.each(PAGES)('an HTML page links the commit and the pull request of its job: %j', async (env, project, ...pages) => {
  const scene = openScene({ files: { 'zones/example.com.yaml': ZONE, 'event.json': EVENT } })
  const { stdout } = await scene.runWith({ ...env, GITHUB_EVENT_PATH: join(scene.folder, 'event.json') }, 'validate', '--format', 'html')
  expect([...stdout.matchAll(/<a href="([^"]*)">/g)].map(([, url]) => url)).toEqual(pages.map((page) => `${project}/${page}`))
  expect(stdout).toMatch(/ · [0-9-]{10} [0-9:]{5} UTC/)
})
