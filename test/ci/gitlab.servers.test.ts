/** The jobs of the pipeline for GitLab, with the variables of GitLab's runner: note, merge, drift. */
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { sshKeyOctets } from '../../src/config/ssh-public-key.ts'
import { signText } from '../../src/stored/approvals/openssh.ts'
import { openFileScene, type ServiceScene } from '../cli/service-scene.ts'
import { createScriptedGitlab, type ScriptedGitlab, type StoredPipeline } from '../scripted/code-sites/gitlab.ts'
import { startScriptedServer } from '../scripted/scripted-server.ts'
import { type CliResult, cli, expectEnd } from '../support/cli.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { git } from '../support/workflow-runner.ts'
import { SEED, WRITE, zone } from './repository.ts'

const BOT = 'glpat-0123456789abcdef'

describeWithTools(['git'], 'the jobs at GitLab', () => {
  let scene: ServiceScene
  let gitlab: ScriptedGitlab
  let origin: string
  let clone: string
  let head: string
  /** The text of the plan that the last job kept. */
  let plan: string

  const write = (files: Readonly<Record<string, string>>): string => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(clone, path)), { recursive: true })
      writeFileSync(join(clone, path), text)
    }
    git(clone, 'add', '-A')
    git(clone, 'commit', '-q', '-m', 'change')
    return git(clone, 'rev-parse', 'HEAD')
  }

  const run = async (args: readonly string[], variables: Readonly<Record<string, string>>): Promise<CliResult> => {
    await scene.service.flush()
    const env = {
      CI: 'true',
      GITLAB_CI: 'true',
      CI_API_V4_URL: `${origin}/api/v4`,
      CI_PROJECT_ID: '42',
      CI_JOB_URL: 'https://gitlab.example/team/dns/-/jobs/1',
      CI_PROJECT_URL: 'https://gitlab.example/team/dns',
      CI_PIPELINE_ID: '3',
      CI_DEFAULT_BRANCH: 'main',
      ZONEWRIGHT_GITLAB_TOKEN: BOT,
      ZONEWRIGHT_TOKEN: WRITE,
      ZONEWRIGHT_PLAN_KEY: '0f'.repeat(32),
      HOME: clone,
      PATH: process.env['PATH'],
      ...variables,
    }
    const result = await cli(args, { cwd: clone, env })
    expect(result.stdout + result.stderr).not.toContain(BOT)
    return result
  }

  const mergeRequest = (sha: string) => ({
    CI_PIPELINE_SOURCE: 'merge_request_event',
    CI_MERGE_REQUEST_IID: '5',
    CI_COMMIT_SHA: sha,
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
  })

  /** Pushes a commit to main, or has done so before a later commit. */
  const push = (CI_COMMIT_SHA: string, CI_COMMIT_BEFORE_SHA: string, tip = CI_COMMIT_SHA) => {
    git(clone, 'push', '-q', '-f', 'origin', `${tip}:refs/heads/main`)
    return { CI_PIPELINE_SOURCE: 'push', CI_COMMIT_BRANCH: 'main', CI_COMMIT_SHA, CI_COMMIT_BEFORE_SHA }
  }

  beforeAll(async () => {
    scene = await openFileScene({ seed: SEED })
    gitlab = createScriptedGitlab(42, { [BOT]: 'project_42_bot_1' })
    origin = (await startScriptedServer(gitlab.service)).origin
    clone = temporaryDirectory()
    const bare = temporaryDirectory()
    git(bare, 'init', '-q', '--bare', '.')
    git(clone, 'clone', '-q', bare, '.')
    git(clone, 'checkout', '-q', '-b', 'main')
    write({ 'zonewright.yaml': scene.config(), 'zones/example.com.yaml': zone('example.com', '192.0.2.1') })
    expect((await run(['apply', '--yes'], {})).status).toBe(0)
    git(clone, 'checkout', '-q', '-b', 'change')
    head = write({ 'zones/example.com.yaml': zone('example.com', '192.0.2.7') })
    gitlab.pulls.push({ number: 5, head, headOwner: 'team', headBranch: 'change', base: 'main', state: 'open', mergeCommit: null })
  })

  test('a merge request gets one note, and each pipeline updates it', async () => {
    expectEnd(await run(['ci', 'plan', '--since', 'main', '--out', 'plan.json'], mergeRequest(head)), 0, { err: 'created', out: '2.7' })
    plan = readFileSync(join(clone, 'plan.json'), 'utf8')
    rmSync(join(clone, 'plan.json'))
    expect((await run(['ci', 'plan', '--since', 'main'], { ...mergeRequest(head), CI_JOB_URL: 'https://gitlab.example/2' })).status).toBe(0)
    expect(gitlab.comments.map(({ body }) => body)).toEqual([expect.stringMatching(/^<!-- zonewright:plan -->.*2\.7.*gitlab\.example\/2/s)])
  })

  test('a pipeline for an older commit leaves the note as it is', async () => {
    const [before] = gitlab.comments.map(({ body }) => body)
    // Without --since, too, the limits are those of the target branch.
    const unknown = 'cannot read the config of refs/remotes/origin/main: the repository has no revision "refs/remotes/origin/main"'
    expect(await run(['ci', 'plan'], mergeRequest('b'.repeat(40)))).toMatchObject({ status: 1, stderr: expect.stringContaining(unknown) })
    git(clone, 'update-ref', 'refs/remotes/origin/main', 'main')
    const planned = await run(['ci', 'plan'], mergeRequest('b'.repeat(40)))
    expect(planned).toMatchObject({ status: 0, stderr: expect.stringContaining('newer commit') })
    expect(gitlab.comments.map(({ body }) => body)).toEqual([before])
  })

  test.each([
    ['of a pipeline in a fork', 'no pipeline of !5 in this project ran for', () => keepPlan({ project: 99 })],
    ['of a pipeline for a branch', 'no pipeline of !5 in this project ran for', () => keepPlan({ source: 'push' })],
    ['of a pipeline of a merge train', 'no pipeline of !5 in this project ran for', () => keepPlan({ ref: 'train' })],
    ['of a pipeline for another commit', 'the last pipeline of !5, 7, did not run for', () => keepPlan({ sha: 'c'.repeat(40) })],
    ['of a pipeline before one for an unknown commit', 'the last pipeline of !5, 9, did not', () => keepPlan({}, { sha: 'c'.repeat(40) })],
    ['of a pipeline before one that was refused', 'no job dns:plan of pipeline 9, the last of !5, has', () => keepPlan({}, {})],
  ])('after a merge, a plan %s is not applied', async (_, reason, keep) => {
    const merged = mergeInto()
    keep()
    expectEnd(await run(['ci', 'apply'], push(merged.sha, merged.before)), 3, { err: reason })
    expect(scene.proxy.mutations()).toHaveLength(1 + 2)
  })

  test('after a squash merge, the plan of the merged result of the head is found and applied', async () => {
    const merged = mergeInto()
    const result = 'd'.repeat(40)
    gitlab.parents.set(result, ['e'.repeat(40), head])
    keepPlan({ sha: result })
    expectEnd(await run(['ci', 'apply'], push(merged.sha, merged.before)), 0, { out: '192.0.2.7' })
    expect((await run(['ci', 'apply'], push(merged.sha, merged.before))).status).toBe(0)
  })

  test('the job of an older commit does not undo a later one, even if it may apply what nobody has reviewed', async () => {
    const merged = mergeInto()
    const later = write({ 'zones/example.com.yaml': zone('example.com', '192.0.2.9') })
    expect((await run(['apply', '--yes'], {})).status).toBe(0)
    git(clone, 'reset', '-q', '--hard', merged.sha)
    const before = scene.proxy.mutations().length
    const older = await run(['ci', 'apply', '--unreviewed', 'apply'], push(merged.sha, merged.before, later))
    // Nothing is left of the last commit.
    expect(older).toMatchObject({ status: 0, stderr: expect.stringContaining('later commits on main describe example.com. otherwise') })
    expect(scene.proxy.mutations()).toHaveLength(before)
    expect((await run(['ci', 'apply', '--unreviewed', 'apply'], push(merged.sha, merged.before))).status).toBe(0)
  })

  test('drift opens one issue and closes it', async () => {
    const schedule = { CI_PIPELINE_SOURCE: 'schedule', CI_COMMIT_SHA: head, CI_COMMIT_BRANCH: 'main' }
    expect((await run(['ci', 'drift'], schedule)).status).toBe(0)
    expect(write({ 'zones/example.com.yaml': zone('example.com', '192.0.2.8') })).toMatch(/^[0-9a-f]{40}$/)
    for (let day = 0; day < 2; day += 1) expect((await run(['ci', 'drift'], schedule)).status).toBe(2)
    expect(gitlab.issues.map(({ state }) => state)).toEqual(['open'])
    expect((await run(['apply', '--yes'], {})).status).toBe(0)
    expect((await run(['ci', 'drift'], schedule)).status).toBe(0)
    expect(gitlab.issues.map(({ state }) => state)).toEqual(['closed'])
  })

  test.each([
    [{ GITLAB_CI: '' }, /neither a job of GitHub Actions nor one of GitLab CI/],
    [{ ZONEWRIGHT_GITLAB_TOKEN: '' }, /ZONEWRIGHT_GITLAB_TOKEN is not set/],
    [{ ZONEWRIGHT_ALLOWED_HOSTS: 'example.net' }, /is not among the hosts|host-not-allowed/],
    [{ CI_MERGE_REQUEST_IID: '5; evil' }, /not a positive whole number/],
    [{ CI_COMMIT_SHA: '../../x' }, /CI_COMMIT_SHA is not a commit/],
    [{ CI_MERGE_REQUEST_IID: '', CI_COMMIT_BRANCH: 'x' }, /neither for a pull request to the default branch nor/],
    [{ CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'lax' }, /neither for a pull request to the default branch nor/],
  ])('with the variables %j the command says what is wrong', async (variables, message) => {
    expectEnd(await run(['ci', 'plan'], { ...mergeRequest(head), ...variables }), 1, { err: message })
  })

  test('approvals are notes on the merge request, and the config before the push says whose', async () => {
    git(clone, 'checkout', '-q', 'main')
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const octets = Buffer.from(publicKey.export({ format: 'jwk' }).x as string, 'base64url')
    const approvals = `approvals: {needed: 1, keys: {alice: 'ssh-ed25519 ${sshKeyOctets(octets).toString('base64')}'}}\n`
    const config = `${scene.config()}${approvals}`
    const before = write({ 'zonewright.yaml': config })
    git(clone, 'checkout', '-q', '-b', 'lowered')
    const lowered = { 'zonewright.yaml': config.replace('needed: 1', 'needed: 0') }
    const tip = write({ ...lowered, 'zones/example.com.yaml': zone('example.com', '192.0.2.33') })
    gitlab.pulls.push({ number: 6, head: tip, headOwner: 'team', headBranch: 'lowered', base: 'main', state: 'merged', mergeCommit: tip })
    expectEnd(await run(['ci', 'plan', '--since', 'main', '--out', 'plan.json'], { ...mergeRequest(tip), CI_MERGE_REQUEST_IID: '6' }), 0)
    expect(gitlab.comments.at(-1)?.body).toMatch(/\*\*Needs 1 approval\*\* .*<code>alice<\/code> can approve/)
    plan = readFileSync(join(clone, 'plan.json'), 'utf8')
    rmSync(join(clone, 'plan.json'))
    keepPlan({ sha: tip, number: 6 })
    expectEnd(await run(['ci', 'apply'], push(tip, before)), 3, { err: 'needs 1 approval and has none' })
    const body = `Fine.\n\n${signText(plan, privateKey, octets)}`
    gitlab.comments.push({ id: gitlab.nextId(), number: 6, author: 'anybody', title: '', body, state: 'open' })
    expect(await run(['ci', 'apply'], push(tip, before))).toMatchObject({ status: 0, stdout: expect.stringContaining('192.0.2.33') })
  })

  /** Squashes the merge request. */
  function mergeInto(): { readonly sha: string; readonly before: string } {
    git(clone, 'checkout', '-q', 'main')
    const before = git(clone, 'rev-parse', 'change^')
    git(clone, 'reset', '-q', '--hard', before)
    git(clone, 'merge', '-q', '--squash', 'change')
    git(clone, 'commit', '-q', '-m', 'squashed')
    const sha = git(clone, 'rev-parse', 'HEAD')
    Object.assign(gitlab.pulls[0] ?? {}, { state: 'merged', mergeCommit: null, squashCommit: sha })
    return { sha, before }
  }

  /** Keeps the plan as the artifact of a pipeline, and the one of a failed job of a later pipeline. */
  function keepPlan(change: Partial<StoredPipeline>, later?: Partial<StoredPipeline>): void {
    gitlab.pipelines.length = 0
    gitlab.jobs.length = 0
    gitlab.pipelines.push({ id: 7, number: 5, sha: head, source: 'merge_request_event', project: 42, ...change })
    gitlab.jobs.push({ id: 8, pipeline: 7, name: 'dns:plan', files: { 'plan.json': plan } })
    if (later === undefined) return
    gitlab.pipelines.push({ id: 9, number: 5, sha: head, source: 'merge_request_event', project: 42, ...later })
    gitlab.jobs.push({ id: 10, pipeline: 9, name: 'dns:plan', status: 'failed', files: { 'plan.json': plan } })
  }
})
