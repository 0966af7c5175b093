/** What a release tarball may contain. Anything else, and anything that looks like a secret, is refused. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** Maximum octets of the tarball, of all its files, and of one file. */
export const MAX_TARBALL = 2_500_000
export const MAX_UNPACKED = 9_000_000
const MAX_FILE = 1_500_000

/** The schemas that the build composes. The repository does not have them. */
export const COMPOSED = ['schemas/zone.schema.json', 'schemas/config.schema.json']

/** The files that the build makes. All others are files of the repository. */
const BUILT = [
  /^dist\/(?:zonewright\.(?:js|1)|provider\.mjs|package\.json)$/,
  /^dist\/chunks\/[\w.-]+\.js$/,
  /^dist\/chunks\/(?:package\.json|python_bridge\.py|sandbox-child\.cjs|emscripten-module\.wasm)$/,
  /^dist\/types\/(?:[\w.-]+\/)*[\w.-]+\.d\.ts$/,
  /^dist\/types\/package\.json$/,
  /^(?:package|npm-shrinkwrap)\.json$/,
  /^THIRD-PARTY-LICENSES\.txt$/,
  /^schemas\/(?:zone|config)\.schema\.json$/,
]

/** Files that a tarball needs; without one of them, something did not build. */
const REQUIRED = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'THIRD-PARTY-LICENSES.txt',
  'dist/chunks/emscripten-module.wasm',
  'dist/chunks/python_bridge.py',
  'dist/chunks/sandbox-child.cjs',
  'dist/provider.mjs',
  'dist/zonewright.1',
  'dist/zonewright.js',
  'docs/diagnostics.md',
  'npm-shrinkwrap.json',
  'package.json',
  ...COMPOSED,
  'templates/provider/package.json',
]

/** Names that no release has, even if they are in the repository. */
const FORBIDDEN_NAME = /^\.|\.(?:map|ts|pem|key|p12|pfx|env|log|tgz|db|sqlite)$|\.test\.|^id_(?:rsa|ed25519)|^(?:npmrc|credentials)$/
const TYPESCRIPT = /\.d\.ts$|^examples\/(?:[\w-]+\/)*[\w-]+(?:\.test)?\.ts$/

const SECRETS = [
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40}/],
  ['an access key of Amazon', /\b(?:AKIA|ASIA)(?!IOSFODNN7EXAMPLE)[A-Z0-9]{16}\b/],
  ['a token of GitHub', /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{60})/],
  ['a token of GitLab', /\bglpat-[\w-]{20}/],
  ['a token of npm', /\bnpm_[A-Za-z0-9]{36}\b|_authToken\s*=\s*\w/],
  ['a token of Slack', /\bxox[abprs]-[\w-]{20}/],
  ['a key of Google', /\bAIza[\w-]{35}\b/],
]

/**
 * Returns what is wrong with the files of an unpacked tarball: one line per problem, sorted.
 * @param {string} folder
 * @param {{ tracked: ReadonlySet<string>, forbidden?: readonly string[] }} options the files of the repository, with `/`; texts that no file may contain, such as the folder of the build
 */
export function contentProblems(folder, { tracked, forbidden = [] }) {
  const problems = []
  const paths = []
  let total = 0
  const walk = (below) => {
    for (const name of readdirSync(join(folder, below)).sort()) {
      const path = below === '' ? name : `${below}/${name}`
      const { size, ...stat } = lstatSync(join(folder, path))
      if ((stat.mode & 0o170000) === 0o040000) walk(path)
      else if ((stat.mode & 0o170000) !== 0o100000) problems.push(`${path}: neither a file nor a folder`)
      else {
        paths.push(path)
        total += size
        if (size > MAX_FILE) problems.push(`${path}: ${size} octets, more than ${MAX_FILE}`)
        problems.push(...fileProblems(path, readFileSync(join(folder, path), 'latin1'), tracked, forbidden))
      }
    }
  }
  walk('')
  for (const path of REQUIRED) if (!paths.includes(path)) problems.push(`${path}: missing`)
  if (total > MAX_UNPACKED) problems.push(`all files: ${total} octets, more than ${MAX_UNPACKED}`)
  return problems.sort()
}

function fileProblems(path, text, tracked, forbidden) {
  const problems = []
  if (!tracked.has(path) && !BUILT.some((pattern) => pattern.test(path)))
    problems.push(`${path}: neither built nor a file of the repository`)
  if (path.startsWith('dist/') && tracked.has(path)) problems.push(`${path}: a built file is in the repository`)
  const name = basename(path)
  if (FORBIDDEN_NAME.test(name) && !TYPESCRIPT.test(path)) problems.push(`${path}: no release has files of this name`)
  if (/^(?:test|bench|scripts|src)\//.test(path)) problems.push(`${path}: not for users`)
  if (/\/[/*]# sourceMappingURL=/.test(text)) problems.push(`${path}: refers to a source map`)
  for (const [what, pattern] of SECRETS) if (pattern.test(text)) problems.push(`${path}: has what looks like ${what}`)
  for (const one of forbidden) if (one.length > 1 && text.includes(one)) problems.push(`${path}: contains ${one}`)
  return problems
}
