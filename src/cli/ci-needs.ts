/** What CI jobs need for the provider of a config: secrets, rights and packages. */
import type { Release } from './release.ts'

/** What the jobs need for the provider of a config. */
export interface CiNeeds {
  /** The environment variables of the config, which are also the names of the secrets of the job that applies. */
  readonly variables: readonly string[]
  /** The name of the secret for jobs that only read. */
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

/** What the files state. */
export interface CiSettings extends CiNeeds {
  readonly release: Release
  /** The entries of ZONEWRIGHT_ALLOWED_HOSTS for the config. */
  readonly hosts: readonly string[]
}

/** The needs of the service and of others with its API. */
export const cloudNeeds = (variable: string): CiNeeds => ({
  variables: [variable],
  readSecret: () => 'ZONEWRIGHT_READ_TOKEN',
  rights: `# The runner must reach base_url of zonewright.yaml. The commands need these scopes of a token:
#   plan    domains:read_only    the secret ZONEWRIGHT_READ_TOKEN
#   verify  domains:read_only    the same secret, in the job "drift"
#   apply   domains:read_write   the secret ${variable}
# Definitions with addresses of instances also need instances:read_only; of load balancers, account:read_only. "zonewright doctor" lists needless
# scopes.`,
  packages: [],
  pythonPackages: [],
  allowed: null,
})

/** The needs of a provider whose config entry names these environment variables. */
export const providerNeeds = (needs: Pick<CiNeeds, 'variables' | 'packages' | 'pythonPackages' | 'allowed'>): CiNeeds => ({
  ...needs,
  readSecret: readOnly,
  rights: `# The commands need these secrets:
#   plan    ${needs.variables.map(readOnly).join(', ')}    of a user who may read zones
#   verify  the same, in the job "drift"
#   apply   ${needs.variables.join(', ')}    of a user who may change them`,
})

const readOnly = (variable: string): string => `${variable}_READ_ONLY`

/** The lines of the variables that allow code of others. */
export const allowedLines = (allowed: string | null): string =>
  allowed === null
    ? ''
    : `  # The only code beside Zonewright that a run may load. Nothing limits the hosts that this class contacts.
  ZONEWRIGHT_ALLOWED_PACKAGES: '${allowed}'
`
