/**
 * Runs the same jobs as `workflow-runner.ts` with act, an interpreter of workflows: conditions, expressions, needs, environments, outputs, file commands and shells
 * are its own. Jobs run on this machine. Composite actions stand in for those of GitHub, and each job installs the built program as a release.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import type { Release } from '../../src/cli/init/release.ts'
import { startScriptedServer } from '../scripted/scripted-server.ts'
import { afterThisFile } from './after-file.ts'
import { builtProgram } from './built-program.ts'
import { selfSigned } from './certificate.ts'
import { findForeignClient } from './foreign-clients.ts'
import { temporaryDirectory } from './temp-directory.ts'
import { runTool } from './tools.ts'
import { beginRun, keepArtifact, type RunJob, type RunnerScene, type WorkflowEvent } from './workflow-runner.ts'

export interface InstalledRelease extends Release {
  /** The path of the certificate of its server. */
  readonly authority: string
}

/** A release with the built program, at a server on this machine. */
export async function serveRelease(): Promise<InstalledRelease> {
  const folder = temporaryDirectory()
  const file = join(folder, 'package/dist/zonewright.js')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${await builtProgram()}' "$@"\n`, { mode: 0o755 })
  execFileSync('tar', ['-czf', 'zonewright.tgz', 'package'], { cwd: folder })
  const tarball = readFileSync(join(folder, 'zonewright.tgz'))
  const { cert, key } = selfSigned('releases')
  const authority = join(folder, 'ca.pem')
  writeFileSync(authority, cert)
  const server = createServer({ cert, key }, (_, response) => response.end(tarball))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  afterThisFile(() => void server.close())
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}/zonewright.tgz`
  return { tarball: address, checksum: createHash('sha256').update(tarball).digest('hex'), authority }
}

const composite = (inputs: Readonly<Record<string, string>>, script: string): string => {
  const names = Object.keys(inputs)
  const env = Object.fromEntries(names.map((name) => [`IN_${name.replaceAll('-', '_')}`, `\${{ inputs.${name} }}`]))
  const steps = [{ shell: 'bash', env, run: script }]
  const declared = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, { default: value }]))
  return JSON.stringify({ name: 'stand-in', description: '-', inputs: declared, runs: { using: 'composite', steps } })
}

/** The actions, with the inputs that the workflows set. GitHub refuses none that an action does not know, so those that change nothing here are left out. */
const actionsFor = (bare: string, store: string): Readonly<Record<string, string>> => ({
  'setup-node': composite({ 'node-version': '' }, 'test "$IN_node_version" = 20'),
  checkout: composite(
    { ref: '', 'fetch-depth': '1' },
    `git init -q .
git remote add origin 'file://${bare}'
ref="\${IN_ref:-$GITHUB_SHA}"
if [ "$IN_fetch_depth" = 0 ]; then git fetch -q --tags origin '+refs/heads/*:refs/remotes/origin/*'; else git fetch -q --depth "$IN_fetch_depth" origin "$ref"; fi
git checkout -q --detach "$ref"`,
  ),
  'upload-artifact': composite(
    { name: '', path: '', 'if-no-files-found': 'warn' },
    `if [ -e "$IN_path" ]; then curl --fail -sS --data-binary "@$IN_path" "${store}/$GITHUB_RUN_ID/$IN_name/\${IN_path##*/}"; else test "$IN_if_no_files_found" = ignore; fi`,
  ),
  'download-artifact': composite(
    { 'artifact-ids': '', 'run-id': '', 'github-token': '', path: '' },
    `api="$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/actions"
curl --fail -sS -H "authorization: Bearer $IN_github_token" -o "$RUNNER_TEMP/artifact.zip" "$api/artifacts/$IN_artifact_ids/zip"
mkdir -p "$IN_path" && unzip -qo "$RUNNER_TEMP/artifact.zip" -d "$IN_path"`,
  ),
})

interface ActJob {
  /** As GitHub shows it. */
  readonly name: string
  /** The exit status of the first step that failed; 0 if none did. */
  readonly status: number
  readonly output: string
  readonly summary: string
}

/** A line of the log. */
type Line = Readonly<Partial<Record<'msg' | 'job' | 'jobID' | 'jobResult' | 'command' | 'content' | 'raw', string>>> & {
  readonly raw_output?: boolean
}

const stores = new WeakMap<RunnerScene, Promise<string>>()

/** A server that keeps what `upload-artifact` sends. */
async function startStore(scene: RunnerScene): Promise<string> {
  const { origin } = await startScriptedServer(({ path, body }) => {
    const [, run, name = '', file = ''] = path.split('/').map(decodeURIComponent)
    const kept = join(temporaryDirectory(), file)
    writeFileSync(kept, body)
    // All uploads of the workflows overwrite.
    const { artifacts } = scene.github
    const old = artifacts.findIndex((one) => one.run === Number(run) && one.name === name)
    if (old >= 0) artifacts.splice(old, 1)
    keepArtifact(scene, Number(run), name, kept)
    return { status: 200, headers: {}, body: '' }
  })
  return origin
}

const OPTIONS = '--platform ubuntu-latest=-self-hosted --json --strict --no-skip-checkout --no-cache-server --action-offline-mode'.split(
  ' ',
)

const pairs = (option: string, values: object): string[] => Object.entries(values).flatMap(([name, value]) => [option, `${name}=${value}`])

/**
 * Runs a workflow for an event, or one job of it with those that it needs. Jobs that do not run are absent. `actions` has the text of more actions, each under
 * `owner/name@ref`.
 */
export async function runAct(
  scene: RunnerScene,
  { path, text, job }: { readonly path: string; readonly text: string; readonly job?: string },
  event: WorkflowEvent,
  { authority = '', actions = {} }: { readonly authority?: string; readonly actions?: Readonly<Record<string, string>> } = {},
): Promise<{ readonly run: number; readonly jobs: ReadonlyMap<string, ActJob> }> {
  const { workflow, payload, run, vars, env, secretsOf, issueToken } = beginRun(scene, path, text, event)
  const folder = temporaryDirectory()
  const write = (name: string, content: string): string => {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    return file
  }
  const store = stores.get(scene) ?? startStore(scene)
  stores.set(scene, store)
  const standIns = actionsFor(scene.bare, await store)
  const pins = [text, ...Object.values(actions)].flatMap((one) => [...one.matchAll(/actions\/([\w-]+)@[0-9a-f]{40}/g)])
  const used = { ...Object.fromEntries(pins.map(([pin, name = '']) => [pin, standIns[name] ?? ''])), ...actions }
  const places = Object.entries(used).map(([pin, action], index) => [pin, dirname(write(`${index}/action.yml`, action))])
  const chosen = Object.entries(workflow.jobs).filter(([id]) => job === undefined || id === job || id === workflow.jobs[job]?.needs)
  const { token, revoke } = issueToken(...chosen.map(([, one]) => one))
  const secrets = Object.assign({ GITHUB_TOKEN: token }, ...chosen.map(([, one]) => secretsOf(one)))
  // act calls the variable of the commit so.
  const more = { SHA_REF: event.sha, GITHUB_BASE_REF: event.baseRef ?? '', ...(authority && { CURL_CA_BUNDLE: authority }) }
  const files = ['--workflows', write('workflow.yml', text), '--eventpath', write('event.json', JSON.stringify(payload))]
  const words = [
    event.name,
    ...(job === undefined ? [] : ['--job', job]),
    ...OPTIONS,
    ...files,
    '--action-cache-path',
    join(folder, 'cache'),
  ]
  const values = [pairs('--local-repository', Object.fromEntries(places)), pairs('--env', { ...env, ...more })]
  const { stdout, stderr } = await runTool(
    findForeignClient('act'),
    [...words, ...values.flat(), ...pairs('--secret', secrets), ...pairs('--var', vars)],
    { cwd: temporaryDirectory(), env: { HOME: folder, TMPDIR: folder, XDG_CACHE_HOME: folder } },
  )
  revoke()
  const lines = `${stdout}${stderr}`.split('\n').flatMap((one): Line[] => (one.startsWith('{') ? [JSON.parse(one)] : []))
  const jobs = new Map<string, ActJob>()
  for (const { jobID = '', job: name = '', jobResult } of lines) {
    if (jobResult !== 'success' && jobResult !== 'failure') continue
    const own = lines.filter((one) => one.jobID === jobID)
    const failed = own.map(({ msg = '' }) => /exit status ([0-9]+)/.exec(msg)?.[1]).find((one) => one !== undefined)
    jobs.set(jobID, {
      name: name.trim(),
      status: jobResult === 'success' ? 0 : Number(failed ?? Number.NaN),
      output: own.map(({ raw, raw_output, msg }) => raw ?? (raw_output === true ? msg : '')).join(''),
      summary: own.map(({ command, content = '' }) => (command === 'summary' ? content : '')).join(''),
    })
  }
  if (jobs.size === 0 && /^Error: /m.test(stderr)) throw new Error(stderr)
  run.conclusion = [...jobs.values()].every(({ status }) => status === 0) ? 'success' : 'failure'
  return { run: run.id, jobs }
}

/** Runs a job with act, and those that it needs. */
export const actRunner =
  (release: InstalledRelease): RunJob =>
  async (scene, workflow, event) => {
    const { run, jobs } = await runAct(scene, workflow, event, release)
    const { status = null, output = '', summary = '' } = jobs.get(workflow.job) ?? {}
    return { status, output, summary, run }
  }
