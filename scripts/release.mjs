/**
 * Makes a release of the commit that is checked out: `npm run release`. The folder `release/` then has
 *
 *   zonewright-VERSION.tgz                 the npm package
 *   zonewright-VERSION-linux-x64           with --executable: the single executable, for the system that the script runs on
 *   zonewright-VERSION-docs.tar.gz         the documents as a site that opens from its files
 *   zonewright-VERSION-notes.md            what CHANGELOG.md says of the version
 *   SHA256SUMS                             of all
 *   zonewright-VERSION.intoto.json         the provenance: an in-toto statement; with --sign-key also its signed envelope, zonewright-VERSION.intoto.dsse.json
 *
 * Options:
 *   --out FOLDER        instead of release/
 *   --url ADDRESS       where the files of the release will be, such as https://releases.example.com/v0.2.0; `init` writes it into workflows
 *   --builder URI       who builds, for the provenance
 *   --sign-key FILE     an Ed25519 private key (PEM), to sign the provenance
 *   --executable        also build the executable
 *   --allow-dirty       for tests of what is not committed: no provenance
 *
 * The same commit, Node.js and npm give the same tarball, octet by octet. Nothing is uploaded. It is built in a temporary folder, with fresh copies of the
 * packages, which npm compares with the checksums in package-lock.json: `node_modules` of the checkout has no part in it.
 */
import { execFileSync } from 'node:child_process'
import { createHash, createPrivateKey, createPublicKey } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { EXTERNAL } from './external.mjs'
import { tarGz } from './release/archive.mjs'
import { COMPOSED, contentProblems, MAX_TARBALL } from './release/contents.mjs'
import { licencesOf } from './release/licences.mjs'
import { provenanceStatement, signedEnvelope } from './release/provenance.mjs'
import { isExternal, releaseManifest, shrinkwrapOf } from './release/shrinkwrap.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))
const run = (command, args, cwd = root) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit'] })
/** Also in a container whose user does not own the checkout, since this script runs code from it anyway. */
const git = (args) => run('git', ['-c', `safe.directory=${root}`, ...args])
const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex')

/** An error that the user can mend, shown without a trace. */
class Refused extends Error {}

async function release({
  out = join(root, 'release'),
  url = '',
  builder = 'urn:zonewright:unknown-builder',
  'sign-key': keyFile,
  ...flags
}) {
  if (url !== '' && !/^https:\/\/[\w.-]+(?::\d+)?(?:\/[\w.~%+@-]+)*\/?$/.test(url))
    throw new Refused(`--url ${url} is not an HTTPS address`)
  const isDirty = refuseChanges(flags['allow-dirty'] === true)
  const key = keyFile === undefined ? undefined : createPrivateKey(readFileSync(keyFile))
  const manifest = readJson('package.json')
  const base = `${manifest.name}-${manifest.version}`
  const work = mkdtempSync(join(tmpdir(), 'zonewright-release-'))
  try {
    const notes = writeNotes(work, base, manifest.version)
    const tarball = url === '' ? '' : `${url.replace(/\/$/, '')}/${base}.tgz`
    const tree = makeTree(work, manifest)
    const packed = await packTarball(work, tree, manifest, tarball)
    const files = [
      { name: `${base}.tgz`, path: packed },
      { name: `${base}-docs.tar.gz`, path: await packSite(work, tree, `${base}-docs`) },
      { name: `${base}-notes.md`, path: notes },
    ]
    if (flags.executable) {
      const name = `${base}-${process.platform}-${process.arch}`
      const { buildExecutable } = await import(pathToFileURL(join(tree, 'scripts/release/executable.mjs')))
      await buildExecutable(join(work, name), { tarball, checksum: sha256(packed) })
      files.push({ name, path: join(work, name) })
    }
    const sums = files.map(({ name, path }) => ({ name, sha256: sha256(path) }))
    const texts = { SHA256SUMS: sums.map(({ name, sha256: sum }) => `${sum}  ${name}\n`).join('') }
    if (!isDirty) Object.assign(texts, provenance(base, sums, { url, builder, key, packages: readJson('package-lock.json').packages }))
    mkdirSync(out, { recursive: true })
    for (const former of readdirSync(out)) if (former === 'SHA256SUMS' || former.startsWith(`${manifest.name}-`)) rmSync(join(out, former))
    for (const { name, path } of files) moveInto(out, name, (to) => copyFileSync(path, to))
    for (const [name, text] of Object.entries(texts)) moveInto(out, name, (to) => writeFileSync(to, text))
    for (const { name, path } of files) console.error(`${join(out, name)}: ${statSync(path).size} octets`)
    if (isDirty) console.error('The tree has changes: no provenance.')
    return { out, files: files.map(({ name }) => name) }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Writes to a temporary name, so that a release is never half a file. */
function moveInto(folder, name, write) {
  const temporary = join(folder, `.${name}.${process.pid}`)
  write(temporary)
  renameSync(temporary, join(folder, name))
}

/** Whether the tree differs from the commit. */
function refuseChanges(isAllowed) {
  const changes = git(['status', '--porcelain']).trim()
  if (changes !== '' && !isAllowed) throw new Refused(`the tree has changes; commit them first:\n${changes}`)
  return changes !== ''
}

/** The development packages that a build uses. underscore is part of DNSControl's language. */
const BUILD_TOOLS = ['@types/node', 'esbuild', 'markdown-it', 'minisearch', 'postject', 'typescript', 'underscore']

/** Returns a folder with the sources, and the packages of package-lock.json that a build uses. npm refuses a package with another checksum, and runs no scripts of packages. */
function makeTree(work, { name, version, dependencies, devDependencies, overrides }) {
  const tree = join(work, 'tree')
  for (const path of git(['ls-files', '-z', '--cached', '--others', '--exclude-standard']).split('\0')) {
    if (path === '' || path.startsWith('test/') || !existsSync(join(root, path))) continue
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    copyFileSync(join(root, path), join(tree, path))
  }
  const folder = join(work, 'packages')
  const bundled = Object.entries(dependencies).filter(([one]) => !isExternal(one, EXTERNAL))
  const tools = BUILD_TOOLS.map((tool) => [tool, devDependencies[tool]])
  const needed = { name, version, dependencies: Object.fromEntries([...bundled, ...tools]), overrides }
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify(needed))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(shrinkwrapOf(needed, readJson('package-lock.json'))))
  run('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--silent'], folder)
  renameSync(join(folder, 'node_modules'), join(tree, 'node_modules'))
  return tree
}

/** Returns the path of the checked tarball. */
async function packTarball(work, tree, manifest, address) {
  const folder = join(work, 'package')
  run(process.execPath, ['scripts/compile-schemas.mjs'], tree)
  const { buildProgram } = await import(pathToFileURL(join(tree, 'scripts/build.mjs')))
  mkdirSync(folder)
  const { inputs } = await buildProgram({ out: join(folder, 'dist'), types: true, release: { tarball: address, checksum: '' } })
  const tracked = git(['ls-files', '-z'])
    .split('\0')
    .filter((path) => path !== '')
  const shipped = [...manifest.files, 'README.md', 'LICENSE']
  for (const path of [...tracked, ...COMPOSED].filter((one) => shipped.some((two) => one === two || one.startsWith(`${two}/`)))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    copyFileSync(join(COMPOSED.includes(path) ? tree : root, path), join(folder, path))
    chmodSync(join(folder, path), 0o644)
  }
  const released = releaseManifest({ ...manifest, files: [...manifest.files, 'npm-shrinkwrap.json', 'THIRD-PARTY-LICENSES.txt'] }, EXTERNAL)
  const write = (path, text) => writeFileSync(join(folder, path), text)
  write('package.json', `${JSON.stringify(released, null, 2)}\n`)
  write('npm-shrinkwrap.json', `${JSON.stringify(shrinkwrapOf(released, readJson('package-lock.json')), null, 2)}\n`)
  write('THIRD-PARTY-LICENSES.txt', licencesOf(tree, inputs))
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', work], folder)
  const tarball = join(work, `${manifest.name}-${manifest.version}.tgz`)
  checkTarball(tarball, tracked, work)
  return tarball
}

/** Returns the path of the archive with the site. */
async function packSite(work, tree, name) {
  const { buildSite } = await import(pathToFileURL(join(tree, 'scripts/site/build-site.mjs')))
  const { problems } = buildSite(root, join(work, 'site'))
  if (problems.length > 0) throw new Refused(`the documents may not be released:\n${problems.join('\n')}`)
  const path = join(work, `${name}.tar.gz`)
  writeFileSync(path, tarGz(join(work, 'site'), name, Number(git(['show', '--no-patch', '--format=%ct', 'HEAD']))))
  return path
}

/** Returns the path of what the changelog says of the version. Its links lead to files that the notes do not have beside them: links in parentheses are left out, of the others the text stays. */
function writeNotes(work, base, version) {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const notes = changelog.split(/^(?=## )/m).find((section) => section.startsWith(`## ${version}\n`))
  if (notes === undefined) throw new Refused(`CHANGELOG.md does not say what version ${version} changes: add a section "## ${version}"`)
  const path = join(work, `${base}-notes.md`)
  const withoutLinks = notes.replaceAll(/ \(\[[^\]]*\]\((?!https?:)[^)]*\)\)/g, '').replaceAll(/\[([^\]]*)\]\((?!https?:)[^)]*\)/g, '$1')
  writeFileSync(path, `# Zonewright ${withoutLinks.slice(3).trim()}\n`)
  return path
}

/** Looks at what a user would get, not at what was meant to be packed. */
function checkTarball(tarball, tracked, work) {
  const unpacked = mkdtempSync(join(work, 'unpacked-'))
  run('tar', ['-xzf', tarball, '-C', unpacked])
  const problems = contentProblems(join(unpacked, 'package'), {
    tracked: new Set(tracked),
    forbidden: [root, work, tmpdir() === '/tmp' ? '' : tmpdir()],
  })
  const { size } = statSync(tarball)
  if (size > MAX_TARBALL) problems.push(`the tarball: ${size} octets, more than ${MAX_TARBALL}`)
  if (problems.length > 0) throw new Refused(`the tarball may not be released:\n${problems.join('\n')}`)
}

function provenance(base, files, { url, builder, key, packages }) {
  const statement = provenanceStatement({
    files,
    commit: git(['rev-parse', 'HEAD']).trim(),
    committed: git(['show', '--no-patch', '--format=%cI', 'HEAD']).trim(),
    repository: readJson('package.json').repository?.url ?? '',
    builder,
    settings: url === '' ? {} : { url },
    packages,
    tools: { node: process.version, npm: run('npm', ['--version']).trim(), platform: `${process.platform}-${process.arch}` },
  })
  const text = `${JSON.stringify(statement, null, 2)}\n`
  if (key === undefined) return { [`${base}.intoto.json`]: text }
  const keyid = createHash('sha256')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest('hex')
  return { [`${base}.intoto.json`]: text, [`${base}.intoto.dsse.json`]: `${JSON.stringify(signedEnvelope(text, key, keyid))}\n` }
}

const OPTIONS = {
  out: { type: 'string' },
  url: { type: 'string' },
  builder: { type: 'string' },
  'sign-key': { type: 'string' },
  executable: { type: 'boolean' },
  'allow-dirty': { type: 'boolean' },
}

try {
  const { out, ...values } = parseArgs({ options: OPTIONS }).values
  await release({ ...values, ...(out !== undefined && { out: resolve(out) }) })
} catch (error) {
  if (!(error instanceof Refused)) throw error
  console.error(`release: ${error.message}`)
  process.exitCode = 1
}
