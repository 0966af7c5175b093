/**
 * Runs pipelines of GitLab CI with a scripted GitLab and a bare git repository: the file of the commit, rules, manual jobs, `needs`, artifacts, the depth of the
 * clone, and which job gets which variable of the project (docs.gitlab.com/ci/variables). Commands of the program run in this process, others in bash. The
 * program is not installed.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { ScriptedGitlab } from '../scripted/code-sites/gitlab.ts'
import { cli } from './cli.ts'
import { temporaryDirectory } from './temp-directory.ts'
import { git, wordsOf } from './workflow-runner.ts'

interface PipelineJob {
  readonly extends?: string
  readonly rules?: readonly { readonly if?: string; readonly when?: string }[]
  readonly variables?: Variables
  readonly environment?: string
  readonly needs?: readonly string[]
  readonly script: readonly string[]
  readonly artifacts?: { readonly paths: readonly string[] }
}

type Variables = Readonly<Record<string, string>>

export interface PipelineScene {
  readonly bare: string
  readonly gitlab: ScriptedGitlab
  readonly api: string
  /** Of the project. A protected one is only for jobs of protected branches, and one with a scope only for jobs of that environment. */
  readonly variables: readonly { readonly name: string; readonly value: string; readonly isProtected?: true; readonly scope?: string }[]
}

/** `variables`: those of the event, such as CI_COMMIT_BRANCH. */
export interface PipelineEvent {
  readonly sha: string
  readonly source: 'push' | 'merge_request_event' | 'web' | 'schedule'
  readonly variables: Variables
}

export interface PipelineRun {
  readonly id: number
  /** The exit status and output of each job that has run. */
  readonly jobs: Map<string, { readonly status: number; readonly output: string }>
  /** The jobs that wait for somebody to start them. */
  readonly manual: readonly string[]
  /** Starts such a job. */
  play(name: string): Promise<void>
}

const expanded = (text: string, variables: Variables): string => text.replace(/\$(\w+)/g, (_, name: string) => variables[name] ?? '')

const holds = (condition: string, variables: Variables): boolean =>
  new Function('v', `return ${condition.replace(/\$(\w+)/g, "(v['$1'] ?? null)").replace(/==/g, '===')}`)(variables)

/** The pipeline with its local files: the jobs of a file are merged with those that it includes. */
function readPipeline(read: (path: string) => string): { variables?: Variables } & Record<string, PipelineJob> {
  const { include = [], ...own } = parse(read('.gitlab-ci.yml')) as { include?: readonly { readonly local: string }[] }
  const merged: Record<string, object> = {}
  for (const file of [...include.map(({ local }) => parse(read(local)) as object), own])
    for (const [name, value] of Object.entries(file)) merged[name] = { ...merged[name], ...(value as object) }
  return merged as ReturnType<typeof readPipeline>
}

export async function runPipeline({ bare, gitlab, api, variables: project }: PipelineScene, event: PipelineEvent): Promise<PipelineRun> {
  const { sha, source } = event
  const id = gitlab.nextId()
  const { variables: common, ...file } = readPipeline((path) => git(bare, 'show', `${sha}:${path}`))
  const predefined: Variables = {
    CI: 'true',
    GITLAB_CI: 'true',
    CI_API_V4_URL: `${api}/api/v4`,
    CI_SERVER_HOST: new URL(api).host,
    CI_PROJECT_ID: '42',
    CI_PROJECT_URL: 'https://gitlab.example/team/dns',
    CI_PIPELINE_ID: String(id),
    CI_PIPELINE_SOURCE: source,
    CI_DEFAULT_BRANCH: 'main',
    CI_COMMIT_SHA: sha,
    CI_COMMIT_BEFORE_SHA: '0'.repeat(40),
    ...event.variables,
  }
  const number = Number(predefined['CI_MERGE_REQUEST_IID'] ?? 0)
  const isTrain = predefined['CI_MERGE_REQUEST_EVENT_TYPE'] === 'merge_train'
  if (number > 0) gitlab.pipelines.push({ id, number, sha, source, project: 42, ...(isTrain && { ref: 'train' }) })
  const isProtectedRef = predefined['CI_COMMIT_BRANCH'] === 'main'
  const files = new Map<string, Record<string, string>>()
  const jobs: PipelineRun['jobs'] = new Map()

  const run = async (name: string, job: PipelineJob): Promise<void> => {
    const own = project.filter((one) => (!one.isProtected || isProtectedRef) && (one.scope ?? job.environment) === job.environment)
    const given = { ...predefined, CI_JOB_URL: `https://gitlab.example/team/dns/-/jobs/${name}`, ...common, ...job.variables }
    const all: Variables = { ...given, ...Object.fromEntries(own.map((one) => [one.name, one.value])) }
    const env = Object.fromEntries(Object.entries(all).map(([key, value]) => [key, expanded(value, all)]))
    const [cwd, HOME] = [temporaryDirectory(), temporaryDirectory()]
    git(cwd, 'init', '-q', '.')
    git(cwd, 'remote', 'add', 'origin', `file://${bare}`)
    // Without a depth in the file, that of new projects.
    const depth = env['GIT_DEPTH'] ?? '20'
    git(
      cwd,
      'fetch',
      '-q',
      ...(depth === '0' ? [] : ['--depth', depth]),
      'origin',
      sha,
      ...(depth === '0' ? ['+refs/heads/*:refs/remotes/origin/*'] : []),
    )
    git(cwd, 'checkout', '-q', '--detach', sha)
    for (const needed of job.needs ?? [])
      for (const [path, text] of Object.entries(files.get(needed) ?? {})) writeFileSync(join(cwd, path), text)
    let [status, output] = [0, '']
    const command = async (text: string): Promise<number> => {
      const [, assigned = '', words] = /^((?:\w+="[^"]*" )*)zonewright (.*)$/.exec(text) ?? []
      if (words === undefined)
        return new Promise((done) =>
          execFile('bash', ['-ec', text], { cwd, env: { PATH: process.env['PATH'], HOME, ...env } }, (error, stdout, stderr) => {
            output += stdout + stderr
            done(error === null ? 0 : Number(error.code))
          }),
        )
      const more = [...assigned.matchAll(/(\w+)="([^"]*)" /g)].map(([, key, value = '']) => [key, expanded(value, env)])
      const ended = await cli(wordsOf(words, env), { cwd, env: { PATH: process.env['PATH'], HOME, ...env, ...Object.fromEntries(more) } })
      output += ended.stdout + ended.stderr
      return ended.status
    }
    for (const line of job.script) {
      for (const alternative of line.split(' || ')) {
        status = await command(alternative)
        if (status === 0) break
      }
      if (status !== 0) break
    }
    const kept = (job.artifacts?.paths ?? []).filter((path) => existsSync(join(cwd, path)))
    files.set(name, Object.fromEntries(kept.map((path) => [path, readFileSync(join(cwd, path), 'utf8')])))
    gitlab.jobs.push({ id: gitlab.nextId(), pipeline: id, name, status: status === 0 ? 'success' : 'failed', files: files.get(name) ?? {} })
    jobs.set(name, { status, output })
  }

  const manual = new Map<string, PipelineJob>()
  const wholeJob = (name: string): PipelineJob => {
    const { extends: base, ...own } = file[name] as PipelineJob
    return { ...(base === undefined ? {} : wholeJob(base)), ...own }
  }
  const seen = new Set<string>()
  const start = async (name: string): Promise<void> => {
    if (name.startsWith('.') || seen.has(name)) return
    seen.add(name)
    const job = wholeJob(name)
    if (job.script === undefined) return
    for (const needed of job.needs ?? []) await start(needed)
    const rule = (job.rules ?? [{}]).find((one) => one.if === undefined || holds(one.if, predefined))
    if (rule?.when === 'manual') manual.set(name, job)
    else if (rule !== undefined && (job.needs ?? []).every((needed) => jobs.get(needed)?.status === 0)) await run(name, job)
  }
  for (const name of Object.keys(file)) await start(name)
  const play = async (name: string): Promise<void> => {
    const job = manual.get(name)
    if (!job?.needs?.every((needed) => jobs.get(needed)?.status === 0)) throw new Error(`nobody can start ${name}`)
    await run(name, job)
  }
  return { id, jobs, manual: [...manual.keys()], play }
}
