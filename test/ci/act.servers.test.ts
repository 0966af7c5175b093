/** The workflows that `init` writes, and the action, with act: which jobs run for an event, a run of several jobs, and steps in an action. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ciFiles } from '../../src/cli/init/ci-files.ts'
import { cloudNeeds } from '../../src/cli/init/ci-needs.ts'
import { NO_RELEASE } from '../../src/cli/init/release.ts'
import { createScriptedGithub } from '../scripted/code-sites/github.ts'
import { actRunner, type InstalledRelease, runAct, serveRelease } from '../support/act-runner.ts'
import { describeWithTools, LONG_SERVERS } from '../support/skip.ts'
import { git, parseWorkflow, type RunnerScene, runWorkflowJob, type WorkflowEvent } from '../support/workflow-runner.ts'
import { ACT_TOOLS } from './act-repository.ts'
import { commentsOn, openRepository, READ, type Repository, WRITE, zone } from './repository.ts'

const HEAD = 'a'.repeat(40)
const pull = (owner: string) => {
  const head = { sha: HEAD, ref: 'one', repo: { full_name: `${owner}/dns` } }
  return { number: 7, pull_request: { number: 7, head, base: { ref: 'main' } } }
}
const ended = (owner: string, event: string) => ({ workflow_run: { event, head_repository: { full_name: `${owner}/dns` } } })

describeWithTools(
  ACT_TOOLS,
  'the conditions of the workflows, with act and with our interpreter',
  () => {
    const files = ciFiles('github', NO_RELEASE, ['dns.example.net'], cloudNeeds('ZONEWRIGHT_TOKEN'))
    const github = createScriptedGithub('team/dns', {})
    const scene: RunnerScene = {
      bare: '',
      github,
      origin: 'http://127.0.0.1:9',
      secrets: {},
      vars: {},
      env: {},
      stored: new Map(),
    }

    test.each<[string, object, string, readonly string[]]>([
      ['dns.yml pull_request_target', pull('team'), `DNS plan of pull request 7 at ${HEAD}`, ['plan']],
      ['dns.yml pull_request_target', pull('mallory'), `DNS plan of pull request 7 at ${HEAD}`, []],
      ['dns.yml push', {}, '', ['apply']],
      ['dns.yml schedule', {}, '', ['drift']],
      ['dns.yml workflow_dispatch', {}, '', ['plan-main', 'apply']],
      ['dns.yml workflow_dispatch fails', {}, '', ['plan-main']],
      ['dns.yml workflow_dispatch on other', {}, '', []],
      ['dns.yml workflow_run', ended('mallory', 'pull_request'), '', ['comment']],
      ['dns.yml workflow_run', ended('team', 'pull_request'), '', []],
      ['dns.yml workflow_run', ended('mallory', 'merge_group'), '', []],
      ['dns-check.yml pull_request', pull('team'), '', ['check']],
      ['dns-check.yml pull_request', pull('mallory'), '', ['check', 'offline-plan']],
      ['dns-check.yml merge_group', {}, '', ['check', 'plan']],
    ])('%s %#', async (words, payload, title, expected) => {
      const [file = '', name = '', ...more] = words.split(' ')
      const { path, text } = files.find((one) => one.path.endsWith(`/${file}`)) ?? { path: '', text: '' }
      const { jobs, 'run-name': runName = '-', ...workflow } = parse(text)
      const steps = [{ run: more.includes('fails') ? 'false' : 'true' }]
      const ids = Object.keys(jobs)
      for (const id of ids) jobs[id].steps = steps
      const probe = JSON.stringify({ ...workflow, jobs: { ...jobs, title: { name: `<${runName}>`, 'runs-on': 'ubuntu-latest', steps } } })
      const event: WorkflowEvent = { name, payload, sha: HEAD, headSha: HEAD, refName: more.includes('on') ? 'other' : 'main' }
      const { jobs: ran } = await runAct(scene, { path, text: probe }, event)
      const names = [...ran.entries()].filter(([id]) => id !== 'title').map(([, one]) => one.name.replace(`${workflow.name}/`, ''))
      expect(names.sort()).toEqual([...expected].sort())
      if (file === 'dns.yml') expect(ran.get('title')?.name).toBe(`DNS/<${title}>`)
      const needs = { 'plan-main': { result: ran.get('plan-main')?.status === 0 ? 'success' : 'failure' } }
      const ours = await Promise.all(ids.map((job) => runWorkflowJob(scene, { path, text: probe, job }, { ...event, needs })))
      expect(ids.filter((_, index) => ours[index]?.status !== null)).toEqual(ids.filter((id) => ran.has(id)))
    })
  },
  LONG_SERVERS,
)

describeWithTools(
  ACT_TOOLS,
  'a repository, with act',
  () => {
    let release: InstalledRelease
    let repository: Repository
    const path = '.github/workflows/dns.yml'
    const main = () => git(repository.clone, 'rev-parse', 'main')

    beforeAll(async () => {
      release = await serveRelease()
      repository = await openRepository('', { run: actRunner(release), release })
      await repository.applyMain()
    })

    test('a run by hand plans with the credentials that read, and applies with those that write', async () => {
      expect((await repository.push({ 'zones/example.org.yaml': zone('example.org', '192.0.2.84') })).status).toBe(3)
      const { requests, mutations } = repository.scene.proxy
      const before = requests.length
      const event = { name: 'workflow_dispatch', payload: {}, sha: main(), headSha: main(), refName: 'main' }
      const { jobs } = await runAct(repository, { path, text: repository.files[0]?.text ?? '' }, event, release)
      expect([...jobs].map(([id, { status }]) => [id, status])).toEqual([
        ['plan-main', 0],
        ['apply', 0],
      ])
      expect(jobs.get('apply')?.summary).toMatch(/^## Applied the reviewed plan.*2\.84/s)
      expect(requests[before]?.headers.authorization).toBe(`Bearer ${READ}`)
      expect(mutations().at(-1)?.headers.authorization).toBe(`Bearer ${WRITE}`)
    })

    test('the action plans a pull request, names the artifact, and applies the plan after the merge', async () => {
      const action = readFileSync(resolve(import.meta.dirname, '../../action.yml'), 'utf8')
      const checkout = /actions\/checkout@[0-9a-f]{40}/.exec(repository.files[0]?.text ?? '')?.[0]
      const installed = `tarball: '${release.tarball}', checksum: ${release.checksum}`
      const text = `name: DNS
run-name: "${parseWorkflow(repository.files[0]?.text ?? '')['run-name']}"
on: [pull_request_target, push]
permissions: {contents: read, actions: read, pull-requests: write}
jobs:
  plan:
    if: github.event_name == 'pull_request_target'
    runs-on: ubuntu-latest
    environment: dns-read
    steps:
      - uses: ${checkout}
        with: {ref: '\${{ github.event.pull_request.head.sha }}', fetch-depth: 0}
      - id: zonewright
        uses: team/zonewright@v1
        with: {command: plan, zones: "example.com\\nexample.o*", since: origin/main, plan-artifact: kept, ${installed}}
        env: {ZONEWRIGHT_TOKEN: '\${{ secrets.ZONEWRIGHT_READ_TOKEN }}'}
      - run: echo "::notice::$NAME"
        env: {NAME: '\${{ steps.zonewright.outputs.artifact }}'}
  apply:
    if: github.event_name == 'push'
    runs-on: ubuntu-latest
    environment: dns
    steps:
      - uses: ${checkout}
      - uses: team/zonewright@v1
        with: {command: apply, plan-artifact: kept, ${installed}}
        env: {ZONEWRIGHT_TOKEN: '\${{ secrets.ZONEWRIGHT_TOKEN }}'}
`
      const options = { ...release, actions: { 'team/zonewright@v1': action } }
      repository.commit('one', { 'zones/example.com.yaml': zone('example.com', '192.0.2.7') })
      const number = repository.open('one')
      const head = git(repository.clone, 'rev-parse', 'one')
      const repo = { full_name: 'team/dns' }
      const payload = { number, pull_request: { number, head: { sha: head, ref: 'one', repo }, base: { ref: 'main' } } }
      const target = { name: 'pull_request_target', payload, sha: main(), headSha: main(), refName: 'main', baseRef: 'main' }
      const { jobs: planned } = await runAct(repository, { path, text }, target, options)
      expect(planned.get('plan')).toMatchObject({ status: 0, output: expect.stringContaining(`::notice::kept-${head}\n`) })
      expect(commentsOn(repository, number)).toEqual([expect.stringContaining('192.0.2.7')])
      const before = repository.scene.proxy.mutations().length
      const { jobs: applied } = await runAct(repository, { path, text }, repository.pushMerge(number), options)
      expect(applied.get('apply')).toMatchObject({ status: 0, summary: expect.stringContaining('Applied the reviewed plan') })
      expect(repository.scene.proxy.mutations()).toHaveLength(before + 1)
    })
  },
  LONG_SERVERS,
)
