import { isSecretReference, resolveSecret } from '../../definition/config/secret.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { parseDomainName } from '../../dns/domain-name.ts'
import { readTsigSecret, TSIG_ALGORITHMS, type TsigAlgorithm, type TsigKey } from '../../dns/wire/tsig.ts'
import type { ImportRequest } from '../importer.ts'

export type TransferKey =
  | { readonly value: TsigKey; readonly diagnostic: null }
  | { readonly value: undefined; readonly diagnostic: Diagnostic }

const refuse = (message: string, code: Diagnostic['code'] = 'usage'): TransferKey => ({
  value: undefined,
  diagnostic: {
    severity: 'error',
    code,
    message: `--tsig: ${message}`,
    hint: 'such as --tsig hmac-sha256:transfer.example.:env:TSIG_SECRET',
  },
})

const NO_PLACE = { file: '--tsig', line: 1, column: 1 }

/** The key that `[ALGORITHM:]NAME:SECRET` stands for. A secret on the command line itself, where every process sees it, is refused. */
export async function readTransferKey(
  text: string,
  { cwd, env, config }: Pick<ImportRequest, 'cwd' | 'env' | 'config'>,
): Promise<TransferKey> {
  const [, algorithm = 'hmac-sha256', nameText = '', reference = ''] = /^(?:(hmac-[a-z0-9-]+):)?([^:]+):(.+)$/is.exec(text) ?? []
  if (!isSecretReference(reference)) return refuse('the secret is given as env:NAME or file:PATH, after the name of the key')
  const known = TSIG_ALGORITHMS.find((one) => one === algorithm.toLowerCase())
  if (known === undefined) return refuse(`the algorithm is one of ${TSIG_ALGORITHMS.join(', ')}`)
  const name = parseDomainName(nameText.endsWith('.') ? nameText : `${nameText}.`)
  if (!name.ok) return refuse('the name of the key is not a domain name')
  const secret = await resolveSecret(reference, '--tsig', NO_PLACE, { folder: cwd, env, loaded: config.secrets })
  if (secret.diagnostic) return { value: undefined, diagnostic: { ...secret.diagnostic, at: undefined } }
  const octets = readTsigSecret(secret.value)
  if (octets === null) return refuse('the secret is not base64', 'secret-missing')
  return { value: { name: name.value, algorithm: known satisfies TsigAlgorithm, secret: octets }, diagnostic: null }
}
