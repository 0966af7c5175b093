/** The workflows, the pipeline, the action and the hooks, judged by the published schemas and by actionlint. The licences of the schemas are beside them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ciFiles } from '../../src/cli/init/ci-files.ts'
import { ADD_TO_GITHUB_PATH, cloudNeeds, INSTALL_SCRIPT, installPythonPackages, providerNeeds } from '../../src/cli/init/ci-needs.ts'
import { DOWNLOAD_PLANS } from '../../src/cli/init/github-workflows.ts'
import { NO_RELEASE } from '../../src/cli/init/release.ts'
import type { CiSite } from '../../src/cli/init/repository.ts'
import { cli } from '../support/cli.ts'
import { findForeignClient } from '../support/foreign-clients.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'
import { git, type WorkflowStep } from '../support/workflow-runner.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const RELEASE = { tarball: 'https://releases.example.com/zonewright-1.2.3.tgz', checksum: 'ab'.repeat(32) }
const NEEDS = [
  cloudNeeds('ZONEWRIGHT_TOKEN'),
  providerNeeds({
    variables: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
    packages: ['@aws-sdk/client-route-53@3.1.0'],
    pythonPackages: ['octodns==1.2.3'],
    allowed: 'octodns:octodns_x.X',
  }),
  providerNeeds({ variables: [], packages: [], pythonPackages: [], allowed: null }),
]
const filesOf = (site: CiSite) => NEEDS.flatMap((needs) => ciFiles(site, RELEASE, ['dns.example.net'], needs))
const [workflows, pipelines] = [filesOf('github'), filesOf('gitlab')]

describe('the published schemas', () => {
  const judges = Object.fromEntries(
    ['github-workflows', 'github-actions', 'gitlab-ci'].map((name) => {
      const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })
      return [name, ajv.compile(JSON.parse(read(`test/ci/schemas/${name}.json`)))]
    }),
  )

  test.each([
    ...workflows.map(({ path, text }, index) => ['github-workflows', `${path} ${index}`, text] as const),
    ...pipelines.map(({ path, text }, index) => ['gitlab-ci', `${path} ${index}`, text] as const),
    ['github-actions', 'action.yml', read('action.yml')] as const,
    ['gitlab-ci', 'templates/ci/gitlab.yml', read('templates/ci/gitlab.yml')] as const,
    ['gitlab-ci', 'two stages in docs/tasks/ci.md', /^```yaml\n(include:.*?)^```/ms.exec(read('docs/tasks/ci.md'))?.[1] ?? ''] as const,
  ])('%s accepts %s', (schema, _, text) => {
    const accepts = judges[schema]
    expect(accepts?.(parse(text)) ? [] : accepts?.errors).toEqual([])
  })

  test.each([
    ['github-workflows', workflows[0]?.text.replace('runs-on:', 'runs_on:')],
    ['github-actions', read('action.yml').replace('using: composite', 'using: bash')],
    ['gitlab-ci', pipelines[0]?.text.replace('when: always', 'when: sometimes')],
  ])('%s refuses a mistake', (schema, text) => expect(judges[schema]?.(parse(text ?? ''))).toBe(false))
})

describeWithTools(['python3'], 'the script that installs Python packages', () => {
  test('runs no module of the working folder, which may be a checkout', async () => {
    const folder = temporaryDirectory()
    writeFileSync(join(folder, 'venv.py'), "open('ran', 'w')\n")
    const script = installPythonPackages(['x==1']).split('\n')[0]?.replace('-m venv', '-m venv --without-pip') ?? ''
    expect(await runTool('sh', ['-c', `folder=$PWD/own; ${script}`], { cwd: folder })).toMatchObject({ status: 0 })
    expect(['own/python/bin/python3', 'ran'].map((path) => existsSync(join(folder, path)))).toEqual([true, false])
  })
})

const actionlint = findForeignClient('actionlint')

describeWithTools([actionlint], 'actionlint', () => {
  test('accepts the workflows of init, and one that uses the action', async () => {
    const folder = temporaryDirectory()
    mkdirSync(join(folder, '.github/workflows'), { recursive: true })
    mkdirSync(join(folder, '.git'))
    writeFileSync(join(folder, 'action.yml'), read('action.yml'))
    const uses = `name: Uses
on: pull_request_target
permissions: {contents: read, pull-requests: write}
jobs:
  plan:
    runs-on: ubuntu-latest
    steps:
      - id: zonewright
        uses: ./
        with: {command: plan, zones: 'example.com example.net', since: origin/main, comment: false, plan-artifact: x}
      - run: echo "$NAME"
        env: {NAME: '\${{ steps.zonewright.outputs.artifact }}'}
`
    for (const [index, text] of [...workflows.map((one) => one.text), uses].entries())
      writeFileSync(join(folder, `.github/workflows/${index}.yml`), text)
    expect(await runTool(actionlint, ['-no-color', '-shellcheck='], { cwd: folder })).toEqual({ status: 0, stdout: '', stderr: '' })
    writeFileSync(join(folder, '.github/workflows/0.yml'), uses.replace('plan-artifact', 'plan-artefact'))
    expect((await runTool(actionlint, ['-no-color', '-shellcheck='], { cwd: folder })).stdout).toContain('plan-artefact')
  })
})

test('templates/ci/gitlab.yml is the pipeline of init for the service', () => {
  const [pipeline] = ciFiles('gitlab', NO_RELEASE, ['dns.example.net'], cloudNeeds('ZONEWRIGHT_TOKEN'))
  const file = join(root, 'templates/ci/gitlab.yml')
  if (process.env['ZONEWRIGHT_UPDATE_TEMPLATES'] === '1' || !existsSync(file)) writeFileSync(file, pipeline?.text ?? '')
  expect(readFileSync(file, 'utf8')).toBe(pipeline?.text)
})

test('the layout is checked only of files that a pull request changes', () => {
  const checks = [...workflows, ...pipelines].flatMap(({ text }) => text.match(/fmt --check.*/g) ?? [])
  expect([checks.length, checks.filter((line) => !line.includes(' --since '))]).toEqual([2 * NEEDS.length, []])
})

describe('action.yml', () => {
  const { runs } = parse(read('action.yml')) as { readonly runs: { readonly steps: readonly WorkflowStep[] } }

  test('installs like the workflows, and pins the same actions', () => {
    expect(runs.steps.map(({ run }) => run)).toEqual(expect.arrayContaining([INSTALL_SCRIPT + ADD_TO_GITHUB_PATH, DOWNLOAD_PLANS]))
    const pins = (text: string): string[] => [...new Set([...text.matchAll(/uses: (.*)/g)].map(([, uses]) => uses as string))].sort()
    expect(pins(workflows[0]?.text ?? '')).toEqual(expect.arrayContaining(pins(read('action.yml'))))
  })

  test('no script contains an expression', () => {
    for (const { run = '' } of runs.steps) expect(run).not.toContain('${{')
  })
})

test('docs/tasks/ci.md shows the run-name of the workflow', () => {
  expect(read('docs/tasks/ci.md')).toContain(/^run-name: .*$/m.exec(workflows[0]?.text ?? '')?.[0])
})

test('the hooks check what has changed since the last commit', () => {
  const hooks = parse(read('.pre-commit-hooks.yaml')) as readonly Record<string, unknown>[]
  expect(hooks.map(({ id, entry, language, pass_filenames }) => [id, entry, language, pass_filenames])).toEqual([
    ['zonewright-validate', 'zonewright validate --since HEAD', 'system', false],
    ['zonewright-fmt', 'zonewright fmt --check --since HEAD', 'system', false],
  ])
})

describeWithTools(['git'], 'the hooks', () => {
  test('check everything before the first commit, and then what has changed', async () => {
    const folder = temporaryDirectory()
    const hooks = parse(read('.pre-commit-hooks.yaml')) as readonly { readonly entry: string }[]
    const run = async (): Promise<number[]> => {
      const env = { PATH: process.env['PATH'], HOME: folder }
      const runs = await Promise.all(hooks.map(({ entry }) => cli(entry.split(' ').slice(1), { cwd: folder, env })))
      return runs.map(({ status }) => status)
    }
    git(folder, 'init', '-q', '.')
    mkdirSync(join(folder, 'zones'))
    writeFileSync(join(folder, 'zonewright.yaml'), 'providers: {files: {type: octodns, directory: served}}\n')
    writeFileSync(join(folder, 'zones/example.com.yaml'), 'domain:   example.com\nrecords:\n  www: {type: A, value: 192.0.2.300}\n')
    git(folder, 'add', '-A')
    expect(await run()).toEqual([1, 2])
    git(folder, 'commit', '-q', '-m', 'first')
    expect(await run()).toEqual([0, 0])
  })
})
