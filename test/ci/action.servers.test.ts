/** The steps of `action.yml`, with the built program. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { builtProgram } from '../support/built-program.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { git, runAction } from '../support/workflow-runner.ts'
import { commentsOn, openRepository, READ, type Repository, zone } from './repository.ts'

const ACTION = readFileSync(resolve(import.meta.dirname, '../../action.yml'), 'utf8')

describeWithTools(['git', 'bash'], 'the action', () => {
  let repository: Repository
  let path: string
  let number: number

  beforeAll(async () => {
    repository = await openRepository()
    await repository.applyMain()
    const folder = temporaryDirectory()
    writeFileSync(join(folder, 'zonewright'), `#!/bin/sh\nexec '${process.execPath}' '${await builtProgram()}' "$@"\n`)
    chmodSync(join(folder, 'zonewright'), 0o755)
    path = `${folder}:${process.env['PATH']}`
    repository.commit('one', {
      'zones/example.com.yaml': zone('example.com', '192.0.2.7'),
      'zones/example.net.yaml': zone('example.net', '192.0.2.8'),
    })
    number = repository.open('one')
  })

  const run = async (inputs: Readonly<Record<string, string>>, owner = 'team/dns', branch = 'one') => {
    const workspace = temporaryDirectory()
    const temp = temporaryDirectory()
    git(workspace, 'clone', '-q', repository.bare, '.')
    git(workspace, 'checkout', '-q', `origin/${branch}`)
    const head = git(workspace, 'rev-parse', 'HEAD')
    const event = join(temp, 'event.json')
    const pull = { number, head: { sha: head, repo: { full_name: owner } }, base: { ref: 'main' } }
    writeFileSync(event, JSON.stringify({ number, pull_request: pull, repository: { default_branch: 'main' } }))
    const env = {
      PATH: path,
      HOME: temp,
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_API_URL: repository.origin,
      GITHUB_SERVER_URL: 'https://github.example',
      GITHUB_REPOSITORY: 'team/dns',
      GITHUB_RUN_ID: '1',
      GITHUB_SHA: head,
      GITHUB_REF_NAME: 'main',
      GITHUB_REF: 'refs/heads/main',
      GITHUB_EVENT_NAME: inputs['command'] === 'apply' ? 'push' : 'pull_request_target',
      GITHUB_EVENT_PATH: event,
      GITHUB_WORKFLOW_REF: 'team/dns/.github/workflows/x.yml@refs/heads/main',
      GITHUB_OUTPUT: join(temp, 'output'),
      RUNNER_TEMP: temp,
      ZONEWRIGHT_TOKEN: READ,
    }
    const files = { output: join(temp, 'output') }
    const github = { token: repository.token }
    return runAction({ scene: repository, run: 1, workspace, temp, files, event: { sha: head }, github }, ACTION, inputs, env)
  }

  test('plans the named zones, comments and keeps the plan', async () => {
    await repository.scene.service.flush()
    const { status, output } = await run({ command: 'plan', zones: 'example.com\nexample.o*', since: 'origin/main' })
    expect(output).toContain('192.0.2.7')
    expect(status).toBe(0)
    expect(commentsOn(repository, number)).toEqual([expect.stringContaining('192.0.2.7')])
    expect(commentsOn(repository, number)[0]).not.toContain('192.0.2.8')
    expect(repository.github.artifacts.map(({ name }) => name)).toEqual([expect.stringMatching(/^zonewright-plan-[0-9a-f]{40}$/)])
  })

  test('refuses a pull request from a fork in a job with secrets', async () => {
    const before = repository.scene.proxy.requests.length
    expect(await run({ command: 'plan' }, 'mallory/dns')).toMatchObject({ status: 1, output: expect.stringContaining('is from a fork') })
    expect(repository.scene.proxy.requests).toHaveLength(before)
  })

  test('applies with the config that the input names', async () => {
    const { status, output } = await run({ command: 'apply', unreviewed: 'apply', 'trusted-config': 'missing.yaml' }, 'team/dns', 'main')
    expect(output).toContain('missing.yaml does not exist')
    expect(status).toBe(1)
  })

  test.each(['plan', 'drift'])('%s takes no zone for an option', async (command) => {
    for (const zones of ['--allow=deletes', '--']) {
      const { status, output } = await run({ command, zones, comment: 'false' })
      expect([status, output]).toEqual([1, expect.stringContaining(`there is no definition of ${zones}`)])
    }
  })

  test('refuses another command', async () => {
    expect(await run({ command: 'plan; rm -rf x' })).toMatchObject({ status: 1, output: expect.stringContaining('must be plan, apply') })
  })
})
