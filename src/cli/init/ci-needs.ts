/** What runs with a config need: hosts, secrets, code of others and packages. CI jobs state it. */
import type { Config, ProviderConfig } from '../../config/config.ts'
import { starterOf } from '../../providers/registry.ts'
import { requiredHostEntries } from '../../run/load/run-config.ts'
import type { Release } from './release.ts'

export interface CiNeeds {
  /** The environment variables of the config, which are also the names of the secrets of the job that applies. */
  readonly variables: readonly string[]
  /** The name of the secret for jobs that only read. */
  readonly readSecret: (variable: string) => string
  /** Comment lines about the rights that the commands need. */
  readonly rights: string
  /** The packages that are installed beside Zonewright, and those for Python. */
  readonly packages: readonly string[]
  readonly pythonPackages: readonly string[]
  /** The code that a run may load; null for none. */
  readonly allowed: string | null
}

/** What the files state. */
export interface CiSettings extends CiNeeds {
  readonly release: Release
  /** The entries of ZONEWRIGHT_ALLOWED_HOSTS for the config. */
  readonly hosts: readonly string[]
  /** The branch that changes are merged into. */
  readonly branch: string
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
  rights:
    needs.variables.length === 0
      ? '# The config names no secret. If a provider reads credentials from files of its own, the runner needs these files.'
      : `# The commands need these secrets:
#   plan    ${needs.variables.map(readOnly).join(', ')}    of a user who may read zones
#   verify  the same, in the job "drift"
#   apply   ${needs.variables.join(', ')}    of a user who may change them`,
})

const readOnly = (variable: string): string => `${variable}_READ_ONLY`

/** What plans with a config use. Looks at the config only. */
export function needsOf(config: Config) {
  const all = [...config.providers.values()].map(({ type, settings }) => {
    const { settings: secrets = {}, variables: usual = [], packages = [] } = starterOf(type) ?? {}
    const keys = Object.keys(settings)
    // The variables of settings that are absent, unless the provider signs in with other means: `tenant` is in AZURE_TENANT_ID.
    const isLacking = (name: string): boolean =>
      !keys.some((key) => name.toLowerCase().includes(key) || /^(?:token|profile|credentials)$/.test(key))
    const [stated, lacking] = [[...variablesIn(settings)], usual.filter(isLacking)]
    const required = lacking.filter((name) => !Object.values(secrets).includes(`env:${name}`))
    return { variables: [...stated, ...lacking], required: [...stated, ...required], packages, code: codeOf(type, settings) }
  })
  const distinct = (key: 'variables' | 'required' | 'packages' | 'code'): string[] => [...new Set(all.flatMap((one) => one[key]))]
  return {
    hosts: requiredHostEntries(config),
    variables: distinct('variables'),
    /** Those of the variables without which no provider can sign in another way. */
    required: distinct('required'),
    packages: distinct('packages'),
    /** Classes, packages and programs that the config names. */
    code: distinct('code'),
  }
}

function* variablesIn(value: unknown): Generator<string> {
  if (typeof value === 'object' && value !== null) for (const below of Object.values(value)) yield* variablesIn(below)
  else if (typeof value === 'string' && /^env:[A-Za-z_]\w*$/.test(value)) yield value.slice('env:'.length)
}

/** The code that runs with a provider start, as ZONEWRIGHT_ALLOWED_PACKAGES names it. */
export function codeOf(type: string, { class: className, provider, check, reload, list }: ProviderConfig['settings']): string[] {
  if (type.startsWith('npm:')) return [type.slice('npm:'.length)]
  const commands = type === 'zonefile' ? [check, reload, (list as { reload?: unknown } | undefined)?.reload] : []
  const programs = commands.flatMap((one) => (one === undefined ? [] : (String(Array.isArray(one) ? one[0] : one).split(' ')[0] ?? [])))
  if (type === 'lexicon') return [`lexicon:${provider}`]
  const code = type === 'octodns' && className !== undefined ? [String(className)] : programs
  return code.filter((one) => /^[\w.:@/+-]+$/.test(one))
}

/** The lines of the variables that allow code of others. */
export const allowedLines = (allowed: string | null): string =>
  allowed === null
    ? ''
    : `  # The only code beside Zonewright that a run may load. Nothing limits the hosts that it contacts.
  ZONEWRIGHT_ALLOWED_PACKAGES: '${allowed}'
`

// How a CI job installs the program: the tarball of a release, by its address and checksum. The tarball has every package that the commands of a CI job need, so
// nothing comes from a package registry. `action.yml` and the template for GitLab contain the same script.

/**
 * A script for any POSIX shell with curl, tar and the checksum programs of GNU or BusyBox. It reads ZONEWRIGHT_TARBALL and ZONEWRIGHT_CHECKSUM, the SHA-256 or SHA-512
 * in hexadecimal, and leaves the program at `$folder/bin/zonewright`. It contacts HTTPS servers only and unpacks nothing that has another checksum.
 */
export const INSTALL_SCRIPT = `set -eu
if [ -z "$ZONEWRIGHT_TARBALL" ] || ! printf %s "$ZONEWRIGHT_CHECKSUM" | tr '\\n' . | grep -Eqx '([0-9a-f]{64}){1,2}'; then
  echo 'Set ZONEWRIGHT_TARBALL and ZONEWRIGHT_CHECKSUM: the address of a release tarball of Zonewright, and its SHA-256 from SHA256SUMS.' >&2
  exit 1
fi
folder=$(mktemp -d "\${RUNNER_TEMP:-\${TMPDIR:-/tmp}}/zonewright.XXXXXX")
curl --fail --silent --show-error --location --proto =https --proto-redir =https --retry 3 --max-time 120 --max-filesize 20000000 \\
  --output "$folder/zonewright.tgz" --url "$ZONEWRIGHT_TARBALL"
echo "$ZONEWRIGHT_CHECKSUM  $folder/zonewright.tgz" | "sha$((\${#ZONEWRIGHT_CHECKSUM} * 4))sum" -c >&2
tar -xzf "$folder/zonewright.tgz" -C "$folder"
mkdir "$folder/bin"
ln -s ../package/dist/zonewright.js "$folder/bin/zonewright"
`

/** Its lines for packages that a provider needs, such as the SDK of a cloud, with their versions. They are installed beside the program. */
export const installPackages = (packages: readonly string[]): string =>
  packages.length === 0 ? '' : `npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund ${packages.join(' ')} >&2\n`

/** Its lines for Python packages, with their versions: an environment of their own, whose `python3` comes first on the path. With `-I`, no module comes from the working folder, which may be a checkout. A link to that `python3` would not find the packages. */
export const installPythonPackages = (packages: readonly string[]): string =>
  packages.length === 0
    ? ''
    : `python3 -I -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --disable-pip-version-check ${packages.map((one) => (one.includes('[') ? `'${one}'` : one)).join(' ')} >&2
printf '#!/bin/sh\\nexec "%s/python/bin/python3" "$@"\\n' "$folder" > "$folder/bin/python3"
chmod +x "$folder/bin/python3"
`

/** Its last line in a workflow of GitHub: later steps find the program. */
export const ADD_TO_GITHUB_PATH = 'echo "$folder/bin" >> "$GITHUB_PATH"\n'
