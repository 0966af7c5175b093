/** Reads the file with the TSIG keys of transfers. */
import { isIP } from 'node:net'
import { Ajv } from 'ajv'
import TSIG_KEYS from '../../../schemas/service/tsig-keys.json' with { type: 'json' }
import { toJsonValue } from '../../definition/yaml/plain-scalars.ts'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { canonicalAddress } from '../../dns/ip-address.ts'
import { parseTsigSecret, type TsigAlgorithm } from '../../dns/wire/tsig.ts'
import { nodeAt, type Path, type ReportProblem, reasonOf, stepsOf } from '../seed/seed-problems.ts'
import type { TransferDirection, TransferKey } from './transfer-keys.ts'

/** A key in the form that the schema accepts. */
interface KeyEntry {
  readonly name: string
  readonly algorithm?: TsigAlgorithm
  readonly secret: string
  readonly account: string
  readonly zones?: readonly string[]
  readonly peers?: readonly string[]
  readonly transfers?: TransferDirection | 'both'
}

/** Resolves `env:NAME` and `file:PATH`. Any other text is the secret itself. */
export type ResolveSecret = (
  text: string,
  what: string,
  at: SourcePosition,
) => Promise<{ readonly value: string | null; readonly diagnostic: Diagnostic | null }>

export interface ReadTransferKeys {
  /** In file order; null if the text has an error. */
  readonly keys: readonly TransferKey[] | null
  readonly diagnostics: readonly Diagnostic[]
}

/** Minimum size of a secret in octets: 128 bits cannot be guessed. */
const MIN_SECRET_OCTETS = 16

/** Reads a file of transfer keys (YAML or JSON). Reports all errors with their positions, but never a secret. */
export async function readTransferKeys(text: string, file: string, resolveSecret: ResolveSecret): Promise<ReadTransferKeys> {
  const { root, diagnostics } = readYaml(text, { file })
  if (root === null || diagnostics.some(({ severity }) => severity === 'error')) return { keys: null, diagnostics }
  const errors: Diagnostic[] = []
  const report: ReportProblem = (path, message) => {
    errors.push({ severity: 'error', code: 'tsig-keys-invalid', message, at: nodeAt(root, path).at })
  }
  const document = toJsonValue(root)
  const validate = new Ajv({ allErrors: true, verbose: true, strictTypes: false }).addVocabulary(['x-reason']).compile(TSIG_KEYS)
  if (!validate(document)) {
    for (const error of validate.errors ?? [])
      report(stepsOf(error), reasonOf(error, 'a transfer key file must be a mapping with the key "keys"'))
    return { keys: null, diagnostics: [...diagnostics, ...errors] }
  }
  const keys: TransferKey[] = []
  const names = new Set<DomainName>()
  for (const [index, entry] of (document as { readonly keys: readonly KeyEntry[] }).keys.entries()) {
    const path: Path = ['keys', index]
    const name = readName(entry.name)
    if (name === null) report([...path, 'name'], 'the name of a key must be a domain name')
    else if (names.has(name)) report([...path, 'name'], `the file has two keys with the name ${name}`)
    else names.add(name)
    const zones = entry.zones?.map(
      (zone, at) => readName(zone) ?? report([...path, 'zones', at], 'the name of a zone must be a domain name'),
    )
    const peers = entry.peers?.map(
      (peer, at) => readAddress(peer) ?? report([...path, 'peers', at], 'a peer must be an IPv4 or IPv6 address'),
    )
    const secret = await resolveSecret(entry.secret, `secret of the key ${entry.name}`, nodeAt(root, [...path, 'secret']).at)
    if (secret.diagnostic) errors.push(secret.diagnostic)
    const octets = secret.value === null ? null : parseTsigSecret(secret.value)
    if (secret.value !== null && octets === null) report([...path, 'secret'], `the secret of the key ${entry.name} is not base64`)
    if (octets !== null && octets.length < MIN_SECRET_OCTETS)
      report([...path, 'secret'], `the secret of the key ${entry.name} has ${octets.length} octets; the minimum is ${MIN_SECRET_OCTETS}`)
    keys.push({
      name: name as DomainName,
      algorithm: entry.algorithm ?? 'hmac-sha256',
      secret: octets as Uint8Array,
      account: entry.account,
      zones: zones === undefined ? null : new Set(zones as DomainName[]),
      peers: peers === undefined ? null : new Set(peers as string[]),
      directions: directionsOf(entry.transfers),
    })
  }
  return { keys: errors.length === 0 ? keys : null, diagnostics: [...diagnostics, ...errors] }
}

function readName(text: string): DomainName | null {
  const name = parseAbsoluteName(text)
  return name.ok && name.value !== '.' ? name.value : null
}

const readAddress = (text: string): string | null => (isIP(text) === 0 ? null : canonicalAddress(text))

const directionsOf = (transfers: KeyEntry['transfers'] = 'both'): ReadonlySet<TransferDirection> =>
  new Set(transfers === 'both' ? ['outgoing', 'incoming'] : [transfers])
