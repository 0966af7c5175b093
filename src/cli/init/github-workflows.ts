/**
 * The workflows for GitHub Actions. One has all jobs with secrets, and GitHub takes it from the base branch; by hand, from the branch that somebody names, and the
 * environments let only the default branch have secrets. The other has none and runs for every pull request, also from forks. Actions are pinned by commit.
 */
import { listed } from '../../base/english.ts'
import { planRunName } from '../../ci/github.ts'
import { ADD_TO_GITHUB_PATH, allowedLines, type CiSettings, INSTALL_SCRIPT, installPackages, installPythonPackages } from './ci-needs.ts'

const SETUP_NODE = 'actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0'
const CHECKOUT = 'actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2'
const UPLOAD = 'actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2'
const DOWNLOAD = 'actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093 # v4.3.0'

/** The host of the API of GitHub, for comments and issues. */
const API_HOST = 'api.github.com'

/** The variable with the script, so that each job runs the same one. */
const INSTALL_VARIABLE = 'INSTALL_ZONEWRIGHT'

const environment = ({ hosts, release: { tarball, checksum }, packages, pythonPackages, allowed }: CiSettings): string => `env:
  # The only hosts that a run may contact, whatever the config says: those of base_url and nameservers, and the API of GitHub.
  ZONEWRIGHT_ALLOWED_HOSTS: '${[...hosts, API_HOST].join(', ')}'
${allowedLines(allowed)}  # The release that every job installs: the address of its tarball, and its SHA-256, which SHA256SUMS of the release states, or its SHA-512.
  ZONEWRIGHT_TARBALL: '${tarball}'
  ZONEWRIGHT_CHECKSUM: '${checksum}'
  ${INSTALL_VARIABLE}: |
${(INSTALL_SCRIPT + installPackages(packages) + installPythonPackages(pythonPackages) + ADD_TO_GITHUB_PATH).replace(/^/gm, '    ').trimEnd()}
`

const SET_UP = `      - uses: ${SETUP_NODE}
        with: {node-version: 20}
      # Before the checkout: no file of the repository can replace the program.
      - run: sh -c "$${INSTALL_VARIABLE}"
`

const GITHUB_TOKEN = `          GITHUB_TOKEN: \${{ github.token }}
`

/** The lines of `env` for secrets. */
const secretLines = ({ variables }: CiSettings, secretOf: (variable: string) => string): string =>
  variables.map((variable) => `          ${variable}: \${{ secrets.${secretOf(variable)} }}\n`).join('')

const PLAN_KEY = `          ZONEWRIGHT_PLAN_KEY: \${{ secrets.ZONEWRIGHT_PLAN_KEY }}
`

/** The name that `ci plan` gives to the artifact: it has the commit. */
const PLAN_ARTIFACT = `\${{ steps.plan.outputs.artifact }}`

/** A step that downloads what a step `id` has found, to a folder outside the checkout. */
const download = (id: string, folder: string): string => `      - uses: ${DOWNLOAD}
        if: steps.${id}.outputs.found == 'true'
        with:
          artifact-ids: \${{ steps.${id}.outputs.artifact-id }}
          run-id: \${{ steps.${id}.outputs.run-id }}
          github-token: \${{ github.token }}
          merge-multiple: true
          path: \${{ runner.temp }}/${folder}
`

/** Downloads the plans that `ci find` has found, numbered in the order of the merges. The action above downloads from one run only. `action.yml` has the same script. */
export const DOWNLOAD_PLANS = `rm -rf "$RUNNER_TEMP/reviewed"
mkdir "$RUNNER_TEMP/reviewed"
for id in $PLANS; do
  plan="$RUNNER_TEMP/reviewed/$((n += 1))"
  printf 'authorization: Bearer %s\\n' "$GITHUB_TOKEN" | curl --fail --silent --show-error --location --retry 3 --max-time 300 --header @- \\
    --output "$plan.zip" --url "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/actions/artifacts/$id/zip"
  unzip -p "$plan.zip" plan.json > "$plan.json"
done
`

const upload = (name: string, file: string): string => `      - uses: ${UPLOAD}
        if: \${{ !cancelled() }}
        with: {name: '${name}', path: '\${{ runner.temp }}/${file}', if-no-files-found: ignore, overwrite: true}
`

/** Steps that keep a snapshot, so that the jobs of forks can plan without credentials. Everybody who can read the repository can read it. */
const snapshot = (
  settings: CiSettings,
  secretOf: (variable: string) => string,
): string => `      # For plans of forks, if the variable ZONEWRIGHT_FORKS of the repository is true: everybody who can read the repository can read the snapshot.
      - run: zonewright snapshot --out "$RUNNER_TEMP/snapshot.json"
        if: \${{ !cancelled() && vars.ZONEWRIGHT_FORKS == 'true' }}
${settings.variables.length === 0 ? '' : `        env:\n${secretLines(settings, secretOf)}`}      - uses: ${UPLOAD}
        if: \${{ !cancelled() && vars.ZONEWRIGHT_FORKS == 'true' }}
        with: {name: zonewright-snapshot, path: '\${{ runner.temp }}/snapshot.json', if-no-files-found: ignore, overwrite: true}
`

/** A run of another event gets the name that GitHub gives it. */
const RUN_NAME = `\${{ github.event_name == 'pull_request_target' && format('${planRunName('{0}', '{1}')}', github.event.number, github.event.pull_request.head.sha) || '' }}`

/** The workflow with the secrets. */
export const githubJobs = (
  settings: CiSettings,
): string => `# DNS from this repository: planned on pull requests, applied when they are merged, compared with the live zones every day.
${settings.rights}
# Keep the secrets that read in the environment "dns-read" and ${listed(settings.variables) || 'those that write'} in the environment "dns". Keep ZONEWRIGHT_PLAN_KEY, which
# signs plans (openssl rand -hex 32), in both. Let only the branch ${settings.branch} use both environments.
name: DNS
# Do not change it: the job "apply" knows by it which run was the last for a pull request.
run-name: "${RUN_NAME}"
on:
  # For these events GitHub takes the workflow from the base branch, so a pull request cannot change what a job does with its secrets.
  # The jobs read the definitions of the pull request as data, and run nothing of it.
  pull_request_target: {branches: [${settings.branch}]}
  push: {branches: [${settings.branch}]}
  schedule: [{cron: '17 5 * * *'}]
  # By hand: plans ${settings.branch} as it is, and applies that plan once the environment "dns" lets it. For what the job of a merge has left.
  # A run for another branch has the workflow of that branch: the environments keep the secrets from it.
  workflow_dispatch:
  # After the job of a pull request from a fork, which has no secrets.
  workflow_run: {workflows: [DNS check], types: [completed]}
permissions: {}
${environment(settings)}jobs:
  plan:
    # Pull requests from forks get no secrets: see "comment".
    if: github.event_name == 'pull_request_target' && github.event.pull_request.head.repo.full_name == github.repository
    runs-on: ubuntu-latest
    environment: dns-read
    permissions: {contents: read, pull-requests: write}
    concurrency: {group: 'dns-plan-\${{ github.event.number }}', cancel-in-progress: true}
    steps:
${SET_UP}      - uses: ${CHECKOUT}
        with: {ref: '\${{ github.event.pull_request.head.sha }}', fetch-depth: 0, persist-credentials: false}
      # The definitions as they will be after the merge. Providers, hosts and limits are those of the config of the base branch.
      - run: git -c user.name=zonewright -c user.email=zonewright@localhost merge --quiet --no-edit "refs/remotes/origin/$GITHUB_BASE_REF"
        id: merge
      - run: zonewright ci plan --unmerged
        if: \${{ failure() && steps.merge.outcome == 'failure' }}
        env:
${GITHUB_TOKEN}      - run: zonewright ci plan --since "refs/remotes/origin/$GITHUB_BASE_REF" --out "$RUNNER_TEMP/plan.json"
        id: plan
        env:
${GITHUB_TOKEN}${secretLines(settings, settings.readSecret)}${PLAN_KEY}${upload(PLAN_ARTIFACT, 'plan.json')}
  plan-main:
    if: github.event_name == 'workflow_dispatch' && github.ref == 'refs/heads/${settings.branch}'
    runs-on: ubuntu-latest
    environment: dns-read
    permissions: {contents: read}
    steps:
${SET_UP}      - uses: ${CHECKOUT}
        with: {fetch-depth: 0, persist-credentials: false}
      - run: zonewright ci plan --out "$RUNNER_TEMP/plan.json"
        id: plan
        env:
${GITHUB_TOKEN}${secretLines(settings, settings.readSecret)}${PLAN_KEY}${upload(PLAN_ARTIFACT, 'plan.json')}
  apply:
    needs: plan-main
    if: \${{ !cancelled() && (github.event_name == 'push' || needs.plan-main.result == 'success') }}
    runs-on: ubuntu-latest
    environment: dns
    permissions: {contents: read, actions: read, pull-requests: read}
    steps:
${SET_UP}      - uses: ${CHECKOUT}
        with: {fetch-depth: 0, persist-credentials: false}
      # The plans that were reviewed: of the last commit of each merged pull request, made by the job "plan"; by hand, that of the job "plan-main".
      - run: zonewright ci find reviewed-plan
        id: reviewed
        env:
${GITHUB_TOKEN}      - env:
          PLANS: \${{ steps.reviewed.outputs.artifact-ids }}
${GITHUB_TOKEN}        run: |
${DOWNLOAD_PLANS.replace(/^/gm, '          ').trimEnd()}
      # Applies them in the zones that have not changed since. If something is left, it shows a new plan, and ends with status 3.
      - run: zonewright ci apply --plan "$RUNNER_TEMP/reviewed"
        env:
${GITHUB_TOKEN}${secretLines(settings, (variable) => variable)}${PLAN_KEY}${snapshot(settings, (variable) => variable)}
  drift:
    if: github.event_name == 'schedule'
    runs-on: ubuntu-latest
    environment: dns-read
    permissions: {contents: read, issues: write}
    concurrency: {group: dns-drift}
    steps:
${SET_UP}      - uses: ${CHECKOUT}
        with: {persist-credentials: false}
      - run: zonewright ci drift
        env:
${GITHUB_TOKEN}${secretLines(settings, settings.readSecret)}${snapshot(settings, settings.readSecret)}
  # Comments on a pull request from a fork, from the plan file of its job. It checks nothing out and has no secret of the DNS.
  comment:
    if: >-
      github.event_name == 'workflow_run' && github.event.workflow_run.event == 'pull_request' &&
      github.event.workflow_run.head_repository.full_name != github.repository
    runs-on: ubuntu-latest
    permissions: {actions: read, pull-requests: write}
    steps:
${SET_UP}      - run: zonewright ci find fork-plan
        id: fork
        env:
${GITHUB_TOKEN}${download('fork', 'fork')}      - run: zonewright ci comment --plan "$RUNNER_TEMP/fork/plan.json"
        env:
${GITHUB_TOKEN}`

/** The workflow without secrets. */
export const githubChecks = (
  settings: CiSettings,
): string => `# Checks every pull request, also from forks. No job here has a secret, so a pull request may change this file.
name: DNS check
on:
  pull_request: {branches: [${settings.branch}]}
  # A group of a merge queue, which has no secrets either: its workflow comes from the pull requests.
  merge_group: {branches: [${settings.branch}]}
permissions: {contents: read}
${environment(settings)}jobs:
  check:
    runs-on: ubuntu-latest
    steps:
${SET_UP}      - uses: ${CHECKOUT}
        with: {fetch-depth: 0, persist-credentials: false}
      - run: zonewright validate --format github
      # Only the files that the pull request changes.
      - run: zonewright fmt --check --since refs/remotes/origin/${settings.branch}

  # A plan for a pull request from a fork or for a merge group, against the newest snapshot of the base branch. The workflow "DNS" comments with that of a fork.
  # A merge queue waits for the same check "plan" as a pull request.
  offline-plan:
    name: \${{ github.event_name == 'merge_group' && 'plan' || 'offline-plan' }}
    if: github.event_name == 'merge_group' || github.event.pull_request.head.repo.full_name != github.repository
    runs-on: ubuntu-latest
    permissions: {contents: read, actions: read}
    steps:
${SET_UP}      - uses: ${CHECKOUT}
        with: {fetch-depth: 0, persist-credentials: false}
      - run: zonewright ci find snapshot --from .github/workflows/dns.yml
        id: snapshot
        env:
${GITHUB_TOKEN}${download('snapshot', 'snapshot')}      - run: zonewright ci plan --no-comment --since refs/remotes/origin/${settings.branch} --out "$RUNNER_TEMP/plan.json" -- --snapshot "$RUNNER_TEMP/snapshot/snapshot.json" --max-age 48h --base refs/remotes/origin/${settings.branch}
        if: steps.snapshot.outputs.found == 'true'
${upload('zonewright-fork-plan', 'plan.json')}`
