/**
 * The TSIG keys for zone transfers and NOTIFY (RFC 8945). A key belongs to one account. If a zone has keys for a direction, transfers in that
 * direction must use one of them, and the address must be allowed as well. A key of another account gives no access.
 */
import { isIP } from 'node:net'
import { Ajv } from 'ajv'
import TSIG_KEYS from '../../../schemas/service/tsig-keys.json' with { type: 'json' }
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import { toJsonValue } from '../../definition/yaml/plain-scalars.ts'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { canonicalAddress } from '../../dns/ip-address.ts'
import { parseTsigSecret, type TsigAlgorithm, type TsigKey } from '../../dns/wire/tsig.ts'
import { nodeAt, type Path, type ReportProblem, reasonOf, stepsOf } from '../seed/seed.ts'
import { findLastAccount, findUserByName } from '../store/account-store.ts'
import type { Connection, Database } from '../store/database.ts'

/** `outgoing`: secondaries transfer from the service. `incoming`: the service transfers from masters. */
type TransferDirection = 'outgoing' | 'incoming'

/** A key from the service's configuration. */
export interface TransferKey extends TsigKey {
  /** The username of any user of the account that owns the key. */
  readonly account: string
  /** Null for all zones of the account. */
  readonly zones: ReadonlySet<DomainName> | null
  /** Addresses in canonical form; null for all. */
  readonly peers: ReadonlySet<string> | null
  readonly directions: ReadonlySet<TransferDirection>
}

/** A zone and the account that owns it. */
export interface OwnedZone {
  readonly name: DomainName
  readonly accountId: number
}

export interface TransferKeys {
  /** The key with this name, in any account. */
  find(name: DomainName): TsigKey | undefined
  /** Whether a peer may transfer the zone or send NOTIFY for it with a message signed by this key; null for an unsigned message. */
  allows(zone: OwnedZone, direction: TransferDirection, address: string, signedBy: TsigKey | null): boolean
  /** The key for messages to a peer: the first matching one in the file. `none`: no key is needed; `missing`: no key of the zone is for this peer. */
  keyFor(zone: OwnedZone, direction: TransferDirection, address: string): TsigKey | 'none' | 'missing'
}

export interface ConfiguredKeys extends TransferKeys {
  /**
   * Replaces the keys. If a user does not exist, rejects with a `RangeError` and keeps the previous keys. `expected` lists the usernames, per
   * account, that the service will create later during startup. Zones of new accounts are not transferred until `use` is called again.
   */
  use(keys: readonly TransferKey[], database: Database, expected?: readonly (readonly string[])[]): Promise<void>
}

interface OwnedKey extends TransferKey {
  /** Null for an account that will be created during startup. */
  readonly accountId: number | null
}

export function createTransferKeys(): ConfiguredKeys {
  let byName: ReadonlyMap<DomainName, OwnedKey> = new Map()
  let byAccount: ReadonlyMap<number | null, readonly OwnedKey[]> = new Map()
  /** While a key waits for its account to be created: the highest id of the existing accounts, which cannot be it. */
  let lastKnownAccount = Number.POSITIVE_INFINITY

  const keysOf = ({ name, accountId }: OwnedZone, direction: TransferDirection): readonly OwnedKey[] =>
    (byAccount.get(accountId) ?? []).filter(({ zones, directions }) => directions.has(direction) && (zones === null || zones.has(name)))

  return {
    find: (name) => byName.get(name),
    allows: (zone, direction, address, signedBy) => {
      const keys = keysOf(zone, direction)
      if (keys.length === 0) return signedBy === null && zone.accountId <= lastKnownAccount
      return signedBy !== null && keys.some((key) => key.name === signedBy.name && isFor(key, address))
    },
    keyFor: (zone, direction, address) => {
      const keys = keysOf(zone, direction)
      if (keys.length === 0) return zone.accountId <= lastKnownAccount ? 'none' : 'missing'
      return keys.find((key) => isFor(key, address)) ?? 'missing'
    },
    use: async (keys, database, expected = []) => {
      const { owned, lastAccount } = await database.read(async (connection) => ({
        owned: await ownedKeys(connection, keys, expected),
        lastAccount: await findLastAccount(connection),
      }))
      byName = new Map(owned.map((key) => [key.name, key]))
      const grouped = new Map<number | null, OwnedKey[]>()
      for (const key of owned) grouped.set(key.accountId, [...(grouped.get(key.accountId) ?? []), key])
      byAccount = grouped
      lastKnownAccount = grouped.has(null) ? lastAccount : Number.POSITIVE_INFINITY
    },
  }
}

const isFor = ({ peers }: TransferKey, address: string): boolean => peers === null || peers.has(canonicalAddress(address) ?? '')

async function ownedKeys(
  connection: Connection,
  keys: readonly TransferKey[],
  expected: readonly (readonly string[])[],
): Promise<OwnedKey[]> {
  const accountIds = new Map<string, number | null>()
  for (const { name, account } of keys) {
    if (accountIds.has(account)) continue
    const group = expected.find((usernames) => usernames.includes(account))
    const id = await findAccount(connection, [account, ...(group ?? [])])
    if (id === null && group === undefined) {
      throw new RangeError(`the key ${name} belongs to the account of the user ${JSON.stringify(account)}, which does not exist`)
    }
    accountIds.set(account, id)
  }
  return keys.map((key) => ({ ...key, accountId: accountIds.get(key.account) ?? null }))
}

/** The account of the first existing user. */
async function findAccount(connection: Connection, usernames: readonly string[]): Promise<number | null> {
  for (const username of usernames) {
    const user = await findUserByName(connection, username)
    if (user !== null) return user.account_id
  }
  return null
}

/** No keys: transfers are allowed by address only. */
export const NO_TRANSFER_KEYS: TransferKeys = createTransferKeys()

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
type ResolveSecret = (
  text: string,
  what: string,
  at: SourcePosition,
) => Promise<{ readonly value: string | null; readonly diagnostic: Diagnostic | null }>

interface ReadTransferKeys {
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
