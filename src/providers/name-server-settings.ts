/** The settings of providers that talk to one name server: its address, and the key that signs messages. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { failure, ok, type Result } from '../base/result.ts'
import { addSecret } from '../base/secret-guard.ts'
import type { ProviderConfig } from '../config/config.ts'
import { resolveSecret } from '../config/resolve-secret.ts'
import { parseAbsoluteName } from '../dns/domain-name.ts'
import { isServerAddress, parseServerAddress } from '../dns/server-address.ts'
import { parseTsigSecret, TSIG_ALGORITHMS, type TsigAlgorithm, type TsigKey } from '../dns/wire/tsig.ts'
import { endpointOfServer } from '../transport/allowed-hosts.ts'
import type { NameServer } from './name-server.ts'
import type { ProviderContext, ProviderEndpoint } from './provider.ts'
import { settingProblem } from './setting-problem.ts'

const DEFAULT_PARALLELISM = 4
const DEFAULT_TIMEOUT_SECONDS = 30

interface TsigSettings {
  readonly name?: string
  readonly algorithm?: TsigAlgorithm
  readonly secret?: string
  readonly file?: string
}

const tsigOf = ({ settings }: ProviderConfig): TsigSettings | null => (settings['tsig'] as TsigSettings | undefined) ?? null

/** Problems of `server` and `tsig` that the schema of a type cannot express. */
export function checkNameServer(config: ProviderConfig): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  const server = String(config.settings['server'] ?? '')
  if (!isServerAddress(server))
    diagnostics.push(
      settingProblem(
        config,
        'server',
        `${JSON.stringify(server)} is not the address of a server`,
        'such as 192.0.2.53 or ns1.example.net:5353',
      ),
    )
  const name = tsigOf(config)?.name
  if (name !== undefined && !parseAbsoluteName(name).ok)
    diagnostics.push(settingProblem(config, 'tsig.name', `${JSON.stringify(name)} is not a domain name`))
  return diagnostics
}

/** The server that these settings name. */
export function nameServerEndpoints(config: ProviderConfig): readonly ProviderEndpoint[] {
  const text = String(config.settings['server'] ?? '')
  if (!isServerAddress(text)) return []
  const endpoint = endpointOfServer(parseServerAddress(text))
  return [{ setting: `providers.${config.name}.server`, endpoint, at: config.placeOf('server') }]
}

/** Reads `server`, `tsig`, `parallelism` and `timeout` (seconds to wait for each message). The server is null if the diagnostics contain an error. */
export async function readNameServer(
  config: ProviderConfig,
  context: ProviderContext,
): Promise<{ readonly server: NameServer | null; readonly diagnostics: readonly Diagnostic[] }> {
  const diagnostics = [...checkNameServer(config)]
  if (diagnostics.length > 0) return { server: null, diagnostics }
  const tsig = tsigOf(config)
  const key = tsig === null ? null : await readKey(config, tsig, context, diagnostics)
  if (diagnostics.some(({ severity }) => severity === 'error')) return { server: null, diagnostics }
  const { settings } = config
  const server: NameServer = {
    provider: config.name,
    server: parseServerAddress(String(settings['server'])),
    key,
    timeout: Number(settings['timeout'] ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    parallelism: context.parallelism ?? Number(settings['parallelism'] ?? DEFAULT_PARALLELISM),
    onRequest: context.onRequest,
  }
  return { server, diagnostics }
}

async function readKey(
  config: ProviderConfig,
  tsig: TsigSettings,
  context: ProviderContext,
  diagnostics: Diagnostic[],
): Promise<TsigKey | null> {
  const setting = tsig.file === undefined ? 'tsig.secret' : 'tsig.file'
  const what = `providers.${config.name}.${setting}`
  const at = config.placeOf(...setting.split('.'))
  const resolved = await resolveSecret(tsig.file ?? tsig.secret ?? '', what, at, context.secrets)
  if (resolved.diagnostic) {
    diagnostics.push(resolved.diagnostic)
    return null
  }
  const key =
    tsig.file === undefined ? keyOf(tsig.name ?? '', tsig.algorithm ?? 'hmac-sha256', resolved.value) : parseKeyFile(resolved.value)
  if (key.ok) {
    // A key file contains the secret as a part, which must not appear anywhere either.
    addSecret(context.secrets.loaded, what, key.value.text)
    return key.value
  }
  diagnostics.push({ severity: 'error', code: 'secret-missing', message: `${what}: ${key.message}`, at })
  return null
}

/** A key with its secret as it was written. */
interface WrittenKey extends TsigKey {
  readonly text: string
}

function keyOf(name: string, algorithm: string, secret: string): Result<WrittenKey> {
  const parsed = parseAbsoluteName(name)
  if (!parsed.ok) return failure('the name of the key is not a domain name')
  const known = TSIG_ALGORITHMS.find((one) => one === algorithm.toLowerCase().replace(/\.$/, ''))
  if (known === undefined) return failure(`the algorithm of the key is none of ${TSIG_ALGORITHMS.join(', ')}`)
  const octets = parseTsigSecret(secret)
  return octets === null ? failure('the secret is not Base64') : ok({ name: parsed.value, algorithm: known, secret: octets, text: secret })
}

/** A `key` statement of BIND, with comments of all three kinds. The messages never contain the secret. */
const KEY_STATEMENT = /^\s*key\s+(?:"([^"]{1,255})"|([^\s"{;]{1,255}))\s*\{([^{}]{1,2000})\}\s*;?\s*$/

/** Parses a key file as `tsig-keygen` writes it. */
export function parseKeyFile(text: string): Result<WrittenKey> {
  const plain = text.replace(/\/\*[\s\S]*?\*\//g, ' ').replace(/(?:\/\/|#)[^\n]*/g, ' ')
  const [, quoted, bare, body] = KEY_STATEMENT.exec(plain) ?? []
  const name = quoted ?? bare
  if (name === undefined || body === undefined)
    return failure('the file does not hold one key statement: key "name" { algorithm …; secret …; };')
  const clauses = new Map(
    body.split(';').map((clause) => {
      const [keyword = '', ...rest] = clause.trim().split(/\s+/)
      return [keyword.toLowerCase(), rest.join('').replace(/^"|"$/g, '')]
    }),
  )
  const [algorithm, secret] = [clauses.get('algorithm'), clauses.get('secret')]
  if (algorithm === undefined || secret === undefined) return failure('the key statement lacks an algorithm or a secret')
  return keyOf(name, algorithm, secret)
}
