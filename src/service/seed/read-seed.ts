import { Ajv, type ValidateFunction } from 'ajv'
import DOMAIN_CREATE from '../../../schemas/service/domain-create.json' with { type: 'json' }
import SEED from '../../../schemas/service/seed.json' with { type: 'json' }
import { toJsonValue } from '../../definition/yaml/plain-scalars.ts'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { domainToSeed } from '../api/domains/domain-input.ts'
import { collectProblems } from '../api/request-error.ts'
import type { Quotas } from '../quotas.ts'
import type { DomainSettings } from '../store/domain-store.ts'
import { ACCOUNT_PARTS } from './account-parts.ts'
import { readUser, type UserEntry } from './read-user.ts'
import type { Seed, SeedAccount, SeedEntries, SeedPart } from './seed.ts'
import { below, nodeAt, type Path, type ReportProblem, reasonOf, stepsOf } from './seed-problems.ts'
import { USER_PARTS } from './user-parts.ts'

/** An account that the schema has accepted. Its parts have further keys. */
interface AccountEntry {
  readonly quotas?: Partial<Quotas>
  readonly users: readonly UserEntry[]
  readonly domains?: readonly (Pick<DomainSettings, 'domain' | 'type'> & Partial<DomainSettings>)[]
}

export interface ReadSeed {
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
  const validate = compileSeedSchema()
  if (!validate(document)) {
    for (const error of validate.errors ?? []) report(stepsOf(error), reasonOf(error))
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
      return readUser(entry, entriesOf(USER_PARTS, entry, path, report, checkUnique), below(path, report))
    })
    return {
      quotas: account.quotas ?? null,
      users,
      domains: domains.filter((settings) => settings !== null),
      objects: entriesOf(ACCOUNT_PARTS, account, at, report, checkUnique),
    }
  })
  return { accounts }
}

/** Parses the entries of an account or user, part by part. */
function entriesOf(parts: readonly SeedPart[], owner: object, at: Path, report: ReportProblem, checkUnique: CheckUnique): SeedEntries[] {
  return parts.map((part) => {
    const { key, unique = {}, read } = part
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
    return { part, entries: entries.filter((entry) => entry !== null) }
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

/** Compiles the schema of a seed with those of its parts. */
function compileSeedSchema(): ValidateFunction {
  const ajv = new Ajv({ allErrors: true, verbose: true, strictTypes: false, allowUnionTypes: true, validateFormats: false })
  ajv.addVocabulary(['x-reason', 'example'])
  ajv.addSchema(DOMAIN_CREATE, 'domain-create.json')
  for (const { key, schema } of [...ACCOUNT_PARTS, ...USER_PARTS]) ajv.addSchema(schema, `seed-${key.replaceAll('_', '-')}.json`)
  return ajv.compile(SEED)
}
