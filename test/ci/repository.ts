/** A repository at a scripted GitHub with the workflows that `init` writes, and a service with its zones. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ciFiles } from '../../src/cli/init/ci-files.ts'
import { cloudNeeds } from '../../src/cli/init/ci-needs.ts'
import { NO_RELEASE, type Release } from '../../src/cli/init/release.ts'
import type { ReceivedRequest } from '../cli/recording-proxy.ts'
import { openFileScene, type ServiceScene } from '../cli/service-scene.ts'
import { createScriptedGithub, type ScriptedGithub } from '../scripted/code-sites/github.ts'
import { startScriptedServer } from '../scripted/scripted-server.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { git, type JobRun, type RunJob, type RunnerScene, runWorkflowJob, type WorkflowEvent } from '../support/workflow-runner.ts'

export const READ = 'reads-0123456789abcdef'
export const WRITE = 'writes-0123456789abcdef'
const KEYS = { ZONEWRIGHT_PLAN_KEY: '0f'.repeat(32) }

export const SEED = `accounts:
  - users:
      - username: owner
        email: owner@example.com
        tokens:
          - {token: ${READ}, label: reads, scopes: 'domains:read_only'}
          - {token: ${WRITE}, label: writes, scopes: 'domains:read_write'}
`

export const zone = (domain: string, address: string, more = ''): string => `domain: ${domain}
soa_email: hostmaster@${domain}
records:
  '': {type: A, value: ${address}}
  www: {type: CNAME, value: '@'}
${more}`

export interface Repository extends RunnerScene {
  readonly scene: ServiceScene
  readonly clone: string
  readonly github: ScriptedGithub
  readonly files: readonly { readonly path: string; readonly text: string }[]
  /** Called before the service gets a request. */
  readonly on: {
    request: (request: ReceivedRequest) => Promise<void> | void
    /** Changes the text of the workflow of each job. */
    workflow: (text: string) => string
  }
  /** Commits files, or the changes of a function, on a branch that begins at main, and pushes it. Returns the commit. */
  commit(branch: string, change: Readonly<Record<string, string>> | ((folder: string) => void)): string
  /** Opens a pull request for the branch. */
  open(branch: string, owner?: string): number
  job(file: string, name: string, event: WorkflowEvent): Promise<JobRun>
  plan(number: number): Promise<JobRun>
  /** A job without secrets. */
  check(number: number, name?: string): Promise<JobRun>
  /** A job for a merge group whose last commit is that of a branch. */
  group(branch: string, name: string): Promise<JobRun>
  /** Squashes each branch onto main, as one push. Returns its event. */
  pushMerge(...numbers: readonly number[]): WorkflowEvent
  /** Does so, and runs the job of the push. */
  merge(...numbers: readonly number[]): Promise<JobRun>
  /** Commits to main without a pull request, and runs the job of the push. */
  push(files: Readonly<Record<string, string>>): Promise<JobRun>
  /** Starts a run by hand for a branch: the first job and, if it succeeds, the second. */
  byHand(branch?: string): Promise<JobRun>
  /** Undoes the last commit on main. */
  revert(): void
  drift(): Promise<JobRun>
  /** Applies the definitions of main, as an administrator. */
  applyMain(): Promise<void>
}

/** An interpreter of workflows, and the release that its jobs install. */
export interface Interpreter {
  readonly run: RunJob
  readonly release: Release
}

export async function openRepository(
  config = '',
  interpreter: Interpreter = { run: runWorkflowJob, release: NO_RELEASE },
): Promise<Repository> {
  const on: Repository['on'] = { request: () => undefined, workflow: (text) => text }
  const script = async (request: ReceivedRequest): Promise<null> => {
    await on.request(request)
    return null
  }
  const scene = await openFileScene({ seed: SEED, config, script })
  const github = createScriptedGithub('team/dns', {})
  const { origin } = await startScriptedServer(github.service)
  const bare = temporaryDirectory()
  git(bare, 'init', '--bare', '.')
  const clone = temporaryDirectory()
  git(clone, 'clone', '-q', bare, '.')
  git(clone, 'checkout', '-q', '-b', 'main')
  const { proxy, service } = scene
  const hosts = [new URL(proxy.origin).host, new URL(origin).host, `${service.dnsAddress?.host}:${service.dnsAddress?.port}`]
  const files = ciFiles('github', interpreter.release, hosts, cloudNeeds('ZONEWRIGHT_TOKEN'))
  const write = (change: Readonly<Record<string, string>> | ((folder: string) => void)): void => {
    if (typeof change === 'function') change(clone)
    for (const [path, text] of typeof change === 'function' ? [] : Object.entries(change)) {
      mkdirSync(join(clone, path, '..'), { recursive: true })
      writeFileSync(join(clone, path), text)
    }
    git(clone, 'add', '-A')
    git(clone, 'commit', '-q', '-m', 'change')
  }
  write({
    'zonewright.yaml': scene.config(),
    'zones/example.com.yaml': zone('example.com', '192.0.2.1'),
    'zones/example.net.yaml': zone('example.net', '192.0.2.2'),
    'zones/example.org.yaml': zone('example.org', '192.0.2.3'),
  })
  git(clone, 'push', '-q', 'origin', 'main')
  const main = (): string => git(clone, 'rev-parse', 'main')
  github.branches.set('main', [main()])
  const runner: RunnerScene = {
    bare,
    github,
    origin,
    env: {},
    vars: { ZONEWRIGHT_FORKS: 'true' },
    secrets: { 'dns-read': { ZONEWRIGHT_READ_TOKEN: READ, ...KEYS }, dns: { ZONEWRIGHT_TOKEN: WRITE, ...KEYS } },
    stored: new Map(),
  }
  const pullOf = (number: number) => {
    const found = github.pulls.find((one) => one.number === number)
    if (found === undefined) throw new Error(`no pull request ${number}`)
    return found
  }
  const job: Repository['job'] = async (file, name, event) => {
    const workflow = files.find(({ path }) => path.endsWith(file))
    if (workflow === undefined) throw new Error(`no workflow ${file}`)
    await scene.service.flush()
    return interpreter.run(runner, { ...workflow, text: on.workflow(workflow.text), job: name }, event)
  }
  /** Pushes main. */
  const pushed = (before: string): WorkflowEvent => {
    git(clone, 'push', '-q', 'origin', 'main')
    const after = main()
    github.branches.get('main')?.push(after)
    return { name: 'push', payload: { before, after }, sha: after, headSha: after, refName: 'main' }
  }
  const repository: Repository = {
    ...runner,
    scene,
    on,
    clone,
    github,
    files,
    job,
    commit(branch, changed) {
      const exists = git(clone, 'branch', '--list', branch) !== ''
      git(clone, 'checkout', '-q', ...(exists ? [branch] : ['-b', branch, 'main']))
      write(changed)
      git(clone, 'push', '-q', 'origin', branch)
      const sha = git(clone, 'rev-parse', 'HEAD')
      git(clone, 'checkout', '-q', '-f', 'main')
      for (const pull of github.pulls) if (pull.headBranch === branch && pull.state === 'open') pull.head = sha
      return sha
    },
    open(branch, owner = 'team') {
      const number = github.nextId()
      const head = git(clone, 'rev-parse', branch)
      github.pulls.push({ number, head, headOwner: owner, headBranch: branch, base: 'main', state: 'open', mergeCommit: null })
      return number
    },
    plan(number) {
      const { head, headBranch, base } = pullOf(number)
      const repo = { full_name: github.repository }
      const payload = { number, pull_request: { number, head: { sha: head, ref: headBranch, repo }, base: { ref: base } } }
      const [sha, refName] = [main(), 'main']
      return job('dns.yml', 'plan', { name: 'pull_request_target', payload, sha, headSha: sha, refName, baseRef: refName })
    },
    check(number, name = 'check') {
      const { head, headBranch, headOwner, base } = pullOf(number)
      const repo = { full_name: `${headOwner}/dns` }
      const payload = { number, pull_request: { number, head: { sha: head, ref: headBranch, repo }, base: { ref: base } } }
      const fork = headOwner === 'team' ? {} : { fork: repo.full_name }
      const refs = { sha: head, headSha: head, refName: headBranch, baseRef: base }
      return job('dns-check.yml', name, { name: 'pull_request', payload, ...refs, ...fork })
    },
    push(changed) {
      const before = main()
      write(changed)
      return job('dns.yml', 'apply', pushed(before))
    },
    async byHand(refName = 'main') {
      const sha = git(clone, 'rev-parse', refName)
      const event = { name: 'workflow_dispatch', payload: {}, sha, headSha: sha, refName }
      const { status, run } = await job('dns.yml', 'plan-main', event)
      const result = status === 0 ? 'success' : 'failure'
      return job('dns.yml', 'apply', { ...event, run, needs: { 'plan-main': { result } } })
    },
    revert() {
      git(clone, 'reset', '-q', '--hard', 'HEAD^')
      git(clone, 'push', '-q', '-f', 'origin', 'main')
      github.branches.get('main')?.pop()
    },
    async applyMain() {
      for (const name of ['com', 'net', 'org'])
        scene.write({ [`zones/example.${name}.yaml`]: readFileSync(join(clone, `zones/example.${name}.yaml`), 'utf8') })
      expect((await scene.runWith({ ZONEWRIGHT_TOKEN: WRITE }, 'apply', '--yes')).status).toBe(0)
    },
    group(branch, name) {
      const sha = git(clone, 'rev-parse', branch)
      const refName = `gh-readonly-queue/main/pr-1-${main()}`
      const payload = { merge_group: { head_sha: sha, head_ref: `refs/heads/${refName}`, base_ref: 'refs/heads/main', base_sha: main() } }
      return job('dns-check.yml', name, { name: 'merge_group', payload, sha, headSha: sha, refName })
    },
    merge: (...numbers) => job('dns.yml', 'apply', repository.pushMerge(...numbers)),
    pushMerge(...numbers) {
      const before = main()
      for (const number of numbers) {
        const pull = pullOf(number)
        git(clone, 'merge', '-q', '-X', 'theirs', '--squash', pull.headBranch)
        git(clone, 'commit', '-q', '-m', `squashed ${number}`)
        Object.assign(pull, { state: 'merged', mergeCommit: main() })
        if (number !== numbers.at(-1)) github.branches.get('main')?.push(main())
      }
      return pushed(before)
    },
    drift: () => job('dns.yml', 'drift', { name: 'schedule', payload: {}, sha: main(), headSha: main(), refName: 'main' }),
  }
  return repository
}

export const commentsOn = ({ github }: Repository, number: number): string[] =>
  github.comments.filter((one) => one.number === number).map(({ body }) => body)
