/**
 * Checks that package-lock.json has the SHA-512 of every package, so that npm refuses a package whose content was altered under the same version.
 *
 *   node scripts/check-lock-file.mjs [--fix] [FOLDER]
 *
 * The check needs no installed package and no network. `--fix` asks the registry of the npm configuration for the missing checksums. It changes no version.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGE_FOLDER = 'node_modules/'

const args = process.argv.slice(2)
const fix = args.includes('--fix')
const folder = resolve(args.find((arg) => !arg.startsWith('-')) ?? join(dirname(fileURLToPath(import.meta.url)), '..'))
const lockFile = join(folder, 'package-lock.json')

const lock = JSON.parse(readFileSync(lockFile, 'utf8'))
if (fix) {
  const count = addChecksums(lock)
  const addresses = removeAddresses(lock)
  if (count + addresses > 0) writeFileSync(lockFile, `${JSON.stringify(lock, null, 2)}\n`)
  console.log(`${lockFile}: ${count} checksums added, ${addresses} registry addresses removed`)
}
const problems = problemsOf(lock)
for (const problem of problems) console.error(problem)
if (problems.length > 0) {
  console.error(`${lockFile}: ${problems.length} problems. "npm run lock" adds missing checksums and removes registry addresses.`)
  process.exitCode = 1
} else console.log(`${lockFile}: ${packagesOf(lock).length} packages, each with a SHA-512`)

/** The packages of the lock file, each with its path. The project itself has the path ''. */
function packagesOf({ packages }) {
  return Object.entries(packages ?? {}).filter(([path]) => path !== '')
}

function problemsOf(content) {
  if (content.lockfileVersion !== 3) return [`lockfileVersion is ${content.lockfileVersion}; it must be 3`]
  return packagesOf(content).flatMap(([path, entry]) => {
    const name = `${path} ${entry.version ?? ''}`.trim()
    if (entry.link || !path.includes(PACKAGE_FOLDER)) return [`${name}: not a package from a registry`]
    if (entry.resolved !== undefined) {
      return isRegistryAddress(entry.resolved)
        ? [`${name}: "resolved" names a registry; leave it out`]
        : [`${name}: ${entry.resolved} is not a package from a registry`]
    }
    return hasChecksum(entry) || isBundled(content, path, entry) ? [] : [`${name}: no SHA-512 in "integrity"`]
  })
}

/** Whether every alternative of `integrity` is a SHA-512. npm takes the strongest algorithm and accepts any of its checksums. */
function hasChecksum({ integrity }) {
  return typeof integrity === 'string' && /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)
}

/** Whether the content of a package is part of the content of a package above it. npm ignores `inBundle` itself. */
function isBundled({ packages }, path, entry) {
  if (entry.inBundle !== true) return false
  for (let end = path.lastIndexOf(`/${PACKAGE_FOLDER}`); end > 0; end = path.lastIndexOf(`/${PACKAGE_FOLDER}`, end - 1)) {
    const [name] = path.slice(end + 1 + PACKAGE_FOLDER.length).split(`/${PACKAGE_FOLDER}`)
    const above = packages[path.slice(0, end)]
    if (above && hasChecksum(above) && above.bundleDependencies?.includes?.(name)) return true
  }
  return false
}

/** An address such as https://registry.example/name/-/name-1.2.3.tgz. */
function isRegistryAddress(address) {
  return /^https?:\/\/.*\/-\/[^/]*\.tgz$/.test(address)
}

function removeAddresses(content) {
  const entries = packagesOf(content).filter(([, { resolved }]) => resolved !== undefined && isRegistryAddress(resolved))
  for (const [, entry] of entries) delete entry.resolved
  return entries.length
}

/** Adds the missing checksums of packages from a registry, and returns how many. */
function addChecksums(content) {
  const missing = packagesOf(content).filter(
    ([path, entry]) =>
      path.includes(PACKAGE_FOLDER) &&
      !entry.link &&
      (entry.resolved === undefined || isRegistryAddress(entry.resolved)) &&
      !hasChecksum(entry) &&
      !isBundled(content, path, entry),
  )
  if (missing.length === 0) return 0
  const specs = [...new Set(missing.map(([path, entry]) => specOf(path, entry)))]
  const checksums = resolveChecksums(specs)
  let count = 0
  for (const [path, entry] of missing) {
    const integrity = checksums.get(specOf(path, entry))
    if (integrity === undefined) continue
    content.packages[path] = withIntegrity(entry, integrity)
    count += 1
  }
  return count
}

/** `name@version` of a package. `name` is in the entry if the folder is called otherwise. */
function specOf(path, { name, version }) {
  return `${name ?? path.slice(path.lastIndexOf(PACKAGE_FOLDER) + PACKAGE_FOLDER.length)}@${version}`
}

/** `integrity` has the place where npm writes it: after `version` and `resolved`. */
function withIntegrity({ name, version, resolved, integrity: _, ...rest }, integrity) {
  return { ...(name === undefined ? {} : { name }), version, ...(resolved === undefined ? {} : { resolved }), integrity, ...rest }
}

/**
 * The checksums that npm records for exact versions. npm resolves all of them in one run, in an empty project that has each as an optional dependency
 * under an alias: so packages for other platforms are resolved too, and two versions of a package do not exclude each other.
 */
function resolveChecksums(specs) {
  const work = mkdtempSync(join(tmpdir(), 'zonewright-lock-'))
  try {
    const aliases = Object.fromEntries(specs.map((spec, index) => [`package-${index}`, `npm:${spec}`]))
    writeFileSync(join(work, 'package.json'), JSON.stringify({ private: true, optionalDependencies: aliases }))
    if (existsSync(join(folder, '.npmrc'))) copyFileSync(join(folder, '.npmrc'), join(work, '.npmrc'))
    const options = ['--package-lock-only', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--silent']
    execFileSync('npm', ['install', ...options], { cwd: work, stdio: ['ignore', 'ignore', 'inherit'] })
    const { packages } = JSON.parse(readFileSync(join(work, 'package-lock.json'), 'utf8'))
    return new Map(
      specs.flatMap((spec, index) => {
        const entry = packages[`${PACKAGE_FOLDER}package-${index}`]
        const isAsked = entry && `${entry.name}@${entry.version}` === spec && hasChecksum(entry)
        return isAsked ? [[spec, entry.integrity]] : []
      }),
    )
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
