/**
 * Runs jobs of GitHub workflows and of composite actions like GitHub's runner, with a scripted GitHub and a bare git repository. Steps of the program run in this
 * process, other scripts in bash. The actions that the workflows use are carried out here: checkout, and upload and download of artifacts. As GitHub documents, the token
 * of a job has the permissions of that job until it ends, and only the default branch may use an environment.
 */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parse } from 'yaml'
import type { ScriptedGithub } from '../scripted/code-sites/github.ts'
import { type CliResult, type CliSetting, cli } from './cli.ts'
import { temporaryDirectory } from './temp-directory.ts'

export interface WorkflowStep {
  readonly id?: string
  readonly if?: string
  readonly uses?: string
  readonly run?: string
  readonly shell?: string
  readonly with?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
}

export interface WorkflowJob {
  readonly if?: string
  readonly environment?: string
  readonly needs?: string
  readonly permissions?: Readonly<Record<string, string>>
  readonly steps: readonly WorkflowStep[]
}

export interface Workflow {
  readonly name: string
  readonly 'run-name'?: string
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions?: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, WorkflowJob>>
}

export const parseWorkflow = (text: string): Workflow => parse(text) as Workflow

export interface WorkflowEvent {
  readonly name: string
  readonly payload: object
  /** The commit of the run, and the one that GitHub shows as that of the run. */
  readonly sha: string
  readonly headSha: string
  readonly refName: string
  /** The ref of the run if it is no branch. */
  readonly ref?: string
  readonly baseRef?: string
  /** The run of an earlier job, and how each such job ended. */
  readonly run?: number
  readonly needs?: Readonly<Record<string, { readonly result: string }>>
  /** The repository of the branch, if it is a fork: its runs get no secrets. */
  readonly fork?: string
}

export interface RunnerScene {
  readonly bare: string
  readonly github: ScriptedGithub
  readonly origin: string
  /** The text of more actions, by what `uses` says. */
  readonly actions?: Readonly<Record<string, string>>
  /** By environment; the secrets of jobs without one are under `''`. */
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The variables of the repository. A run of a fork does not have them. */
  readonly vars: Readonly<Record<string, string>>
  /** More variables of each job. */
  readonly env: Readonly<Record<string, string>>
  /** The files of each artifact. */
  readonly stored: Map<number, string>
  /** Runs the program; in this process if absent. */
  readonly program?: (args: readonly string[], setting: CliSetting) => Promise<CliResult>
}

export interface JobRun {
  /** Null if the condition of the job does not hold. */
  readonly status: number | null
  readonly output: string
  readonly summary: string
  readonly run: number
}

export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()

/** Runs a job of a workflow at `path` for an event. */
export type RunJob = (
  scene: RunnerScene,
  workflow: { readonly path: string; readonly text: string; readonly job: string },
  event: WorkflowEvent,
) => Promise<JobRun>

type Contexts = Readonly<Record<string, unknown>>

function evaluate(expression: string, contexts: Contexts): unknown {
  // A missing step or key is null at GitHub.
  const js = expression
    .replace(/\.([a-z]+(?:-[a-z]+)+)/g, '?.["$1"]')
    .replace(/\b(\w+)\.(?=[a-z])/gi, '$1?.')
    .replace(/==/g, '===')
    .replace(/!=(?!=)/g, '!==')
  const all = {
    ...contexts,
    format: (text: string, ...values: unknown[]) => text.replace(/\{(\d)\}/g, (_, index) => String(values[index])),
  }
  return new Function(...Object.keys(all), `return ${js}`)(...Object.values(all))
}

const filled = (text: unknown, contexts: Contexts): string =>
  String(text).replace(/\$\{\{(.+?)\}\}/g, (_, expression: string) => String(evaluate(expression, contexts) ?? ''))

const holds = (condition: string | undefined, contexts: Contexts): boolean =>
  condition === undefined || Boolean(evaluate(condition.replace(/^\$\{\{(.*)\}\}$/s, '$1'), contexts))

/** A condition without one of these functions means "and everything before succeeded". */
const RUNS_ALWAYS = /\b(?:cancelled|always|failure)\(\)/

/** The words of a simple command, as a shell splits them. */
export const wordsOf = (line: string, env: Readonly<Record<string, string>>): string[] =>
  [...line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) =>
    single !== undefined ? single : (double ?? bare ?? '').replace(/\$\{?([A-Z_]+)\}?/g, (_, name: string) => env[name] ?? ''),
  )

/**
 * The permissions of a job's token. Once some are given, all others are none; a private repository's default is that of its settings, the restricted one here.
 * https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#permissions
 */
const permissionsOf = (workflow: Workflow, job: WorkflowJob, isFork: boolean): Readonly<Record<string, string>> => {
  const given = Object.entries(job.permissions ?? workflow.permissions ?? { contents: 'read', packages: 'read' })
  return Object.fromEntries(given.map(([name, level]) => [name, isFork && level === 'write' ? 'read' : level]))
}

/** What a run has before its first job, at GitHub too. */
export function beginRun(scene: RunnerScene, path: string, text: string, event: WorkflowEvent) {
  const workflow = parseWorkflow(text)
  const { github } = scene
  const payload = { repository: { full_name: github.repository, default_branch: 'main' }, ...event.payload }
  const ref =
    event.ref ?? (event.name === 'pull_request' ? `refs/pull/${Reflect.get(payload, 'number')}/merge` : `refs/heads/${event.refName}`)
  const context = { repository: github.repository, event_name: event.name, event: payload, ref }
  const id = event.run ?? github.nextId()
  const title = filled(workflow['run-name'] ?? '', { github: context })
  const run = {
    id,
    ...(title !== '' && { title }),
    event: event.name,
    path,
    headSha: event.headSha,
    headBranch: event.refName,
    headRepository: event.fork ?? github.repository,
    conclusion: null as string | null,
  }
  if (event.run === undefined) github.runs.push(run)
  const isFork = event.fork !== undefined
  const env = {
    ...scene.env,
    GITHUB_API_URL: scene.origin,
    GITHUB_SERVER_URL: 'https://github.example',
    GITHUB_REPOSITORY: github.repository,
    GITHUB_RUN_ID: String(id),
    GITHUB_REF: ref,
    GITHUB_REF_NAME: ref.replace(/^refs\/\w+\//, ''),
    GITHUB_WORKFLOW_REF: `${github.repository}/${path}@refs/heads/main`,
  }
  const isAllowed = ({ environment }: WorkflowJob): boolean => environment === undefined || ref === 'refs/heads/main'
  const secretsOf = (job: WorkflowJob) =>
    isFork || !isAllowed(job) ? {} : { ...scene.secrets[''], ...scene.secrets[job.environment ?? ''] }
  /** A token for a job; for several, as act has it, one with the permissions of all. */
  const issueToken = (...jobs: readonly WorkflowJob[]) => {
    const permissions = Object.assign({}, ...jobs.map((job) => permissionsOf(workflow, job, isFork))) as Readonly<Record<string, string>>
    const token = `ghs_${github.nextId()}`
    github.callers[token] = { login: 'github-actions[bot]', isApp: true, permissions }
    return { token, permissions, revoke: () => void delete github.callers[token] }
  }
  return { workflow, payload, context, run, vars: isFork ? {} : scene.vars, env, isAllowed, secretsOf, issueToken }
}

/** Keeps a file as an artifact of a run. */
export function keepArtifact({ github, stored }: RunnerScene, run: number, name: string, file: string): void {
  const id = github.nextId()
  stored.set(id, file)
  github.artifacts.push({ id, name, run, size: readFileSync(file).length, file, expired: false })
}

export const runWorkflowJob: RunJob = async (scene, { path, text, job: name }, event) => {
  const { workflow, payload, context, run, vars, env: common, isAllowed, secretsOf, issueToken } = beginRun(scene, path, text, event)
  const job = workflow.jobs[name]
  if (job === undefined) throw new Error(`no job ${name}`)
  const workspace = temporaryDirectory()
  const temp = temporaryDirectory()
  const none = { status: null, output: '', summary: '', run: run.id }
  const isReady = job.needs === undefined || event.needs?.[job.needs]?.result === 'success'
  if (
    (!isReady && !RUNS_ALWAYS.test(job.if ?? '')) ||
    !holds(job.if, { github: context, needs: event.needs ?? {}, cancelled: () => false })
  )
    return none
  if (!isAllowed(job)) {
    run.conclusion = 'failure'
    const output = `Branch "${context.ref}" is not allowed to deploy to ${job.environment} due to environment protection rules.`
    return { ...none, status: 1, output }
  }
  const { token, permissions, revoke } = issueToken(job)
  const files = { event: join(temp, 'event.json'), summary: join(temp, 'summary.md'), output: join(temp, 'output') }
  writeFileSync(files.event, JSON.stringify(payload))
  const env = {
    ...common,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_SHA: event.sha,
    GITHUB_BASE_REF: event.baseRef ?? '',
    GITHUB_EVENT_NAME: event.name,
    GITHUB_EVENT_PATH: files.event,
    GITHUB_WORKSPACE: workspace,
    GITHUB_STEP_SUMMARY: files.summary,
    GITHUB_OUTPUT: files.output,
    RUNNER_TEMP: temp,
    ...workflow.env,
  }
  const state: StepState = { scene, run: run.id, workspace, temp, files, event, permissions, output: '', status: 0 }
  const contexts = { github: { ...context, token }, secrets: secretsOf(job), runner: { temp }, inputs: {}, vars }
  await runSteps(state, job.steps, contexts, env)
  revoke()
  run.conclusion = state.status === 0 ? 'success' : 'failure'
  const summary = existsSync(files.summary) ? readFileSync(files.summary, 'utf8') : ''
  return { status: state.status, output: state.output, summary, run: run.id }
}

interface StepState {
  readonly scene: RunnerScene
  readonly run: number
  readonly workspace: string
  readonly temp: string
  readonly files: { readonly output: string }
  readonly event: Pick<WorkflowEvent, 'sha'>
  readonly permissions: Readonly<Record<string, string>>
  output: string
  status: number
}

type Outputs = Record<string, { outputs: Record<string, string>; outcome: string }>

async function runSteps(state: StepState, steps: readonly WorkflowStep[], given: Contexts, env: Readonly<Record<string, string>>) {
  const outputs: Outputs = {}
  for (const step of steps) {
    const states = { cancelled: () => false, success: () => state.status === 0, failure: () => state.status !== 0 }
    const contexts = { ...given, steps: outputs, ...states }
    if ((state.status !== 0 && !RUNS_ALWAYS.test(step.if ?? '')) || !holds(step.if, contexts)) continue
    const own = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, value]) => [name, filled(value, contexts)]))
    const all = { ...env, ...own }
    const inputs = Object.fromEntries(Object.entries(step.with ?? {}).map(([name, value]) => [name, filled(value, contexts)]))
    writeFileSync(state.files.output, '')
    const before = state.status
    const action = state.scene.actions?.[step.uses ?? '']
    const set = action === undefined ? null : await runComposite(state, action, inputs, contexts, all)
    if (set === null && step.uses !== undefined) await carryOut(state, step.uses, (name) => inputs[name] ?? '')
    else if (step.run !== undefined) await runScript(state, step.run, step.shell ?? '', all)
    const lines = readFileSync(state.files.output, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
    outputs[step.id ?? ''] = {
      outcome: state.status === before ? 'success' : 'failure',
      outputs: set ?? Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])),
    }
  }
  return outputs
}

/** Runs the steps of a composite action as one step of a job. Returns its outputs. */
async function runComposite(
  state: StepState,
  text: string,
  given: Readonly<Record<string, string>>,
  contexts: Contexts,
  env: Readonly<Record<string, string>>,
) {
  const { inputs, outputs, runs } = parse(text) as {
    readonly inputs: Readonly<Record<string, { default?: string }>>
    readonly outputs: Readonly<Record<string, { value: string }>>
    readonly runs: { steps: WorkflowStep[] }
  }
  const values = Object.entries(inputs).map(([name, { default: value = '' }]) => [name, given[name] ?? filled(value, contexts)])
  const steps = await runSteps(state, runs.steps, { ...contexts, inputs: Object.fromEntries(values), secrets: {}, vars: {} }, env)
  return Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, filled(value, { steps })]))
}

async function runScript(state: StepState, script: string, shell: string, env: Readonly<Record<string, string>>): Promise<void> {
  if (script.includes('$INSTALL_ZONEWRIGHT')) return
  const lines = script.trim().split('\n')
  if (lines.length === 1 && script.startsWith('zonewright ')) {
    const [, ...words] = wordsOf(script.trim(), env)
    const { status, stdout, stderr } = await (state.scene.program ?? cli)(words, { cwd: state.workspace, env })
    state.output += stdout + stderr
    state.status ||= status
    return
  }
  // Not synchronous: the servers of the test run in this process.
  const options = shell === 'bash' ? ['-eo', 'pipefail'] : ['-e']
  const child = spawn(shell || 'bash', [...options, '-c', script], {
    cwd: state.workspace,
    env: { PATH: process.env['PATH'], HOME: state.temp, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (state.output += text))
  const status = await new Promise<number | null>((done) => child.on('close', done))
  state.status ||= status ?? 1
}

async function carryOut(state: StepState, uses: string, input: (name: string) => string): Promise<void> {
  const { scene, workspace, event } = state
  const [action] = uses.split('@')
  const fail = (text: string): void => {
    state.output += `${text}\n`
    state.status ||= 1
  }
  if (action === 'actions/setup-node') return
  if (action === 'actions/checkout') {
    if (state.permissions['contents'] === undefined) return fail('fatal: repository not found')
    git(workspace, 'init', '-q', '.')
    git(workspace, 'remote', 'add', 'origin', `file://${scene.bare}`)
    const ref = input('ref') || event.sha
    const all = ['--tags', 'origin', '+refs/heads/*:refs/remotes/origin/*']
    git(workspace, 'fetch', '-q', ...(input('fetch-depth') === '0' ? all : ['--depth', '1', 'origin', ref]))
    git(workspace, 'checkout', '-q', '--detach', ref)
  } else if (action === 'actions/upload-artifact') {
    const file = resolve(workspace, input('path'))
    if (!existsSync(file)) return
    const kept = join(temporaryDirectory(), basename(file))
    cpSync(file, kept)
    keepArtifact(scene, state.run, input('name'), kept)
  } else if (action === 'actions/download-artifact') {
    const id = Number(input('artifact-ids'))
    const artifact = scene.github.artifacts.find((one) => one.id === id && one.run === Number(input('run-id')))
    if (artifact === undefined) throw new Error(`no artifact ${id}`)
    if (state.permissions['actions'] === undefined) return fail('Resource not accessible by integration')
    mkdirSync(input('path'), { recursive: true })
    cpSync(scene.stored.get(id) as string, join(input('path'), basename(scene.stored.get(id) as string)))
  } else throw new Error(`unknown action ${uses}`)
}
