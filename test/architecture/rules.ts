import type { IRegularForbiddenRuleType } from 'dependency-cruiser'

/** The folders of `src/` and the folders that each may import. A folder that is not listed may import nothing, so its imports fail. */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  dns: [],
  plan: ['dns'],
  report: ['dns', 'plan'],
  definition: ['dns', 'plan'],
  transport: ['dns'],
  providers: ['dns', 'plan', 'definition', 'transport'],
  apply: ['dns', 'plan', 'report', 'definition', 'transport', 'providers'],
  conformance: ['dns', 'plan', 'definition', 'providers', 'apply'],
  ci: ['dns', 'report', 'definition', 'transport'],
  // An import runs programs, and a program of DNSControl is read as its JSON is.
  convert: ['dns', 'plan', 'definition', 'transport', 'providers', 'programs'],
  programs: ['dns', 'definition', 'transport', 'convert'],
  // The seed and two other files of the service are YAML.
  service: ['dns', 'definition/yaml'],
  cli: ['dns', 'plan', 'report', 'definition', 'transport', 'apply', 'conformance', 'ci', 'convert', 'programs', 'service'],
}

/** Folders without I/O, clock and randomness: clock and randomness are arguments. */
export const PURE_FOLDERS = [
  'dns',
  'plan',
  'report',
  'definition/lints',
  'definition/parse',
  'definition/print',
  'definition/rules',
  'definition/yaml',
] as const

const pure = `^src/(?:${PURE_FOLDERS.join('|')})/`
const anyOf = (names: readonly string[]): string => `(?:${names.join('|')})`
const packages = (names: readonly string[]): string => `(?:^|/)node_modules/${anyOf(names)}/`
const SOCKET_MODULES = ['net', 'dgram', 'tls', 'http', 'https', 'http2', 'dns', 'dns/promises', 'cluster', 'inspector']

const forbid = (name: string, from: IRegularForbiddenRuleType['from'], to: IRegularForbiddenRuleType['to']): IRegularForbiddenRuleType => {
  return { name, severity: 'error', from, to }
}

/** The English of counts and lists. It imports nothing, so that messages of every folder above dns/ can share it. */
const ENGLISH = 'report/english\\.ts$'

const oneWay = Object.entries(LAYERS).map(([layer, below]) => {
  const folders = `${anyOf([layer, ...below])}/`
  const allowed = layer === 'dns' ? folders : anyOf([folders, ENGLISH])
  return forbid(`one-way-${layer}`, { path: `^src/${layer}/` }, { path: '^src/', pathNot: `^src/${allowed}` })
})

/** The rules for dependency-cruiser. `source-text.ts` checks the names that a file imports (only `isIP` of node:net). */
export const RULES: readonly IRegularForbiddenRuleType[] = [
  ...oneWay,
  forbid('known-folders', { path: '^src/', pathNot: `^src/${anyOf(Object.keys(LAYERS))}/` }, { path: '^src/' }),
  forbid('not-outside-src', { path: '^src/' }, { path: '^(?:test|bench|scripts|dist)/' }),
  forbid('pure-core-modules', { path: pure }, { dependencyTypes: ['core'], pathNot: '^(?:node:)?(?:url|net|buffer|crypto)$' }),
  forbid('pure-packages', { path: pure }, { path: '(?:^|/)node_modules/', pathNot: packages(['yaml', 'js-yaml', 'ipaddr\\.js']) }),
  forbid(
    'sockets',
    { path: '^src/', pathNot: '^src/(?:transport|service)/' },
    { path: `^(?:node:)?${anyOf(SOCKET_MODULES)}$`, dependencyTypes: ['core'], pathNot: '^(?:node:)?net$' },
  ),
  forbid('sockets-http-client', { path: '^src/', pathNot: '^src/(?:transport|service)/' }, { path: packages(['undici', 'ws']) }),
  forbid(
    'service-packages',
    { path: '^src/', pathNot: '^src/service/' },
    {
      path: packages([
        'fastify',
        '@fastify/[^/]+',
        'pg',
        '@types/pg',
        'kysely',
        'libsql',
        'pino',
        'prom-client',
        'otpauth',
        'libphonenumber-js',
        'tldts',
      ]),
    },
  ),
  forbid('terminal-packages', { path: '^src/', pathNot: '^src/cli/' }, { path: packages(['commander']) }),
  // Both are loaded only by runs with policies.
  forbid(
    'policy-packages',
    { path: '^src/', pathNot: '^src/(?:definition/policies/compile-schema\\.ts$|providers/package/|service/)' },
    { path: packages(['ajv', 're2js']) },
  ),
  forbid(
    'lazy-policies',
    { path: '^src/', pathNot: '^src/definition/policies/read-policies\\.ts$' },
    { path: '^src/definition/policies/(?:read-policies|compile-schema)\\.ts$', dynamic: false, dependencyTypesNot: ['type-only'] },
  ),
  forbid('island-providers', { path: '^src/providers/([^/]+)/' }, { path: '^src/providers/[^/]+/', pathNot: '^src/providers/$1/' }),
  forbid(
    'provider-door',
    { path: '^src/', pathNot: '^src/providers/' },
    { path: '^src/providers/', pathNot: '^src/providers/(?:provider|registry)\\.ts$' },
  ),
  // `validate` knows the settings and capabilities of every type, and creates no provider.
  forbid(
    'lazy-providers',
    { path: '^src/providers/[^/]+/[^/]+-(?:config|type)\\.ts$', pathNot: '/class-config\\.ts$' },
    { path: '^src/providers/[^/]+/[^/]+-provider\\.ts$', dynamic: false, dependencyTypesNot: ['type-only'] },
  ),
  // A command gets its config with its hosts checked, before it can look up a secret.
  forbid('config-door', { path: '^src/', pathNot: '^src/apply/run-config\\.ts$' }, { path: '^src/definition/config/load-config\\.ts$' }),
  // A command calls apply/ or convert/, which plan and send. Only the demo asks its own name server.
  forbid(
    'thin-commands',
    { path: '^src/cli/commands/', pathNot: '/demo\\.ts$' },
    { path: '^src/(?:plan|transport)/', pathNot: '^src/transport/allowed-hosts\\.ts$' },
  ),
  forbid('service-door', { path: '^src/', pathNot: '^src/service/' }, { path: '^src/service/', pathNot: '^src/service/index\\.ts$' }),
  forbid('no-cycles', { path: '^src/' }, { circular: true }),
  forbid('resolvable', { path: '^src/' }, { couldNotResolve: true, path: '^\\.', pathNot: '(?:^|/)generated/' }),
  // Optional peer dependencies are development packages too, for the tests.
  forbid(
    'no-development-packages',
    { path: '^src/' },
    { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm-peer'], pathNot: '(?:^|/)node_modules/@types/' },
  ),
]
