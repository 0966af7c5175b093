/** Reads seed files: checks them against the schema, then parses their accounts, users and collections. */
import { isIP } from 'node:net'
import { Ajv, type ValidateFunction } from 'ajv'
import type { Updateable } from 'kysely'
import DOMAIN_CREATE from '../../../schemas/service/domain-create.json' with { type: 'json' }
import SEED from '../../../schemas/service/seed.json' with { type: 'json' }
import APP from '../../../schemas/service/seed-apps.json' with { type: 'json' }
import DEVICE from '../../../schemas/service/seed-devices.json' with { type: 'json' }
import LOGIN from '../../../schemas/service/seed-logins.json' with { type: 'json' }
import SECURITY_QUESTION from '../../../schemas/service/seed-security-questions.json' with { type: 'json' }
import SSH_KEY from '../../../schemas/service/seed-ssh-keys.json' with { type: 'json' }
import type { Diagnostic } from '../../base/diagnostic.ts'
import { toJsonValue } from '../../definition/yaml/plain-scalars.ts'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import { domainToSeed } from '../api/domains/domain-routes.ts'
import { parseEmail, parseZoneName } from '../api/domains/name-input.ts'
import { isTimeZone } from '../api/profile/profile-routes.ts'
import { parseSshKey, SSH_KEY_PROBLEM } from '../api/profile/ssh-key-routes.ts'
import { collectProblems } from '../api/request-error.ts'
import { isScopeList } from '../api/scopes.ts'
import type { Quotas } from '../quotas.ts'
import { insertApp, insertDevice, insertLogin } from '../store/access-store.ts'
import { findUser } from '../store/account-store.ts'
import type { DomainSettings } from '../store/domain-store.ts'
import { GLOBAL_GRANTS } from '../store/grant-store.ts'
import { insertSshKey } from '../store/ssh-key-store.ts'
import type { GrantKind, Permissions, ShellAuthMethod, UsersTable } from '../store/tables.ts'
import { insertToken } from '../store/token-store.ts'
import { insertAnswer } from '../store/user-secret-store.ts'
import { formatTimestamp } from '../time.ts'
import { ACCOUNT_COLLECTIONS } from './account-collections.ts'
import {
  below,
  defineSeedCollection,
  nodeAt,
  type Path,
  parseTimestamps,
  type ReportProblem,
  reasonOf,
  type Seed,
  type SeedAccount,
  type SeedCollection,
  type SeedEntries,
  type SeedGrant,
  type SeedToken,
  type SeedUser,
  stepsOf,
} from './seed.ts'

interface AppEntry {
  readonly label: string
  readonly client?: string
  readonly scopes?: string
  readonly website?: string
  readonly thumbnail_url?: string | null
  readonly created?: string
  readonly expiry?: string | null
  readonly tokens?: readonly string[]
}

/** The apps that a user has authorized, with their tokens. */
const APPS = defineSeedCollection<AppEntry, AppEntry>({
  key: 'apps',
  schema: APP,
  unique: { owner: ['client'] },
  read: (entry, report) => {
    if (entry.scopes !== undefined && !isScopeList(entry.scopes)) report(['scopes'], 'not a list of scopes')
    return { ...entry, ...parseTimestamps(entry, ['created', 'expiry'], report) }
  },
  create: async (connection, { userId, username }, entry, now) => {
    const { label, client = label, scopes = '*', website = '', thumbnail_url = null, created = now, expiry = null, tokens = [] } = entry
    const appId = await insertApp(connection, { user_id: userId, label, client, scopes, website, thumbnail_url, created, expiry })
    if (appId === null) throw new RangeError(`the user ${username} of the seed already has an app with the client ${client}`)
    for (const token of tokens) {
      if ((await insertToken(connection, { userId, appId, token, label, scopes, expiry }, now)) === null) {
        throw new RangeError(`a token of the app ${label} of the user ${username} of the seed is already in use`)
      }
    }
  },
})

interface DeviceEntry {
  readonly user_agent: string
  readonly last_remote_addr?: string
  readonly created?: string
  readonly last_authenticated?: string
  readonly expiry?: string
}

/** The default session of a trusted device, in milliseconds. */
const SESSION = 30 * 86_400_000

/** The trusted devices of a user. */
const DEVICES = defineSeedCollection<DeviceEntry, DeviceEntry>({
  key: 'devices',
  schema: DEVICE,
  read: (entry, report) => {
    const address = entry.last_remote_addr
    if (address !== undefined && isIP(address) === 0) report(['last_remote_addr'], 'not an IP address')
    return { ...entry, ...parseTimestamps(entry, ['created', 'last_authenticated', 'expiry'], report) }
  },
  create: async (connection, { userId }, entry, now) => {
    const { user_agent, last_remote_addr = '127.0.0.1', created = now, last_authenticated = created } = entry
    const { expiry = formatTimestamp(Date.parse(`${created}Z`) + SESSION) } = entry
    await insertDevice(connection, { user_id: userId, user_agent, last_remote_addr, created, last_authenticated, expiry })
  },
})

interface LoginEntry {
  readonly datetime: string
  readonly ip: string
  readonly status?: 'successful' | 'failed'
}

/** The past logins of a user. */
const LOGINS = defineSeedCollection<LoginEntry, LoginEntry>({
  key: 'logins',
  schema: LOGIN,
  read: (entry, report) => {
    if (isIP(entry.ip) === 0) report(['ip'], 'not an IP address')
    return { ...entry, ...parseTimestamps(entry, ['datetime'], report) }
  },
  create: async (connection, { userId, username }, { datetime, ip, status = 'successful' }) => {
    const { restricted } = await findUser(connection, userId)
    await insertLogin(connection, { user_id: userId, username, restricted, datetime, ip, status })
  },
})

interface SshKeyEntry {
  readonly label: string
  readonly ssh_key: string
  readonly created?: string
}

/** The SSH keys of a user. */
const SSH_KEYS = defineSeedCollection<SshKeyEntry, Omit<SshKeyEntry, 'ssh_key'> & { readonly key: string }>({
  key: 'ssh_keys',
  schema: SSH_KEY,
  read: (entry, report) => {
    const { label, ssh_key } = entry
    const key = parseSshKey(ssh_key)
    if (key === null) report(['ssh_key'], SSH_KEY_PROBLEM)
    return key === null ? null : { label, key, ...parseTimestamps(entry, ['created'], report) }
  },
  create: async (connection, { userId }, { label, key, created }, now) => {
    await insertSshKey(connection, userId, { label, key }, created ?? now)
  },
})

interface AnswerEntry {
  readonly question_id: number
  readonly response: string
}

/** The answers of a user to security questions. */
const SECURITY_QUESTIONS = defineSeedCollection<AnswerEntry, AnswerEntry>({
  key: 'security_questions',
  schema: SECURITY_QUESTION,
  unique: { owner: ['question_id'] },
  read: (entry) => entry,
  create: (connection, { userId }, { question_id, response }, _now, secrets) =>
    insertAnswer(connection, secrets, userId, question_id, response),
})

/** The lists that a user of a seed may have besides tokens and grants, in the order they are created. */
const USER_COLLECTIONS: readonly SeedCollection[] = [APPS, DEVICES, LOGINS, SSH_KEYS, SECURITY_QUESTIONS]

/** An account that the schema has accepted. Its collections have further keys. */
interface AccountEntry {
  readonly quotas?: Partial<Quotas>
  readonly users: readonly UserEntry[]
  readonly domains?: readonly (Pick<DomainSettings, 'domain' | 'type'> & Partial<DomainSettings>)[]
}

interface ReadSeed {
  /** Null if the text is not valid. */
  readonly seed: Seed | null
  readonly diagnostics: readonly Diagnostic[]
}

/** Reports a value that occurs twice. */
type CheckUnique = (kind: string, value: unknown, path: Path) => void

/** Reads a seed file (YAML or JSON). Reports all problems together with their positions; never shows tokens. */
export function readSeed(text: string, file: string): ReadSeed {
  const { root, diagnostics } = readYaml(text, { file })
  if (root === null || diagnostics.some(({ severity }) => severity === 'error')) return { seed: null, diagnostics }
  const problems: Diagnostic[] = []
  const report: ReportProblem = (path, message) => {
    const name = path.filter((step) => typeof step === 'string').join('.')
    const named = name === '' || message.startsWith(name) ? message : `${name}: ${message}`
    problems.push({ severity: 'error', code: 'seed-invalid', message: named, at: nodeAt(root, path).at })
  }
  const document = toJsonValue(root)
  seedSchema ??= compileSeedSchema()
  if (!seedSchema(document)) {
    for (const error of seedSchema.errors ?? []) report(stepsOf(error), reasonOf(error, 'a seed must be a mapping with the key accounts'))
    return { seed: null, diagnostics: [...diagnostics, ...problems] }
  }
  const seed = seedOf(document as unknown as { readonly accounts: readonly AccountEntry[] }, report)
  return { seed: problems.length === 0 ? seed : null, diagnostics: [...diagnostics, ...problems] }
}

function seedOf(document: { readonly accounts: readonly AccountEntry[] }, report: ReportProblem): Seed {
  const seen = new Set<string>()
  const checkUnique: CheckUnique = (kind, value, path) => {
    const key = `${kind} ${JSON.stringify(value)}`
    if (seen.has(key)) report(path, `this ${path.at(-1)} is already in the file`)
    seen.add(key)
  }
  const accounts = document.accounts.map((account, number): SeedAccount => {
    const at: Path = ['accounts', number]
    const domains = (account.domains ?? []).map((entry, index) => {
      const path = [...at, 'domains', index]
      const settings = settingsOf(entry, below(path, report))
      if (settings) checkUnique('domain', settings.domain, [...path, 'domain'])
      return settings
    })
    const users = account.users.map((entry, index) => {
      const path = [...at, 'users', index]
      checkUnique('username', entry.username, [...path, 'username'])
      for (const [which, { token }] of (entry.tokens ?? []).entries()) checkUnique('token', token, [...path, 'tokens', which, 'token'])
      return readUser(entry, entriesOf(USER_COLLECTIONS, entry, path, report, checkUnique), below(path, report))
    })
    return {
      quotas: account.quotas ?? null,
      users,
      domains: domains.filter((settings) => settings !== null),
      objects: entriesOf(ACCOUNT_COLLECTIONS, account, at, report, checkUnique),
    }
  })
  return { accounts }
}

/** Parses the collections of an account or user. */
function entriesOf(
  collections: readonly SeedCollection[],
  owner: object,
  at: Path,
  report: ReportProblem,
  checkUnique: CheckUnique,
): SeedEntries[] {
  return collections.map((collection) => {
    const { key, unique = {}, read } = collection
    const list = ((owner as Record<string, readonly object[] | undefined>)[key] ?? []) as readonly Readonly<Record<string, unknown>>[]
    const entries = list.map((entry, index) => {
      const path = [...at, key, index]
      for (const [scope, fields] of [[`${key} of ${at.join('.')}`, unique.owner ?? []] as const, [key, unique.file ?? []] as const]) {
        for (const field of fields) {
          const value = entry[field]
          if (value !== undefined && value !== null) checkUnique(`${scope} ${field}`, value, [...path, field])
        }
      }
      return read(entry, below(path, report))
    })
    return { collection, entries: entries.filter((entry) => entry !== null) }
  })
}

function settingsOf(entry: Parameters<typeof domainToSeed>[0], report: ReportProblem): DomainSettings | null {
  let settings: DomainSettings | null = null
  const problems = collectProblems(() => {
    settings = domainToSeed(entry)
  })
  for (const { field, reason } of problems) report(field === null ? [] : [field], reason)
  return settings
}

let seedSchema: ValidateFunction | undefined

/** Compiles the schema of a seed with those of its collections. */
function compileSeedSchema(): ValidateFunction {
  const ajv = new Ajv({ allErrors: true, verbose: true, strictTypes: false, allowUnionTypes: true, validateFormats: false })
  ajv.addVocabulary(['x-reason', 'example'])
  // A request may have unknown fields; in a file they are mistakes.
  ajv.addSchema({ ...DOMAIN_CREATE, additionalProperties: false }, 'domain-create.json')
  for (const { key, schema } of [...ACCOUNT_COLLECTIONS, ...USER_COLLECTIONS])
    ajv.addSchema(schema, `seed-${key.replaceAll('_', '-')}.json`)
  return ajv.compile(SEED)
}

/** A user that the schema has accepted, without its collections. */
interface UserEntry {
  readonly username: string
  readonly email: string
  readonly restricted?: boolean
  readonly tokens?: readonly TokenEntry[]
  readonly grants?: Grants
  readonly profile?: ProfileEntry
}

interface TokenEntry {
  readonly token: string
  readonly label?: string
  readonly scopes?: string
  readonly expiry?: string | null
}

type Grants = { readonly global?: Readonly<Record<string, boolean | Permissions | null>> } & {
  readonly [Kind in GrantKind]?: readonly { readonly domain?: string; readonly label?: string; readonly permissions: Permissions }[]
}

function readUser(entry: UserEntry, objects: readonly SeedEntries[], report: ReportProblem): SeedUser {
  const { username, email, restricted = false, tokens = [], grants, profile = {} } = entry
  const address = parseEmail(email)
  if (address === null) report(['email'], 'not an email address')
  if (grants && !restricted) report(['grants'], 'an unrestricted user needs no grants')
  const { global = {}, ...byKind } = grants ?? {}
  const { account_access: access, ...flags } = global
  return {
    username,
    email: address ?? email,
    restricted,
    tokens: tokens.map((token, index) => readToken(token, (path, message) => report(['tokens', index, ...path], message))),
    accountAccess: (access ?? '') as '' | Permissions,
    globalGrants: GLOBAL_GRANTS.filter((name) => flags[name] === true),
    grants: Object.entries(byKind).flatMap(([kind, list]) =>
      list.map(({ domain, label = '', permissions }, index): SeedGrant => {
        const name = domain === undefined ? label : nameOf(domain, (message) => report(['grants', kind, index, 'domain'], message))
        return { kind: kind as GrantKind, label: name, permissions }
      }),
    ),
    profile: readProfile(profile, below(['profile'], report)),
    objects,
  }
}

/** The stored form of a domain name. */
function nameOf(domain: string, report: (message: string) => void): string {
  const name = parseZoneName(domain)
  if (name === null) report('not a domain name')
  return name === null ? domain : name.slice(0, -1)
}

function readToken(entry: TokenEntry, report: ReportProblem): SeedToken {
  const { token, label = 'seed', scopes = '*' } = entry
  if (!isScopeList(scopes)) report(['scopes'], 'not a list of scopes')
  return { token, label, scopes, expiry: parseTimestamps(entry, ['expiry'], report).expiry ?? null }
}

interface ProfileEntry {
  readonly email_notifications?: boolean
  readonly timezone?: string
  readonly shell_auth_method?: ShellAuthMethod
  readonly authorized_keys?: readonly string[] | null
  readonly authentication_type?: 'password' | 'github'
  readonly ip_whitelist_enabled?: boolean
  readonly verified_phone_number?: string
}

/** The columns of a user that a seed sets. */
function readProfile(entry: ProfileEntry, report: ReportProblem): Updateable<UsersTable> {
  const { email_notifications, ip_whitelist_enabled, authorized_keys, ...texts } = entry
  if (texts.timezone !== undefined && !isTimeZone(texts.timezone)) report(['timezone'], 'timezone is not valid')
  const keys = (authorized_keys ?? []).map((text, index) => {
    const key = parseSshKey(text)
    if (key === null) report(['authorized_keys', index], SSH_KEY_PROBLEM)
    return key
  })
  return {
    ...texts,
    ...(keys.length > 0 ? { authorized_keys: JSON.stringify(keys) } : {}),
    ...(email_notifications === undefined ? {} : { email_notifications: Number(email_notifications) }),
    ...(ip_whitelist_enabled === undefined ? {} : { ip_whitelist_enabled: Number(ip_whitelist_enabled) }),
  }
}
