/** The CI jobs that `zonewright init` writes: pull requests are planned, merges applied, and the live zones compared with the definitions on schedule. */
import { readdirSync } from 'node:fs'
import { join, posix, resolve } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { listed } from '../../base/english.ts'
import { CONFIG_FILE, type Config } from '../../config/config.ts'
import type { OutputFile } from '../../files/write-files.ts'
import type { CliIo } from '../io.ts'
import type { CliOutput } from '../output.ts'
import { existingText, type InitFile, withInclude } from './add-files.ts'
import {
  allowedLines,
  type CiNeeds,
  type CiSettings,
  cloudNeeds,
  codeOf,
  INSTALL_SCRIPT,
  installPackages,
  installPythonPackages,
  needsOf,
  providerNeeds,
} from './ci-needs.ts'
import { pythonPackagesOf } from './first-provider.ts'
import { githubChecks, githubJobs } from './github-workflows.ts'
import { installedRelease, type Release } from './release.ts'
import type { CiSite, Repository } from './repository.ts'

export const ciFiles = (
  site: CiSite,
  release: Release,
  hosts: readonly string[],
  needs: CiNeeds,
  branch = 'main',
): readonly OutputFile[] => {
  const settings: CiSettings = { ...needs, release, hosts, branch }
  if (site === 'gitlab') return [{ path: PIPELINE, text: gitlabPipeline(settings) }]
  return [
    { path: '.github/workflows/dns.yml', text: githubJobs(settings) },
    { path: '.github/workflows/dns-check.yml', text: githubChecks(settings) },
  ]
}

/**
 * The jobs for a config. The output is null before consent. With it, classes of octoDNS are started if they may run, and say which packages they need. At GitLab, an existing pipeline
 * includes ours.
 */
export async function filesForCi(
  { env, variables: forPrograms = {} }: CliIo,
  { root, below, site, branch }: Repository,
  config: Config,
  output: CliOutput | null,
  mayRun = true,
): Promise<readonly InitFile[]> {
  const { hosts, variables, packages, code } = needsOf(config)
  const pythonPackages: string[] = []
  for (const { name, type, settings } of output === null ? [] : config.providers.values()) {
    if (type !== 'lexicon' && typeof settings['class'] !== 'string') continue
    const [code] = codeOf(type, settings) as [string]
    const own = mayRun ? await pythonPackagesOf(config, name, env) : []
    pythonPackages.push(...own)
    if (own.length < (/^(?:octodns\.|lexicon:)/.test(code) ? 1 : 2)) output?.diagnostics([packagesUnknown(code)])
  }
  const [only] = variables
  const isCloud = variables.length === 1 && [...config.providers.values()].every(({ type }) => type === 'cloud')
  const allowed = code.length === 0 ? null : code.join(', ')
  const needs =
    isCloud && only ? cloudNeeds(only) : providerNeeds({ variables, packages, pythonPackages: [...new Set(pythonPackages)], allowed })
  const given = Object.entries(forPrograms).map(([name, value]) => ` --var ${name}=${value}`)
  // The jobs run in the root of the repository.
  const place = below === '' ? '' : ` -c '${below}/${CONFIG_FILE}'`
  const up = below.replace(/[^/]+/g, '..').replace(/.$/, '$&/')
  const files = ciFiles(site, installedRelease(), hosts, needs, branch).map(({ path, text }) => ({
    path: up + path,
    text: text.replace(
      /^ .*\bzonewright (fmt|validate|snapshot|ci (?:plan|apply|drift))\b/gm,
      (command, name) => command + place + (name === 'fmt' ? '' : given.join('')),
    ),
  }))
  const existing = (path: string): string | null | undefined => existingText(root, resolve(root, below, path))
  const withRelease = (file: InitFile): InitFile => ({ ...file, text: keepRelease(file.text, existing(file.path) ?? '') })
  if (site === 'github') {
    const isForeign = (text: string | null | undefined): boolean => text !== null && text?.includes('zonewright') !== true
    output?.diagnostics(files.filter(({ path }) => isForeign(existing(path))).map(({ path }) => notOurs(path)))
    return files.map(withRelease)
  }
  const pipeline = existingText(root, PIPELINE)
  if (!pipeline || /^dns:plan:/m.test(pipeline)) return files.map(withRelease)
  const text = withInclude(pipeline, INCLUDED)
  if (text === null) output?.diagnostics([notIncluded])
  const jobs = files.map((file) => withRelease({ path: up + INCLUDED, text: inStageOf(pipeline, file.text) }))
  return [...jobs, ...(text === null ? [] : [{ path: up + PIPELINE, text, changes: true }])]
}

/** Jobs with the release that an existing file states, unless that of this program is known. */
function keepRelease(jobs: string, before: string): string {
  const { tarball, checksum } = installedRelease()
  if (tarball !== '' && checksum !== '') return jobs
  const stated = new Map([...before.matchAll(RELEASE)].map(([, , name, value = '']) => [name, value]))
  return jobs.replace(RELEASE, (line, indent, name) => {
    const value = stated.get(name) ?? "''"
    return value === "''" ? line : `${indent}${name}: ${value}`
  })
}

const RELEASE = /^( *)(ZONEWRIGHT_(?:TARBALL|CHECKSUM)): *(.*)$/gm

/** The jobs in a stage that the pipeline has: without one, a job is in the stage "test". */
function inStageOf(pipeline: string, jobs: string): string {
  const [, list = ''] = /^stages:(.*(?:\n[ \t]*(?:[-#\]].*)?)*)/m.exec(pipeline) ?? []
  const stages = [...list.replace(/#.*/g, '').matchAll(/[^\s,[\]'"-][^,[\]'"\n]*/g)].map(([name]) => name.trim())
  const last = stages.at(-1)
  return last === undefined || stages.includes('test') ? jobs : jobs.replace('\n.zonewright:\n', (line) => `${line}  stage: '${last}'\n`)
}

export const warning = (message: string, hint: string): Diagnostic => ({ severity: 'warning', code: 'import-aside', message, hint })

/** Warnings of existing jobs with which octoDNS or DNSControl change zones: per file the first line that changes them, judged by its words. */
export function otherDeployJobs({ root, below }: Repository): readonly Diagnostic[] {
  return [PIPELINE, ...workflowsIn(root)].flatMap((path): Diagnostic[] => {
    const lines = (existingText(root, path) ?? '').split('\n').map((line) => line.replace(/^\s*#.*/, ''))
    const of = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line))
    const index = [/\boctodns-sync\b.*\bdoit\b|\bdnscontrol\s+push\b/, /\boctodns-sync\b/].map(of).find((found) => found >= 0)
    if (index === undefined) return []
    const tool = /octodns/.test(lines[index] ?? '') ? 'octodns-sync' : 'dnscontrol push'
    const message = `this job runs ${tool}: two tools would change the zones`
    const at = { file: posix.relative(below, path), line: index + 1, column: 1 }
    return [{ ...warning(message, "remove this job when Zonewright's applies"), at }]
  })
}

function workflowsIn(root: string): readonly string[] {
  try {
    const names = readdirSync(join(root, WORKFLOWS)).filter((name) => /\.ya?ml$/.test(name))
    return names.sort().map((name) => `${WORKFLOWS}/${name}`)
  } catch {
    // There is no such folder, or this user may not read it.
    return []
  }
}

const WORKFLOWS = '.github/workflows'

const packagesUnknown = (className: string): Diagnostic =>
  warning(
    `the CI jobs do not install the package of ${className}: it is not known, or states no version`,
    'add its installation to the CI jobs, after that of Zonewright',
  )

export const isJobFile = (path: string): boolean => /(?:^|\/)\.(?:github\/workflows\/|gitlab\/|gitlab-ci\.yml$)/.test(path)

const PIPELINE = '.gitlab-ci.yml'
/** The pipeline beside an existing one. */
const INCLUDED = '.gitlab/zonewright.yml'

const IMAGE = 'node:20-bookworm'

/** Assignments before a command: the variables of the config get the values of those that may only read. */
const reading = ({ variables, readSecret }: CiSettings): string =>
  variables.map((variable) => `${variable}="$${readSecret(variable)}" `).join('')

const secretsOf = ({ variables, readSecret }: CiSettings): string =>
  variables.length === 0
    ? ''
    : `#   ${listed(variables)}    protected, for the environment "dns" only
#   ${listed([...new Set(variables.map(readSecret))])}    for all jobs
`

const gitlabPipeline = (
  settings: CiSettings,
): string => `# DNS from this repository: planned on merge requests, applied when they are merged, compared with the live zones on schedule.
${settings.rights}
# Variables of the project, all masked:
${secretsOf(settings)}#   ZONEWRIGHT_GITLAB_TOKEN    a project access token, role Reporter, scope api: it comments and opens issues
#   ZONEWRIGHT_PLAN_KEY    signs plans (openssl rand -hex 32)
variables:
  # The only hosts that a run may contact, whatever the config says: those of base_url and nameservers, and GitLab.
  ZONEWRIGHT_ALLOWED_HOSTS: '${[...settings.hosts, '$CI_SERVER_HOST'].join(', ')}'
${allowedLines(settings.allowed)}  # The release that every job installs: the address of its tarball, and its SHA-256, which SHA256SUMS of the release states, or its SHA-512.
  ZONEWRIGHT_TARBALL: '${settings.release.tarball}'
  ZONEWRIGHT_CHECKSUM: '${settings.release.checksum}'

.zonewright:
  image: ${IMAGE}
  variables:
    # The whole history: --since compares with the target branch.
    GIT_DEPTH: '0'
  before_script:
    - |
${(INSTALL_SCRIPT + installPackages(settings.packages) + installPythonPackages(settings.pythonPackages)).replace(/^/gm, '      ').trimEnd()}
      export PATH="$folder/bin:$PATH"

# Merge requests from forks run this job in the project of the fork, without the variables of this one.
dns:check:
  extends: .zonewright
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  script:
    - zonewright validate
    # Only the files that the merge request changes.
    - zonewright fmt --check --since "$CI_MERGE_REQUEST_DIFF_BASE_SHA"

dns:plan:
  extends: .zonewright
  rules:
    # Not for other target branches, whose config anybody may have pushed.
    - if: $CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID && $CI_MERGE_REQUEST_TARGET_BRANCH_NAME == $CI_DEFAULT_BRANCH
  script:
    # The definitions as they will be after the merge. Providers, hosts and limits are those of the config of the target branch.
    - git -c user.name=zonewright -c user.email=zonewright@localhost merge --quiet --no-edit "refs/remotes/origin/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME" || zonewright ci plan --unmerged
    - rm -rf plan.json
    - ${reading(settings)}zonewright ci plan --since "refs/remotes/origin/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME" --out plan.json
  artifacts: &plan
    when: always
    access: developer
    expire_in: 90 days
    paths: [plan.json]

dns:apply:
  extends: .zonewright
  rules:
    - if: $CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  environment: dns
  # One at a time, in the order of the merges if the process mode of the resource group is oldest_first.
  resource_group: dns
  script:
    # Finds the plan of the merged merge request, and applies it in the zones that have not changed since. If something is left, it shows a new
    # plan, and ends with status 3.
    - zonewright ci apply

# By hand (Build, Pipelines, New pipeline): plans the default branch as it is, and applies that plan once somebody starts the second job. For what the job of a merge
# has left.
dns:plan-main:
  extends: .zonewright
  rules:
    - if: $CI_PIPELINE_SOURCE == "web" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - rm -rf plan.json
    - ${reading(settings)}zonewright ci plan --out plan.json
  artifacts: *plan

dns:apply-main:
  extends: .zonewright
  rules:
    - if: $CI_PIPELINE_SOURCE == "web" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
      when: manual
  needs: [dns:plan-main]
  environment: dns
  resource_group: dns
  script:
    - zonewright ci apply --plan plan.json

dns:drift:
  extends: .zonewright
  rules:
    - if: $CI_PIPELINE_SOURCE == "schedule" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - ${reading(settings)}zonewright ci drift
`

const notOurs = (path: string): Diagnostic =>
  warning(
    `${path} is another workflow and was not changed, so GitHub runs only a part of the jobs`,
    'rename it, and run "zonewright init" again',
  )

const notIncluded: Diagnostic = warning(
  `${PIPELINE} includes other files and was not changed, so GitLab does not run the jobs in ${INCLUDED}`,
  `add "- local: ${INCLUDED}" to its "include"`,
)
