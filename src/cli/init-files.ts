/** The files that `zonewright init` writes. The definition has the canonical layout, so `fmt --check` accepts it. */

import { type DomainName, displayName } from '../dns/domain-name.ts'
import { type CiSite, ciFiles } from './ci-files.ts'
import { cloudNeeds } from './ci-needs.ts'
import type { Release } from './release.ts'

export interface InitFile {
  /** Relative to the folder of the repository, with `/`. */
  readonly path: string
  readonly text: string
}

export interface InitOptions {
  readonly zone: DomainName
  readonly soaEmail: string
  /** The release that the jobs install. */
  readonly release: Release
  /** The site whose CI runs the jobs. */
  readonly ci: CiSite
}

/** The environment variable with the token, for configuration and workflow. */
export const TOKEN_VARIABLE = 'ZONEWRIGHT_TOKEN'

const SERVICE = '127.0.0.1:8080'
const NAME_SERVER = '127.0.0.1:5353'

export const initFiles = ({ zone, soaEmail, release, ci }: InitOptions): readonly InitFile[] => [
  { path: 'zonewright.yaml', text: config(soaEmail) },
  { path: definitionPath(zone), text: definition(zone, soaEmail) },
  ...ciFiles(ci, release, [SERVICE, NAME_SERVER], cloudNeeds(TOKEN_VARIABLE)),
]

/** The path for a zone. A zone of RFC 2317 has a slash in its name; the definition itself names the zone. */
const definitionPath = (zone: DomainName): string => `zones/${zone.slice(0, -1).replace(/[^a-z0-9._-]/g, '-')}.yaml`

const config = (soaEmail: string): string => `# yaml-language-server: $schema=node_modules/zonewright/schemas/config.schema.json
# The providers, the provider of each definition, and the safety limits.
providers:
  # A service on this machine: ZONEWRIGHT_BOOTSTRAP_TOKEN=$${TOKEN_VARIABLE} zonewright serve
  cloud: {type: cloud, base_url: 'http://${SERVICE}/v4', token: 'env:${TOKEN_VARIABLE}'}
  # Or a service elsewhere, with a token that may read and write domains. Also change ZONEWRIGHT_ALLOWED_HOSTS of the
  # CI jobs:
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
