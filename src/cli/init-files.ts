/** The files `zonewright init` writes. The definition is in the canonical layout, so that `fmt --check` has nothing to say. */
import { type DomainName, displayName } from '../model/domain-name.ts'

export interface InitFile {
  /** From the folder of the repository, with `/`. */
  readonly path: string
  readonly text: string
}

export interface InitOptions {
  readonly zone: DomainName
  readonly soaEmail: string
  /** Of the package, for the workflow to pin. */
  readonly version: string
}

/** The variable that configuration and workflow take the token from. */
export const TOKEN_VARIABLE = 'ZONEWRIGHT_TOKEN'

export const initFiles = ({ zone, soaEmail, version }: InitOptions): readonly InitFile[] => [
  { path: 'zonewright.yaml', text: config(soaEmail) },
  { path: definitionPath(zone), text: definition(zone, soaEmail) },
  { path: '.github/workflows/dns.yml', text: workflow(version) },
]

/** The name is in the file; that of the file is for people, and a zone of RFC 2317 has a slash in its. */
const definitionPath = (zone: DomainName): string => `zones/${zone.slice(0, -1).replace(/[^a-z0-9._-]/g, '-')}.yaml`

const config = (soaEmail: string): string => `# yaml-language-server: $schema=node_modules/zonewright/schemas/config.schema.json
# Where zones live, which definitions go where, and how careful to be.
providers:
  # A service on this machine: ZONEWRIGHT_BOOTSTRAP_TOKEN=$${TOKEN_VARIABLE} zonewright serve
  cloud: {type: cloud, base_url: 'http://127.0.0.1:8080/v4', token: 'env:${TOKEN_VARIABLE}'}
  # Instead, the same interface in the network, with a token that may read and write domains:
  # cloud: {type: cloud, base_url: 'https://dns.example.net/v4', token: 'env:${TOKEN_VARIABLE}'}
  # or Akamai Cloud (Linode):
  # cloud: {type: cloud, preset: linode, token: 'env:${TOKEN_VARIABLE}'}
zones:
  - {files: 'zones/**/*', targets: [cloud]}
# For zones that do not say it themselves.
defaults: {soa_email: ${soaEmail}}
# A plan beyond these limits is refused until --allow lifts the refusal.
safety: {max_delete_percent: 30, max_update_percent: 30}
# Whom "zonewright verify" asks: the service on this machine. Without this line, the name servers in the zone's NS records.
nameservers: ['127.0.0.1:5353']
`

const definition = (
  zone: DomainName,
  soaEmail: string,
): string => `# yaml-language-server: $schema=../node_modules/zonewright/schemas/zone.schema.json
# All records of the zone: what is not here is not in DNS. These are examples (RFC 2606, RFC 5737): put yours in their place.
domain: ${displayName(zone).replace(/\.$/, '')}
soa_email: ${soaEmail}
default_ttl: 1h
records:
${/\.(?:in-addr|ip6)\.arpa\.$/.test(zone) ? REVERSE_RECORDS : RECORDS}`

const RECORDS = `  # The apex: the zone's own name.
  '':
    - {type: A, value: 192.0.2.1}
    - {type: TXT, value: v=spf1 -all}
  # One label is a name in this zone, @ the apex; a name elsewhere ends in a dot.
  www: {type: CNAME, value: '@'}
`

const REVERSE_RECORDS = `  # The last label of the address, and the name of the host, with a dot at its end.
  '1': {type: PTR, value: www.example.com.}
`

export const workflow = (version: string): string => `# DNS from this repository: planned on pull requests, applied when they are merged.
# The runner must reach base_url of zonewright.yaml, and the repository needs the secret ${TOKEN_VARIABLE}.
name: DNS
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
concurrency:
  group: dns-\${{ github.ref }}
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: {node-version: 20}
      - run: npx --yes zonewright@${version} validate --format github
      - run: npx --yes zonewright@${version} fmt --check
  plan:
    needs: check
    # Pull requests from forks get no secrets.
    if: github.event_name == 'pull_request' && github.event.pull_request.head.repo.full_name == github.repository
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: {node-version: 20}
      - run: npx --yes zonewright@${version} plan --format markdown >> "$GITHUB_STEP_SUMMARY"
        env:
          ${TOKEN_VARIABLE}: \${{ secrets.${TOKEN_VARIABLE} }}
  apply:
    needs: check
    if: github.event_name == 'push'
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: {node-version: 20}
      - run: npx --yes zonewright@${version} apply --yes --format markdown >> "$GITHUB_STEP_SUMMARY"
        env:
          ${TOKEN_VARIABLE}: \${{ secrets.${TOKEN_VARIABLE} }}
`
