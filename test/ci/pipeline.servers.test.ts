/** Whole pipelines of GitLab: merge requests, merges, runs by hand and merge trains, with the file that `init` writes. */
import { beforeAll, expect, test } from 'vitest'
import type { ServiceScene } from '../cli/service-scene.ts'
import { type PipelineRun, runPipeline } from '../support/pipeline-runner.ts'
import { describeWithTools } from '../support/skip.ts'
import { git } from '../support/workflow-runner.ts'
import { openProject, type Project } from './project.ts'
import { READ, WRITE, zone } from './repository.ts'

describeWithTools(['git', 'bash'], 'a pipeline', () => {
  let project: Project
  let scene: ServiceScene
  let clone: string

  beforeAll(async () => {
    project = await openProject()
    ;({ scene, clone } = project)
  })

  const revision = (name: string): string => git(clone, 'rev-parse', name)
  const mutations = (): number => scene.proxy.mutations().length

  const start = async (
    ...[source, sha, variables]: [Parameters<typeof runPipeline>[1]['source'], string, Record<string, string>]
  ): Promise<PipelineRun> => {
    await scene.service.flush()
    return runPipeline(project, { source, sha, variables })
  }
  const push = (sha: string, before: string) => start('push', sha, { CI_COMMIT_BRANCH: 'main', CI_COMMIT_BEFORE_SHA: before })
  const statuses = ({ jobs }: PipelineRun) => [...jobs].map(([name, { status }]) => `${name} ${status}`)

  /** Opens a merge request. */
  function open(files: Readonly<Record<string, string>>): number {
    const number = project.gitlab.nextId()
    const head = project.commit(files, `change-${number}`)
    project.gitlab.pulls.push({
      number,
      head,
      headOwner: 'team',
      headBranch: `change-${number}`,
      base: 'main',
      state: 'open',
      mergeCommit: null,
    })
    return number
  }

  /** Runs the pipeline of a merge request, or, if there are earlier ones of its train, that of the train. */
  async function plan(number: number, before?: readonly number[], target = 'main'): Promise<PipelineRun> {
    const head = revision(`change-${number}`)
    const type = before === undefined ? 'detached' : 'merge_train'
    git(clone, 'checkout', '-q', '--detach', 'main')
    for (const one of before ?? []) git(clone, 'merge', '-q', `change-${one}`)
    if (before !== undefined) git(clone, 'merge', '-q', `change-${number}`)
    const sha = before === undefined ? head : revision('HEAD')
    git(clone, 'push', '-q', '-f', 'origin', `${sha}:refs/merge-requests/${number}/${before === undefined ? 'head' : 'train'}`)
    git(clone, 'checkout', '-q', 'main')
    return start('merge_request_event', sha, {
      CI_MERGE_REQUEST_IID: String(number),
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: target,
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '42',
      CI_MERGE_REQUEST_DIFF_BASE_SHA: git(clone, 'merge-base', 'main', sha),
      CI_MERGE_REQUEST_EVENT_TYPE: type,
      ...(before !== undefined && { CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head }),
    })
  }

  /** Merges a merge request, and runs the pipeline of the push. */
  function merge(number: number): Promise<PipelineRun> {
    const before = revision('main')
    git(clone, 'merge', '-q', '--no-ff', `change-${number}`)
    git(clone, 'push', '-q', 'origin', 'main')
    const found = project.gitlab.pulls.find((one) => one.number === number)
    Object.assign(found ?? {}, { state: 'merged', mergeCommit: revision('main') })
    return push(revision('main'), before)
  }

  test('of a merge request reads, and its note links to the manual job; that of the merge applies the plan', async () => {
    const number = open({ 'zones/example.com.yaml': zone('example.com', '192.0.2.7') })
    const before = scene.proxy.requests.length
    expect(statuses(await plan(number))).toEqual(['dns:check 0', 'dns:plan 0'])
    expect(new Set(scene.proxy.requests.slice(before).map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${READ}`]))
    const link = '<a href="https://gitlab.example/team/dns/-/pipelines/new?ref=main">A run by hand</a>'
    expect(project.gitlab.comments.map(({ body }) => body)).toEqual([expect.stringContaining(link)])
    expect(statuses(await merge(number))).toEqual(['dns:apply 0'])
    expect(scene.proxy.mutations().at(-1)?.headers.authorization).toBe(`Bearer ${WRITE}`)
  })

  test('by hand plans, and applies only once somebody starts its second job', async () => {
    const before = revision('main')
    const sha = project.commit({ 'zones/example.com.yaml': zone('example.com', '192.0.2.8') })
    const pushed = await push(sha, before)
    const page = 'start a run by hand for main: https://gitlab.example/team/dns/-/pipelines/new?ref=main\n'
    expect([statuses(pushed), pushed.jobs.get('dns:apply')?.output]).toEqual([['dns:apply 3'], expect.stringContaining(page)])
    const count = mutations()
    const ran = await start('web', sha, { CI_COMMIT_BRANCH: 'main' })
    expect([statuses(ran), ran.manual, mutations()]).toEqual([['dns:plan-main 0'], ['dns:apply-main'], count])
    await ran.play('dns:apply-main')
    expect([ran.jobs.get('dns:apply-main'), mutations()]).toEqual([expect.objectContaining({ status: 0 }), count + 1])
  })

  test('of a train plans both merge requests without the token that writes, and each merge applies its own plan', async () => {
    const numbers = ['com', 'net'].map((name) => open({ [`zones/example.${name}.yaml`]: zone(`example.${name}`, '192.0.2.9') }))
    for (const number of numbers) expect(statuses(await plan(number))).toEqual(['dns:check 0', 'dns:plan 0'])
    const [first = 0, second = 0] = numbers
    const [requests, notes] = [scene.proxy.requests.length, JSON.stringify(project.gitlab.comments)]
    expect(statuses(await plan(first, []))).toEqual(['dns:check 0', 'dns:plan 0'])
    const both = await plan(second, [first])
    expect([statuses(both), both.jobs.get('dns:plan')?.output]).toEqual([
      ['dns:check 0', 'dns:plan 0'],
      expect.stringMatching(/example\.com\..*2\.9.*example\.net\..*2\.9/s),
    ])
    expect(new Set(scene.proxy.requests.slice(requests).map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${READ}`]))
    expect(JSON.stringify(project.gitlab.comments)).toBe(notes)
    for (const number of numbers) {
      const before = mutations()
      expect([statuses(await merge(number)), mutations()]).toEqual([['dns:apply 0'], before + 1])
    }
  })

  test('of a merge request to another branch gets no plan, and nothing of it is applied once it is for the default branch', async () => {
    git(clone, 'push', '-q', 'origin', 'main:refs/heads/lax')
    const number = open({ 'zones/example.com.yaml': zone('example.com', '192.0.2.77') })
    const before = [scene.proxy.requests.length, mutations()]
    expect(statuses(await plan(number, undefined, 'lax'))).toEqual(['dns:check 0'])
    expect(scene.proxy.requests.length).toBe(before[0])
    expect([statuses(await merge(number)), mutations()]).toEqual([['dns:apply 3'], before[1]])
  })

  test('with jobs of the branch gets no protected variable, and applies nothing', async () => {
    const job = (script: string) => `{environment: dns, script: ['${script}']}`
    const text = `print: ${job('test -z "$ZONEWRIGHT_TOKEN" || exit 7')}\napply: ${job('zonewright ci apply --unreviewed apply')}\n`
    const number = open({ '.gitlab-ci.yml': text, 'zones/example.com.yaml': zone('example.com', '192.0.2.66') })
    const head = revision(`change-${number}`)
    const before = mutations()
    const runs = [await plan(number), await plan(number, [])]
    for (const variables of [{ CI_COMMIT_BRANCH: `change-${number}` }, { CI_COMMIT_TAG: 'main' }])
      runs.push(await start('push', head, variables as Record<string, string>))
    for (const { jobs } of runs) expect([jobs.get('print')?.status, jobs.get('apply')?.status]).toEqual([0, 1])
    expect(runs.map(({ jobs }) => /not for the default branch|CI_COMMIT_BRANCH is not set/.test(jobs.get('apply')?.output ?? ''))).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(mutations()).toBe(before)
    expect(statuses(await start('push', head, { CI_COMMIT_BRANCH: 'main' }))[0]).toBe('print 7')
  })

  test.each([
    [
      'approvals',
      `approvals: {needed: 1, keys: {a: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINppD07PxU/WxJySaapYUSnPWRTGeuqLNCE2ve3rQwZB'}}\n`,
      '',
    ],
    ['policies', 'policies: [rules.yaml]\n', 'policies: []\n'],
  ])('of a merge that deletes %s applies nothing with a shallow clone', async (name, lines, changed) => {
    const rule =
      '- {name: a, each: record_set, require: {properties: {ttl: {minimum: 60}}}, message: a, tests: [{given: {ttl: 1}, expect: fail}]}\n'
    const shallow = project.pipeline.replace("GIT_DEPTH: '0'", "GIT_DEPTH: '1'")
    project.commit({ 'zonewright.yaml': scene.config() + lines, 'rules.yaml': rule })
    const number = open({
      'zonewright.yaml': scene.config() + changed,
      'zones/example.net.yaml': zone('example.net', `192.0.2.${90 + name.length}`),
    })
    expect(statuses(await plan(number))).toEqual(['dns:check 0', 'dns:plan 0'])
    project.commit({ '.gitlab-ci.yml': shallow })
    const before = mutations()
    const merged = await merge(number)
    project.commit({ '.gitlab-ci.yml': project.pipeline })
    expect([statuses(merged), merged.jobs.get('dns:apply')?.output]).toEqual([
      ['dns:apply 3'],
      expect.stringMatching(/Nothing is applied.*GIT_DEPTH: 0/),
    ])
    expect(mutations()).toBe(before)
  })
})
