/** The environment of a child process that runs a provider class: no variable that the config does not name, apart from those that every program needs. */
import { delimiter } from 'node:path'
import type { Environment } from '../../base/environment.ts'
import type { PathScope } from '../../files/allowed-paths.ts'
import { trustedFolders } from '../../files/find-program.ts'

/** Where programs, packages and files are; language; proxies and certificates. None has a token. */
const VARIABLES: readonly string[] = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'TMPDIR', 'TZ', 'LANG', 'LC_*'],
  ...['PYTHONPATH', 'PYTHONHOME', 'VIRTUAL_ENV'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'],
]

/** `more`: the names of the setting `environment`; a final `*` stands for any end. Programs and modules are found in no relative folder and, in CI, in none of the checkout. */
export function childEnvironment(scope: PathScope, more: readonly string[]): Record<string, string> {
  const patterns = [...VARIABLES, ...more]
  const inherited: Record<string, string> = {}
  for (const [name, value] of Object.entries(scope.env)) {
    if (value === undefined || !patterns.some((pattern) => matches(pattern, name))) continue
    inherited[name] = /^(?:PATH|PYTHON(?:PATH|HOME|USERBASE))$/.test(name) ? trustedFolders(value, scope).join(delimiter) : value
  }
  return inherited
}

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern

/** The values of the variables that the config adds and that hold secrets, by their names. */
export const secretsOf = (env: Environment, more: readonly string[]): (readonly [name: string, value: string])[] =>
  Object.entries(env).flatMap(([name, value = '']) =>
    more.some((pattern) => matches(pattern, name)) && /SECRET|TOKEN|PASSWORD|PASSPHRASE|KEY/i.test(name) ? [[name, value] as const] : [],
  )
