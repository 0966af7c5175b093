/** The pipeline that `init` writes for GitLab, with gitlab-ci-local: rules, scripts, variables and artifacts are its own. Jobs run on this machine. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { type InstalledRelease, serveRelease } from '../support/act-runner.ts'
import { findForeignClient } from '../support/foreign-clients.ts'
import { describeWithTools, LONG_SERVERS } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'
import { git } from '../support/workflow-runner.ts'
import { openProject, type Project } from './project.ts'
import { READ, WRITE, zone } from './repository.ts'

const program = findForeignClient('gitlab-ci-local')
const MERGE_REQUEST = { CI_PIPELINE_SOURCE: 'merge_request_event', CI_COMMIT_BRANCH: '', CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main' }
const onMain = (source: string) => ({ CI_PIPELINE_SOURCE: source, CI_COMMIT_BRANCH: 'main' })

describeWithTools(
  [program, 'git', 'rsync', 'curl', 'openssl', 'tar', 'sha256sum'],
  'the pipeline with gitlab-ci-local',
  () => {
    let project: Project
    let release: InstalledRelease
    let pipelines = 100

    beforeAll(async () => {
      release = await serveRelease()
      project = await openProject(release)
    })

    /** Runs gitlab-ci-local in a clone at a commit, with the variables of GitLab's runner. */
    async function run(words: readonly string[], variables: Readonly<Record<string, string>>) {
      const { scene, api, bare } = project
      await scene.service.flush()
      // The jobs' folders are beside the clone: inside it, it would be their outermost repository.
      const outer = temporaryDirectory()
      git(outer, 'clone', '-q', bare, 'dns')
      const cwd = join(outer, 'dns')
      git(cwd, 'checkout', '-q', variables['CI_COMMIT_SHA'] ?? 'main')
      git(cwd, 'remote', 'add', 'gcl-origin', 'https://gitlab.example/team/dns.git')
      pipelines += 1
      const given: Readonly<Record<string, string>> = {
        GITLAB_CI: 'true',
        CI_API_V4_URL: `${api}/api/v4`,
        CI_PROJECT_ID: '42',
        CI_PIPELINE_ID: String(pipelines),
        CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '42',
        ...Object.fromEntries(project.variables.map(({ name, value }) => [name, value])),
        ...variables,
      }
      const all = Object.entries(given).flatMap(([name, value]) => ['--variable', `${name}=${value}`])
      const [home, TMPDIR] = [temporaryDirectory(), temporaryDirectory()]
      const options = [
        '--home',
        home,
        '--force-shell-executor',
        '--shell-isolation',
        '--state-dir',
        '../state',
        '--no-color',
        ...all,
        ...words,
      ]
      const env = { HOME: home, TMPDIR, CURL_CA_BUNDLE: release.authority, GCL_IGNORE_PREDEFINED_VARS: Object.keys(given).join(',') }
      const { stdout, stderr } = await runTool(program, options, { cwd, env })
      const kept = join(cwd, 'plan.json')
      const ended = [...(stdout + stderr).matchAll(/^ (PASS|FAIL) +(\S+)/gm)].map(([, result, job]) => `${job} ${result}`)
      const plan = existsSync(kept) ? readFileSync(kept, 'utf8') : ''
      return { stdout, output: stdout + stderr, jobs: [...new Set(ended)].sort(), pipeline: pipelines, plan }
    }

    test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
      ['a merge request', MERGE_REQUEST, ['dns:check', 'dns:plan']],
      ['a merge request from a fork', { ...MERGE_REQUEST, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '99' }, ['dns:check']],
      ['a push', onMain('push'), ['dns:apply']],
      ['a push to another branch', { ...onMain('push'), CI_COMMIT_BRANCH: 'other' }, []],
      ['a run by hand', onMain('web'), ['dns:plan-main', 'dns:apply-main manual']],
      ['a run by hand for another branch', { ...onMain('web'), CI_COMMIT_BRANCH: 'other' }, []],
      ['a schedule', onMain('schedule'), ['dns:drift']],
    ])('%s has its jobs', async (_, variables, expected) => {
      const { stdout } = await run(['--list-json'], variables)
      const jobs = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as readonly { readonly name: string; readonly when: string }[]
      const shown = jobs.filter(({ when }) => when !== 'never')
      expect(shown.map(({ name, when }) => (when === 'manual' ? `${name} manual` : name)).sort()).toEqual([...expected].sort())
    })

    test('a merge request is planned with the credentials that read, and its plan is applied after the merge', async () => {
      const { scene, gitlab, clone, commit } = project
      const before = git(clone, 'rev-parse', 'main')
      const head = commit({ 'zones/example.com.yaml': zone('example.com', '192.0.2.7') }, 'change')
      gitlab.pulls.push({ number: 5, head, headOwner: 'team', headBranch: 'change', base: 'main', state: 'open', mergeCommit: null })
      const seen = scene.proxy.requests.length
      const variables = { ...MERGE_REQUEST, CI_MERGE_REQUEST_IID: '5', CI_COMMIT_SHA: head, CI_MERGE_REQUEST_DIFF_BASE_SHA: before }
      const { jobs, output, pipeline, plan } = await run([], variables)
      expect([jobs, output]).toEqual([['dns:check PASS', 'dns:plan PASS'], expect.stringContaining('192.0.2.7')])
      expect(gitlab.comments.map(({ body }) => body)).toEqual([expect.stringContaining('192.0.2.7')])
      expect(new Set(scene.proxy.requests.slice(seen).map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${READ}`]))
      gitlab.pipelines.push({ id: pipeline, number: 5, sha: head, source: 'merge_request_event', project: 42 })
      gitlab.jobs.push({ id: gitlab.nextId(), pipeline, name: 'dns:plan', files: { 'plan.json': plan } })

      git(clone, 'merge', '-q', '--squash', 'change')
      const sha = commit({})
      Object.assign(gitlab.pulls[0] ?? {}, { state: 'merged', squashCommit: sha })
      const applied = await run([], { ...onMain('push'), CI_COMMIT_SHA: sha, CI_COMMIT_BEFORE_SHA: before })
      expect([applied.jobs, applied.output]).toEqual([['dns:apply PASS'], expect.stringContaining('192.0.2.7')])
      expect(scene.proxy.mutations().at(-1)?.headers.authorization).toBe(`Bearer ${WRITE}`)
    })

    test('a conflict with the target branch fails the job, and the note says so', async () => {
      const { gitlab, clone, commit } = project
      const head = commit({ 'zones/example.com.yaml': zone('example.com', '192.0.2.9') }, 'conflict', 'main^')
      gitlab.pulls.push({ number: 6, head, headOwner: 'team', headBranch: 'conflict', base: 'main', state: 'open', mergeCommit: null })
      const diffBase = git(clone, 'rev-parse', 'main^')
      const variables = { ...MERGE_REQUEST, CI_MERGE_REQUEST_IID: '6', CI_COMMIT_SHA: head, CI_MERGE_REQUEST_DIFF_BASE_SHA: diffBase }
      expect((await run([], variables)).jobs).toEqual(['dns:check PASS', 'dns:plan FAIL'])
      expect(gitlab.comments.at(-1)?.body).toContain('conflicts with <code>main</code>')
    })
  },
  LONG_SERVERS,
)
