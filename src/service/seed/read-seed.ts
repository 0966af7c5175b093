import { Ajv, type ErrorObject } from 'ajv'
import DOMAIN_CREATE from '../../../schemas/service/domain-create.json' with { type: 'json' }
import SEED from '../../../schemas/service/seed.json' with { type: 'json' }
import { plainValue } from '../../formats/yaml/plain-value.ts'
import { readYaml } from '../../formats/yaml/read-yaml.ts'
import { entryOf, type YamlNode } from '../../formats/yaml/yaml-node.ts'
import type { Diagnostic } from '../../model/diagnostic.ts'
import { domainToCreate } from '../api/domains/domain-input.ts'
import { readDomain, readEmail } from '../api/domains/host-name.ts'
import { GLOBAL_GRANTS } from '../api/grants.ts'
import { readMoment } from '../api/moment.ts'
import { RequestError } from '../api/request-error.ts'
import { schemaFaults } from '../api/schema-faults.ts'
import { areScopes } from '../api/scopes.ts'
import type { DomainSettings } from '../store/domain-store.ts'
import type { Permissions } from '../store/tables.ts'
import type { Seed, SeedAccount, SeedToken, SeedUser } from './seed.ts'

/** The document as its schema lets it through. */
interface Document {
  readonly accounts: readonly {
    readonly users: readonly UserEntry[]
    readonly domains?: readonly (Pick<DomainSettings, 'domain' | 'type'> & Partial<DomainSettings>)[]
  }[]
}

interface UserEntry {
  readonly username: string
  readonly email: string
  readonly restricted?: boolean
  readonly tokens?: readonly {
    readonly token: string
    readonly label?: string
    readonly scopes?: string
    readonly expiry?: string | null
  }[]
  readonly grants?: {
    readonly global?: Readonly<Record<string, boolean | Permissions | null>>
    readonly domain?: readonly { readonly domain: string; readonly permissions: Permissions }[]
  }
}

export interface ReadSeed {
  /** Null where the text is at fault. */
  readonly seed: Seed | null
  readonly diagnostics: readonly Diagnostic[]
}

type Path = readonly (string | number)[]

/** Told of what is wrong at a place of the document. */
type Tell = (path: Path, message: string) => void

/** Reads a seed file (YAML, or JSON). All faults are told together, with their places; tokens are never shown. */
export function readSeed(text: string, file: string): ReadSeed {
  const { root, diagnostics } = readYaml(text, { file })
  if (root === null || diagnostics.some(({ severity }) => severity === 'error')) return { seed: null, diagnostics }
  const faults: Diagnostic[] = []
  const tell: Tell = (path, message) => {
    const name = path.filter((step) => typeof step === 'string').join('.')
    const named = name === '' || message.startsWith(name) ? message : `${name}: ${message}`
    faults.push({ severity: 'error', code: 'seed-invalid', message: named, at: nodeAt(root, path).at })
  }
  const document = plainValue(root)
  const validate = compileSchema()
  if (!validate(document)) {
    for (const error of validate.errors ?? []) tell(stepsOf(error), reasonOf(error))
    return { seed: null, diagnostics: [...diagnostics, ...faults] }
  }
  const seed = seedOf(document as unknown as Document, tell)
  return { seed: faults.length === 0 ? seed : null, diagnostics: [...diagnostics, ...faults] }
}

function compileSchema() {
  const ajv = new Ajv({ allErrors: true, verbose: true, strictTypes: false, allowUnionTypes: true, validateFormats: false })
  ajv.addVocabulary(['x-reason', 'example'])
  return ajv.addSchema(DOMAIN_CREATE, 'domain-create.json').compile(SEED)
}

function seedOf(document: Document, tell: Tell): Seed {
  const once = { username: new Set<string>(), token: new Set<string>(), domain: new Set<string>() }
  const unique = (kind: keyof typeof once, value: string, path: Path): void => {
    if (once[kind].has(value)) tell(path, `this ${kind} stands in the file already`)
    once[kind].add(value)
  }
  const accounts = document.accounts.map((account, number): SeedAccount => {
    const at: Path = ['accounts', number]
    const domains = (account.domains ?? []).map((entry, index) => {
      const path = [...at, 'domains', index]
      const settings = settingsOf(entry, path, tell)
      if (settings) unique('domain', settings.domain, [...path, 'domain'])
      return settings
    })
    const users = account.users.map((entry, index) => {
      const path = [...at, 'users', index]
      unique('username', entry.username, [...path, 'username'])
      for (const [which, { token }] of (entry.tokens ?? []).entries()) unique('token', token, [...path, 'tokens', which, 'token'])
      return userOf(entry, path, tell)
    })
    return { users, domains: domains.filter((settings) => settings !== null) }
  })
  return { accounts }
}

function settingsOf(entry: Parameters<typeof domainToCreate>[0], path: Path, tell: Tell): DomainSettings | null {
  try {
    return domainToCreate(entry)
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    for (const { field, reason } of error.faults) tell(field === null ? path : [...path, field], reason)
    return null
  }
}

function userOf({ username, email, restricted = false, tokens = [], grants }: UserEntry, path: Path, tell: Tell): SeedUser {
  const address = readEmail(email)
  if (address === null) tell([...path, 'email'], 'this is no email address')
  if (grants && !restricted) tell([...path, 'grants'], 'an unrestricted user may do everything and has no grants')
  const { account_access: access, ...global } = grants?.global ?? {}
  return {
    username,
    email: address ?? email,
    restricted,
    tokens: tokens.map((token, index) => tokenOf(token, [...path, 'tokens', index], tell)),
    accountAccess: (access ?? '') as '' | Permissions,
    globalGrants: GLOBAL_GRANTS.filter((name) => global[name] === true),
    domainGrants: (grants?.domain ?? []).map(({ domain, permissions }, index) => {
      const name = readDomain(domain)
      if (name === null) tell([...path, 'grants', 'domain', index, 'domain'], 'this is no name of a domain')
      return { domain: name === null ? domain : name.slice(0, -1), permissions }
    }),
  }
}

function tokenOf(entry: NonNullable<UserEntry['tokens']>[number], path: Path, tell: Tell): SeedToken {
  const { token, label = 'seed', scopes = '*', expiry: until = null } = entry
  const expiry = until === null ? null : readMoment(until)
  if (!areScopes(scopes)) tell([...path, 'scopes'], 'these are no scopes of a token')
  if (until !== null && expiry === null) tell([...path, 'expiry'], 'this is no moment such as 2030-01-31T09:00:00')
  return { token, label, scopes, expiry }
}

/** In the words that requests are answered with. */
const reasonOf = (error: ErrorObject): string =>
  error.instancePath === '' && error.keyword === 'type'
    ? 'a seed is a mapping with the key accounts'
    : (schemaFaults([error])[0]?.reason ?? 'is not valid')

/** Steps of a JSON pointer (RFC 6901), and of the key that an error is about. */
function stepsOf({ instancePath, keyword, params }: ErrorObject): Path {
  const steps = instancePath
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~')))
  return keyword === 'additionalProperties' ? [...steps, String(params['additionalProperty'])] : steps
}

/** The node at a path, or the nearest one above it that there is. */
function nodeAt(root: YamlNode, path: Path): YamlNode {
  let node = root
  for (const step of path) {
    const next: YamlNode | undefined =
      node.kind === 'sequence' ? node.items[Number(step)] : node.kind === 'mapping' ? entryOf(node, String(step))?.value : undefined
    if (next === undefined) return node
    node = next
  }
  return node
}
