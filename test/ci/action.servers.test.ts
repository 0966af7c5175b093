/** A workflow that uses `action.yml`, with the built program. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { builtProgram } from '../support/built-program.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { git, type JobRun, parseWorkflow, runWorkflowJob, type WorkflowEvent } from '../support/workflow-runner.ts'
import { commentsOn, openRepository, type Repository, zone } from './repository.ts'

const ACTION = readFileSync(resolve(import.meta.dirname, '../../action.yml'), 'utf8')

describeWithTools(['git', 'bash', 'curl', 'unzip', 'zip'], 'the action', () => {
  let repository: Repository
  let number: number
  let unreviewed: WorkflowEvent

  beforeAll(async () => {
    repository = await openRepository()
    await repository.applyMain()
    const folder = temporaryDirectory()
    writeFileSync(join(folder, 'zonewright'), `#!/bin/sh\nexec '${process.execPath}' '${await builtProgram()}' "$@"\n`)
    chmodSync(join(folder, 'zonewright'), 0o755)
    Object.assign(repository.env, { PATH: `${folder}:${process.env['PATH']}` })
    repository.commit('one', {
      'zones/example.com.yaml': zone('example.com', '192.0.2.7'),
      'zones/example.net.yaml': zone('example.net', '192.0.2.8'),
    })
    number = repository.open('one')
    const before = main()
    expect((await repository.push({ 'zones/example.org.yaml': zone('example.org', '192.0.2.9') })).status).toBe(3)
    unreviewed = { name: 'push', payload: { before, after: main() }, sha: main(), headSha: main(), refName: 'main' }
  })

  const main = () => git(repository.clone, 'rev-parse', 'main')

  /** Runs a workflow whose only job uses the action: with the credentials that write, and a default checkout, for `apply`. */
  const run = async (inputs: Readonly<Record<string, string>>, given?: Partial<WorkflowEvent>): Promise<JobRun> => {
    await repository.scene.service.flush()
    const isApply = inputs['command'] === 'apply'
    const secret = isApply ? 'ZONEWRIGHT_TOKEN' : 'ZONEWRIGHT_READ_TOKEN'
    const uses = 'team/zonewright@v1'
    const env = Object.fromEntries(
      [['ZONEWRIGHT_TOKEN', secret], ['ZONEWRIGHT_PLAN_KEY']].map(([to = '', from = to]) => [to, `\${{ secrets.${from} }}`]),
    )
    const head = { sha: git(repository.clone, 'rev-parse', 'one'), ref: 'one', repo: { full_name: 'team/dns' } }
    const checkout = {
      uses: 'actions/checkout@v4',
      with: isApply ? {} : { ref: head.sha, 'fetch-depth': 0 },
    }
    // A fetch that ran hooks of the checkout would fail.
    const hook = { run: `printf '#!/bin/sh\nexit 1\n' > .git/hooks/reference-transaction && chmod +x .git/hooks/*` }
    const jobs = { dns: { environment: isApply ? 'dns' : 'dns-read', steps: [checkout, hook, { uses, with: inputs, env }] } }
    const permissions = { contents: 'read', actions: 'read', 'pull-requests': 'write', issues: 'write' }
    const { 'run-name': runName } = parseWorkflow(repository.files[0]?.text ?? '')
    const text = JSON.stringify({ name: 'DNS', 'run-name': runName, permissions, env: {}, jobs })
    const payload = { number, pull_request: { number, head, base: { ref: 'main' } } }
    const event = { name: 'pull_request_target', payload, sha: main(), headSha: main(), refName: 'main', baseRef: 'main', ...given }
    return runWorkflowJob({ ...repository, actions: { [uses]: ACTION } }, { path: '.github/workflows/dns.yml', text, job: 'dns' }, event)
  }

  test('plans the named zones, comments and keeps the plan', async () => {
    const { status, output } = await run({ command: 'plan', zones: 'example.com\nexample.o*', since: 'origin/main' })
    expect(output).toContain('192.0.2.7')
    expect(status).toBe(0)
    expect(commentsOn(repository, number)).toEqual([expect.stringContaining('192.0.2.7')])
    expect(commentsOn(repository, number)[0]).not.toContain('192.0.2.8')
    expect(repository.github.artifacts.at(-1)?.name).toMatch(/^zonewright-plan-[0-9a-f]{40}$/)
  })

  test('refuses a pull request from a fork in a job with secrets', async () => {
    const before = repository.scene.proxy.requests.length
    const head = { sha: main(), repo: { full_name: 'mallory/dns' } }
    const payload = { number, pull_request: { number, head, base: { ref: 'main' } } }
    expect(await run({ command: 'plan' }, { payload })).toMatchObject({ status: 1, output: expect.stringContaining('is from a fork') })
    expect(repository.scene.proxy.requests).toHaveLength(before)
  })

  test('applies the plan of a pull request after the merge, and fetches what a default checkout lacks', async () => {
    const artifact = { 'plan-artifact': '--no-comment' }
    expect((await run({ command: 'plan', since: 'origin/main', ...artifact })).status).toBe(0)
    const before = repository.scene.proxy.mutations().length
    const merged = await run({ command: 'apply', ...artifact }, repository.pushMerge(number))
    expect([merged.status, merged.output]).toEqual([0, expect.not.stringContaining('fetch-depth')])
    expect(repository.scene.proxy.mutations()).toHaveLength(before + 2)
  })

  test.each<[Readonly<Record<string, string>>, string]>([
    [{ command: 'plan', zones: '--allow=deletes' }, 'there is no definition of --allow=deletes'],
    [{ command: 'plan', zones: '--' }, 'there is no definition of --'],
    [{ command: 'plan', since: '--no-comment' }, 'cannot read the config of --no-comment: '],
    [{ command: 'plan', config: '--no-comment' }, 'cannot read the config of refs/remotes/origin/main: there is none'],
    [{ command: 'drift', zones: '--no-issue' }, 'there is no definition of --no-issue'],
    [{ command: 'drift', config: '--no-issue' }, '--no-issue does not exist'],
    [{ command: 'apply', since: '--no-since', unreviewed: 'apply' }, 'cannot compare with --no-since'],
    [{ command: 'apply', config: '--unreviewed=apply' }, '--unreviewed=apply does not exist'],
    [{ command: 'apply', unreviewed: '--wait=1' }, "'--wait=1' is invalid"],
    [{ command: 'apply', unreviewed: 'apply', 'trusted-config': '--config=x' }, '--config=x does not exist'],
    [{ command: 'plan; rm -rf x' }, 'must be plan, apply'],
  ])('takes no input of %j for an option', async (inputs, message) => {
    const before = repository.scene.proxy.mutations().length
    const { status, output } = await run({ comment: 'false', ...inputs }, inputs['command'] === 'apply' ? unreviewed : {})
    expect([status, output]).toEqual([1, expect.stringContaining(message)])
    expect(repository.scene.proxy.mutations()).toHaveLength(before)
  })
})
