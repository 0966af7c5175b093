/** Each job needs each of its permissions, and only the default branch may use the environments with secrets. */
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { describeWithTools } from '../support/skip.ts'
import { git, type JobRun, type WorkflowEvent } from '../support/workflow-runner.ts'
import { openRepository, type Repository, WRITE, zone } from './repository.ts'

describeWithTools(['git', 'bash', 'curl', 'unzip', 'zip'], 'the workflows', () => {
  let repository: Repository
  let number: number
  let fork: number
  let merge: WorkflowEvent

  const revision = (name: string): string => git(repository.clone, 'rev-parse', name)
  const onMain = (name: string, payload = {}): WorkflowEvent => ({
    name,
    payload,
    sha: revision('main'),
    headSha: revision('main'),
    refName: 'main',
  })

  beforeAll(async () => {
    repository = await openRepository()
    await repository.applyMain()
    repository.commit('merged', { 'zones/example.com.yaml': zone('example.com', '192.0.2.5') })
    const merged = repository.open('merged')
    expect((await repository.plan(merged)).status).toBe(0)
    merge = repository.pushMerge(merged)
    repository.commit('one', { 'zones/example.net.yaml': zone('example.net', '192.0.2.7') })
    repository.commit('fork', { 'zones/example.net.yaml': zone('example.net', '192.0.2.8') })
    number = repository.open('one')
    fork = repository.open('fork', 'mallory')
  })

  const followFork = (): Promise<JobRun> => {
    const { github } = repository
    const [id, head] = [github.nextId(), revision('fork')]
    const head_repository = { full_name: 'mallory/dns', owner: { login: 'mallory' } }
    const kept = { id, event: 'pull_request', path: '.github/workflows/dns-check.yml', headSha: head, headBranch: 'fork' }
    github.runs.push({ ...kept, headRepository: head_repository.full_name, conclusion: 'success' })
    const run = { id, html_url: 'https://github.example/', event: 'pull_request', head_sha: head, head_branch: 'fork', head_repository }
    return repository.job('dns.yml', 'comment', onMain('workflow_run', { workflow_run: { ...run, conclusion: 'success' } }))
  }

  const START: Readonly<Record<string, () => Promise<JobRun>>> = {
    plan: () => repository.plan(number),
    'plan-main': () => repository.job('dns.yml', 'plan-main', onMain('workflow_dispatch')),
    apply: () => repository.job('dns.yml', 'apply', merge),
    drift: () => repository.drift(),
    comment: followFork,
    check: () => repository.check(number),
    'offline-plan': () => repository.check(fork, 'offline-plan'),
  }

  test.each([
    ['plan', 'contents', '', 'fatal: repository not found'],
    ['plan', 'pull-requests', '', 'cannot read pull request'],
    ['plan', 'pull-requests', 'read', 'cannot comment: '],
    ['plan-main', 'contents', '', 'fatal: repository not found'],
    ['apply', 'contents', '', 'fatal: repository not found'],
    ['apply', 'actions', '', 'cannot read the runs of .github/workflows/dns.yml: '],
    ['apply', 'pull-requests', '', 'cannot find the merged pull request: '],
    ['drift', 'contents', '', 'fatal: repository not found'],
    ['drift', 'issues', '', 'cannot read the issues: '],
    ['drift', 'issues', 'read', 'cannot open an issue: '],
    ['comment', 'actions', '', 'cannot look for the artifact zonewright-fork-plan: '],
    ['comment', 'pull-requests', '', 'cannot find the pull request: '],
    ['comment', 'pull-requests', 'read', 'cannot comment: '],
    ['check', 'contents', '', 'fatal: repository not found'],
    ['offline-plan', 'contents', '', 'fatal: repository not found'],
    ['offline-plan', 'actions', '', 'cannot look for the artifact zonewright-snapshot: '],
  ])('need in %s the permission %s, not %j', async (name, permission, level, message) => {
    repository.on.workflow = (text) => {
      const workflow = parse(text)
      const permissions = workflow.jobs[name].permissions ?? workflow.permissions
      expect(permissions).toHaveProperty(permission)
      if (level === '') delete permissions[permission]
      else permissions[permission] = level
      return JSON.stringify(workflow)
    }
    const before = repository.scene.proxy.mutations().length
    const { status, output } = (await START[name]?.()) ?? {}
    expect([status, output]).toEqual([1, expect.stringContaining(message)])
    if (!message.startsWith('fatal')) expect(output).toContain('403: Resource not accessible by integration')
    expect(repository.scene.proxy.mutations()).toHaveLength(before)
  })

  test.each<[string, Partial<WorkflowEvent>]>([
    ['a tag', { name: 'push', ref: 'refs/tags/main' }],
    ['another branch', { name: 'push', refName: 'one' }],
    ['a pull request', { name: 'pull_request' }],
    ['the base of a pull request', { name: 'pull_request_target' }],
    ['a merge group', { name: 'merge_group', refName: 'gh-readonly-queue/main/pr-1' }],
  ])('apply nothing for %s, even without an environment and conditions', async (_, event) => {
    repository.on.workflow = (text) => {
      const { jobs, ...workflow } = parse(text)
      const { if: _if, needs: _needs, environment: _environment, ...apply } = jobs.apply
      return JSON.stringify({ ...workflow, jobs: { apply } }).replaceAll('secrets.ZONEWRIGHT', 'vars.ZONEWRIGHT')
    }
    Object.assign(repository.vars, { ZONEWRIGHT_TOKEN: WRITE })
    const repo = { full_name: repository.github.repository }
    const payload = { number, pull_request: { number, head: { sha: revision('one'), ref: 'one', repo }, base: { ref: 'main' } } }
    const before = repository.scene.proxy.mutations().length
    const ran = await repository.job('dns.yml', 'apply', { ...merge, payload, ...event })
    expect(ran).toMatchObject({ status: 1, output: expect.stringContaining('this job is not for the default branch') })
    expect(repository.scene.proxy.mutations()).toHaveLength(before)
  })

  test.each<[string, string, Partial<WorkflowEvent>]>([
    ['a run by hand for a branch', 'refs/heads/one', { name: 'workflow_dispatch', refName: 'one' }],
    ['a tag', 'refs/tags/main', { name: 'push', ref: 'refs/tags/main' }],
    ['a pull request', 'refs/pull/7/merge', { name: 'pull_request', payload: { number: 7 }, refName: 'one' }],
    ['a merge group', 'refs/heads/gh-readonly-queue/main/pr-1', { name: 'merge_group', refName: 'gh-readonly-queue/main/pr-1' }],
  ])('of a branch get no environment for %s', async (_, ref, event) => {
    for (const [environment, secret] of [
      ['dns', 'ZONEWRIGHT_TOKEN'],
      ['dns-read', 'ZONEWRIGHT_READ_TOKEN'],
    ]) {
      const steps = [{ run: 'test -z "$SECRET" || exit 7', env: { SECRET: `\${{ secrets.${secret} }}` } }]
      repository.on.workflow = () => JSON.stringify({ name: 'DNS', jobs: { evil: { environment, steps }, plain: { steps } } })
      const own = { ...onMain('push'), ...event }
      const refused = `Branch "${ref}" is not allowed to deploy to ${environment} due to environment protection rules.`
      expect(await repository.job('dns.yml', 'evil', own)).toMatchObject({ status: 1, output: refused })
      expect((await repository.job('dns.yml', 'plain', own)).status).toBe(0)
      expect((await repository.job('dns.yml', 'evil', onMain('push'))).status).toBe(7)
    }
  })
})
