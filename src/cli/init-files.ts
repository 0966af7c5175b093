/** The files that `zonewright init` writes. The definition has the canonical layout, so `fmt --check` accepts it. */

import { type DomainName, displayName } from '../dns/domain-name.ts'
import { listed } from '../report/english.ts'
import { ADD_TO_GITHUB_PATH, INSTALL_SCRIPT, installPackages, installPythonPackages } from './install-script.ts'
import type { Release } from './release.ts'

export interface InitFile {
  /** Relative to the folder of the repository, with `/`. */
  readonly path: string
  readonly text: string
}

export interface InitOptions {
  readonly zone: DomainName
  readonly soaEmail: string
  /** The release that the workflow installs. */
  readonly release: Release
}

/** The environment variable with the token, for configuration and workflow. */
export const TOKEN_VARIABLE = 'ZONEWRIGHT_TOKEN'

/** What a workflow needs for its provider. */
interface WorkflowNeeds {
  /** The environment variables of the config, which are also the names of the secrets of the job that applies. */
  readonly variables: readonly string[]
  /** The name of the secret for pull requests, which may only read. */
  readonly readSecret: (variable: string) => string
  /** Comment lines about the rights that the commands need. */
  readonly rights: string
  /** The packages that are installed beside Zonewright. */
  readonly packages: readonly string[]
  /** The same for Python. */
  readonly pythonPackages: readonly string[]
  /** The code that a run may load; null for none. */
  readonly allowed: string | null
}

const CLOUD_TOKEN: WorkflowNeeds = {
  variables: [TOKEN_VARIABLE],
  readSecret: () => 'ZONEWRIGHT_READ_TOKEN',
  rights: `# The runner must reach base_url of zonewright.yaml. The commands need these scopes of a token:
#   plan    domains:read_only    the secret ZONEWRIGHT_READ_TOKEN
#   verify  domains:read_only    the same secret, in a job of yours
#   apply   domains:read_write   the secret ${TOKEN_VARIABLE}
# Definitions with addresses of instances also need instances:read_only; of load balancers, account:read_only. "zonewright doctor" lists needless
# scopes.`,
  packages: [],
  pythonPackages: [],
  allowed: null,
}

/** The needs of a provider whose config entry names these environment variables. */
export const workflowNeeds = (needs: Pick<WorkflowNeeds, 'variables' | 'packages' | 'pythonPackages' | 'allowed'>): WorkflowNeeds => ({
  ...needs,
  readSecret: readOnly,
  rights: `# The commands need these secrets:
#   plan    ${needs.variables.map(readOnly).join(', ')}    of a user who may read zones
#   apply   ${needs.variables.join(', ')}    of a user who may change them`,
})

const readOnly = (variable: string): string => `${variable}_READ_ONLY`

const SERVICE = '127.0.0.1:8080'
const NAME_SERVER = '127.0.0.1:5353'

export const initFiles = ({ zone, soaEmail, release }: InitOptions): readonly InitFile[] => [
  { path: 'zonewright.yaml', text: config(soaEmail) },
  { path: definitionPath(zone), text: definition(zone, soaEmail) },
  { path: '.github/workflows/dns.yml', text: workflow(release, [SERVICE, NAME_SERVER]) },
]

/** The path for a zone. A zone of RFC 2317 has a slash in its name; the definition itself names the zone. */
const definitionPath = (zone: DomainName): string => `zones/${zone.slice(0, -1).replace(/[^a-z0-9._-]/g, '-')}.yaml`

const config = (soaEmail: string): string => `# yaml-language-server: $schema=node_modules/zonewright/schemas/config.schema.json
# The providers, the provider of each definition, and the safety limits.
providers:
  # A service on this machine: ZONEWRIGHT_BOOTSTRAP_TOKEN=$${TOKEN_VARIABLE} zonewright serve
  cloud: {type: cloud, base_url: 'http://${SERVICE}/v4', token: 'env:${TOKEN_VARIABLE}'}
  # Or a service elsewhere, with a token that may read and write domains. Also change ZONEWRIGHT_ALLOWED_HOSTS in
  # .github/workflows/dns.yml:
  # cloud: {type: cloud, base_url: 'https://dns.example.net/v4', token: 'env:${TOKEN_VARIABLE}'}
  # or Akamai Cloud (Linode):
  # cloud: {type: cloud, preset: linode, token: 'env:${TOKEN_VARIABLE}'}
zones:
  - {files: 'zones/**/*', targets: [cloud]}
# Settings for definitions that do not have them.
defaults: {soa_email: ${soaEmail}}
# A plan beyond these limits is refused until --allow lifts the refusal.
safety: {max_delete_percent: 30, max_update_percent: 30}
# The name servers that "zonewright verify" asks: here the service on this machine. Default: those in the zone's NS records.
nameservers: ['${NAME_SERVER}']
`

const definition = (
  zone: DomainName,
  soaEmail: string,
): string => `# yaml-language-server: $schema=../node_modules/zonewright/schemas/zone.schema.json
# All records of the zone: "zonewright apply" deletes any other. These are examples (RFC 2606, RFC 5737): replace them with yours.
domain: ${displayName(zone).replace(/\.$/, '')}
soa_email: ${soaEmail}
default_ttl: 1h
records:
${/\.(?:in-addr|ip6)\.arpa\.$/.test(zone) ? REVERSE_RECORDS : RECORDS}`

const RECORDS = `  # The apex: the zone's own name.
  '':
    - {type: A, value: 192.0.2.1}
    - {type: TXT, value: v=spf1 -all}
  # A single label is a name in this zone, @ is the apex. A full name ends in a dot.
  www: {type: CNAME, value: '@'}
`

const REVERSE_RECORDS = `  # The last label of the address; then the name of the host, with a final dot.
  '1': {type: PTR, value: www.example.com.}
`

/** The variable with the script, so that each job runs the same one. */
const INSTALL_VARIABLE = 'INSTALL_ZONEWRIGHT'

/** The entries of `env` that install the program. */
const installVariables = (
  { tarball, checksum }: Release,
  packages: readonly string[],
  pythonPackages: readonly string[],
): string => `  # The release that every job installs: the address of its tarball, and the SHA-256 of the tarball, which SHA256SUMS of the release states.
  ZONEWRIGHT_TARBALL: '${tarball}'
  ZONEWRIGHT_CHECKSUM: '${checksum}'
  ${INSTALL_VARIABLE}: |
${(INSTALL_SCRIPT + installPackages(packages) + installPythonPackages(pythonPackages) + ADD_TO_GITHUB_PATH).replace(/^/gm, '    ').trimEnd()}`

const SET_UP = `      - uses: actions/setup-node@v4
        with: {node-version: 20}
      # Before the checkout: no file of the repository can replace the program.
      - run: sh -c "$${INSTALL_VARIABLE}"`

/** A list of hosts that allows none, since an empty list is an error. */
const NO_HOST = 'none.invalid'

const allowedLines = (allowed: string | null): string =>
  allowed === null
    ? ''
    : `  # The only code beside Zonewright that a run may load. Nothing limits the hosts that this class contacts.
  ZONEWRIGHT_ALLOWED_PACKAGES: '${allowed}'
`

/** The lines of `env` for secrets. */
const secretLines = (variables: readonly string[], secretOf: (variable: string) => string): string =>
  variables.map((variable) => `          ${variable}: \${{ secrets.${secretOf(variable)} }}\n`).join('')

/** The CI workflow. `hosts` are the entries of ZONEWRIGHT_ALLOWED_HOSTS for the config; the needs are those of the service if absent. */
export const workflow = (
  release: Release,
  hosts: readonly string[],
  { variables, readSecret, rights, packages, pythonPackages, allowed }: WorkflowNeeds = CLOUD_TOKEN,
): string => `# DNS from this repository: planned on pull requests, applied when they are merged.
${rights}
# Keep ${listed(variables)} in the environment "dns" and let only the branch main use it: whoever can push a branch can read the
# secrets of the repository.
name: DNS
on:
  pull_request: {branches: [main]}
  push: {branches: [main]}
permissions:
  contents: read
concurrency:
  group: dns-\${{ github.ref }}
env:
  # The only hosts that a run may contact, whatever the config says: those of base_url and nameservers.
  ZONEWRIGHT_ALLOWED_HOSTS: '${hosts.join(', ') || NO_HOST}'
${allowedLines(allowed)}${installVariables(release, packages, pythonPackages)}
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
${SET_UP}
      - uses: actions/checkout@v4
        with: {persist-credentials: false}
      - run: zonewright validate --format github
      - run: zonewright fmt --check
  plan:
    needs: check
    # Pull requests from forks get no secrets.
    if: github.event_name == 'pull_request' && github.event.pull_request.head.repo.full_name == github.repository
    runs-on: ubuntu-latest
    steps:
${SET_UP}
      - uses: actions/checkout@v4
        with: {fetch-depth: 0, persist-credentials: false}
      # The definitions come from the pull request. The config comes from the base branch, since it says which host gets the token: a change
      # of it takes effect once it is merged.
      - run: |
          rm -rf zonewright.yaml
          git show "refs/remotes/origin/$GITHUB_BASE_REF:zonewright.yaml" > zonewright.yaml
      - run: zonewright plan --format markdown >> "$GITHUB_STEP_SUMMARY"
        env:
${secretLines(variables, readSecret)}  apply:
    needs: check
    if: github.event_name == 'push'
    environment: dns
    runs-on: ubuntu-latest
    steps:
${SET_UP}
      - uses: actions/checkout@v4
        with: {persist-credentials: false}
      - run: zonewright apply --yes --format markdown >> "$GITHUB_STEP_SUMMARY"
        env:
${secretLines(variables, (variable) => variable)}`
