import type { IRegularForbiddenRuleType } from 'dependency-cruiser'

/**
 * The folders of `src/` in their order, each with the folders that it imports. They stand before it, so there is one way through the source.
 * docs/contributors/architecture.md shows this table; a test compares it with every import.
 */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  dns: ['base'],
  plan: ['base', 'dns'],
  report: ['base', 'dns', 'plan'],
  files: ['base', 'dns'],
  git: ['base', 'files'],
  definition: ['base', 'dns', 'files'],
  config: ['base', 'dns', 'plan', 'files', 'definition'],
  checks: ['base', 'dns', 'files', 'git', 'definition', 'config'],
  load: ['base', 'dns', 'plan', 'files', 'git', 'definition', 'config', 'checks'],
  transport: ['base', 'dns'],
  programs: ['base', 'dns', 'files', 'git', 'definition', 'config', 'load', 'transport'],
  providers: ['base', 'dns', 'plan', 'files', 'definition', 'config', 'transport'],
  stored: ['base', 'dns', 'plan', 'report', 'files', 'config', 'transport', 'providers'],
  run: ['base', 'dns', 'plan', 'report', 'files', 'git', 'config', 'checks', 'load', 'transport', 'providers', 'stored'],
  moves: ['base', 'dns', 'plan', 'report', 'files', 'config', 'checks', 'transport', 'providers', 'stored', 'run'],
  inspect: ['base', 'dns', 'plan', 'report', 'files', 'git', 'config', 'transport', 'providers', 'stored', 'run'],
  conformance: ['base', 'dns', 'plan', 'checks', 'load', 'providers', 'stored', 'run'],
  convert: ['base', 'dns', 'plan', 'files', 'definition', 'config', 'checks', 'load', 'transport', 'programs', 'providers'],
  ci: ['base', 'report', 'transport'],
  service: ['base', 'dns', 'definition/yaml'],
  library: [
    'base',
    'dns',
    'plan',
    'report',
    'config',
    'checks',
    'load',
    'programs',
    'providers',
    'run',
    'inspect',
    'conformance',
    'convert',
  ],
  cli: [
    'base',
    'dns',
    'plan',
    'report',
    'files',
    'git',
    'definition',
    'config',
    'checks',
    'load',
    'transport',
    'programs',
    'providers',
    'stored',
    'run',
    'moves',
    'inspect',
    'conformance',
    'convert',
    'ci',
    'service',
    'library',
  ],
}

/** Imports against the table: from, to (patterns of paths) and why. docs/contributors/architecture.md lists each of them. */
export const EXEMPTIONS: readonly (readonly [from: string, to: string, why: string])[] = []

/** Rooms whose folders import each other in one direction only. In the others, a file on top of its folders lists them: a registry, routes, formats. */
export const ONE_WAY_INSIDE = ['definition', 'checks', 'load', 'stored', 'run', 'moves'] as const

/** Folders without I/O, clock and randomness: clock and randomness are arguments. */
export const PURE_FOLDERS = ['base', 'dns', 'plan', 'report', 'definition', 'checks/lints', 'checks/rules'] as const

const pure = `^src/(?:${PURE_FOLDERS.join('|')})/`
const anyOf = (names: readonly string[]): string => `(?:${names.join('|')})`
const packages = (names: readonly string[]): string => `(?:^|/)node_modules/${anyOf(names)}/`
const SOCKET_MODULES = ['net', 'dgram', 'tls', 'http', 'https', 'http2', 'dns', 'dns/promises', 'cluster', 'inspector']

const forbid = (name: string, from: IRegularForbiddenRuleType['from'], to: IRegularForbiddenRuleType['to']): IRegularForbiddenRuleType => {
  return { name, severity: 'error', from, to }
}

const oneWay = Object.entries(ROOMS).map(([room, below]) => {
  const exempt = EXEMPTIONS.filter(([from]) => new RegExp(from).test(`src/${room}/`)).map(([, to]) => to)
  return forbid(`one-way-${room}`, { path: `^src/${room}/` }, { path: '^src/', pathNot: [`^src/${anyOf([room, ...below])}/`, ...exempt] })
})

/** The rules for dependency-cruiser. `source-text.ts` checks the names that a file imports (only `isIP` of node:net). */
export const RULES: readonly IRegularForbiddenRuleType[] = [
  ...oneWay,
  forbid('known-folders', { path: '^src/', pathNot: `^src/${anyOf(Object.keys(ROOMS))}/` }, { path: '^src/' }),
  forbid('not-outside-src', { path: '^src/' }, { path: '^(?:test|bench|scripts|dist)/' }),
  forbid('pure-core-modules', { path: pure }, { dependencyTypes: ['core'], pathNot: '^(?:node:)?(?:url|net|buffer|crypto)$' }),
  forbid('pure-packages', { path: pure }, { path: '(?:^|/)node_modules/', pathNot: packages(['yaml', 'js-yaml', 'ipaddr\\.js', 'diff']) }),
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
    { path: '^src/', pathNot: '^src/(?:checks/policies/compile-schema\\.ts$|providers/package/|service/)' },
    { path: packages(['ajv', 're2js']) },
  ),
  forbid(
    'lazy-policies',
    { path: '^src/', pathNot: '^src/checks/policies/read-policies\\.ts$' },
    { path: '^src/checks/policies/(?:read-policies|compile-schema)\\.ts$', dynamic: false, dependencyTypesNot: ['type-only'] },
  ),
  forbid('island-providers', { path: '^src/providers/([^/]+)/' }, { path: '^src/providers/[^/]+/', pathNot: '^src/providers/$1/' }),
  forbid(
    'provider-door',
    { path: '^src/', pathNot: '^src/providers/' },
    { path: '^src/providers/', pathNot: '^src/providers/(?:provider|registry|memory/memory-provider)\\.ts$' },
  ),
  // `validate` knows the settings and capabilities of every type, and creates no provider.
  forbid(
    'lazy-providers',
    { path: '^src/providers/[^/]+/[^/]+-(?:config|type)\\.ts$', pathNot: '/class-config\\.ts$' },
    { path: '^src/providers/[^/]+/[^/]+-provider\\.ts$', dynamic: false, dependencyTypesNot: ['type-only'] },
  ),
  // A command gets its config with its hosts checked, before it can look up a secret.
  forbid('config-door', { path: '^src/', pathNot: '^src/run/load/run-config\\.ts$' }, { path: '^src/config/load-config\\.ts$' }),
  // A command calls a room that plans and sends. Only the demo asks its own name server.
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
