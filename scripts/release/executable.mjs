/**
 * Builds the single executable: Node.js, the bundled program and the files that it reads, by Node's own mechanism (single executable applications). The packages
 * that the bundle leaves out are not in it: those of the service, and the SDK of Route 53. Node finds them in a `node_modules` beside the executable.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { bundleOptions, LANGUAGE_OF_DNSCONTROL, outsideIfLazy, withoutChildProcess } from '../build.mjs'
import { bundleSandbox, SANDBOX_FILES } from '../bundle-sandbox.mjs'
import { COMPOSED } from './contents.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../../..')

/** Marks the place in a Node.js binary that says whether it has a program. Stated by Node's documentation. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** What the program reads through `node:sea`. */
const ASSETS = {
  'docs/diagnostics.md': 'docs/diagnostics.md',
  ...Object.fromEntries(readdirSync(join(root, 'docs/lints')).map((name) => [`docs/lints/${name}`, `docs/lints/${name}`])),
  ...Object.fromEntries(COMPOSED.map((path) => [path, path])),
  'python_bridge.py': 'src/providers/python_bridge.py',
  ...Object.fromEntries(LANGUAGE_OF_DNSCONTROL.map((file) => [basename(file), file])),
}

/**
 * Builds the executable from the Node.js that runs this script. Linux only.
 * @param {string} out its path
 * @param {{ tarball: string, checksum: string }} [release]
 * @returns {Promise<string[]>} the files that it was built from, relative to the package
 */
export async function buildExecutable(out, release) {
  if (process.platform !== 'linux') throw new Error('the executable is built on Linux')
  const work = mkdtempSync(join(dirname(resolve(out)), '.executable-'))
  try {
    const { texts, inputs } = await bundle(release)
    const sandboxInputs = await bundleSandbox()
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(work, `${name}.js`), text)
    writeCodeCaches(work)
    const files = Object.keys(texts).flatMap((name) => [`${name}.js`, `${name}.cache`])
    const assets = {
      ...Object.fromEntries(Object.entries(ASSETS).map(([name, path]) => [name, join(root, path)])),
      ...Object.fromEntries(files.map((name) => [name, join(work, name)])),
      ...Object.fromEntries(SANDBOX_FILES.map((path) => [basename(path), path])),
    }
    const config = {
      main: join(root, 'scripts/release/executable-main.cjs'),
      output: join(work, 'blob'),
      disableExperimentalSEAWarning: true,
      assets,
    }
    writeFileSync(join(work, 'config.json'), JSON.stringify(config))
    execFileSync(process.execPath, ['--experimental-sea-config', join(work, 'config.json')], { stdio: 'ignore' })
    const executable = join(work, 'executable')
    copyFileSync(process.execPath, executable)
    chmodSync(executable, 0o755)
    inject(executable, config.output)
    renameSync(executable, out)
    return [...new Set([...inputs, ...sandboxInputs, ...LANGUAGE_OF_DNSCONTROL])].sort()
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/**
 * The program as two CommonJS scripts: `program` reads the command line, and `commands` has what it imports on demand, by the specifier. Each is a function that gets
 * `require` and `import()`. The latter is a parameter, since Node.js cannot load modules for functions that come from a code cache.
 */
async function bundle(release) {
  const lazy = new Map()
  const common = bundleOptions(release)
  const options = { ...common, format: 'cjs', write: false, define: { ...common.define, 'import.meta.url': '__executableUrl' } }
  const front = await build({
    ...options,
    entryPoints: [join(root, 'src/cli/main.ts')],
    plugins: [outsideIfLazy(lazy), withoutChildProcess],
  })
  const imports = [...lazy].map(([path, chunk]) => `${JSON.stringify(`./chunks/${chunk}.js`)}: () => import(${JSON.stringify(path)})`)
  const rest = await build({ ...options, stdin: { contents: `module.exports = { ${imports.join(', ')} }`, resolveDir: root } })
  const wrapped = ({ outputFiles: [{ text }] }) =>
    `((require, __import) => { const __executableUrl = require('node:url').pathToFileURL(process.execPath).href, module = { exports: {} };\n${text.replaceAll(/(?<![\w$.])import\(/g, '__import(')}\nreturn module.exports })`
  return {
    texts: { program: wrapped(front), commands: wrapped(rest) },
    inputs: [front, rest].flatMap(({ metafile }) => Object.keys(metafile.inputs).filter((path) => path !== '<stdin>')),
  }
}

/**
 * Writes the compiled functions of the scripts, as V8 stores them for this version of Node.js: those that a run of `validate` uses. Without them, Node.js would
 * parse the whole program at each start. V8 refuses what was stored with other flags than those at the start.
 */
function writeCodeCaches(folder) {
  const run = `const vm = require('node:vm'), fs = require('node:fs'), scripts = new Map()
process.argv = [process.execPath, 'zonewright', 'validate', 'zones', '--quiet']
require('node:v8').setFlagsFromString = () => undefined
let commands
const load = (name) => {
  scripts.set(name, new vm.Script(fs.readFileSync(${JSON.stringify(folder)} + '/' + name + '.js', 'utf8')))
  return scripts.get(name).runInThisContext()(require, importModule)
}
const importModule = (specifier) => (specifier.startsWith('./chunks/') ? (commands ??= load('commands'))[specifier]() : import(specifier))
process.on('exit', () => {
  for (const [name, script] of scripts) fs.writeFileSync(${JSON.stringify(folder)} + '/' + name + '.cache', script.createCachedData())
})
load('program')`
  execFileSync(process.execPath, ['--no-warnings', '-e', run], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
}

function inject(executable, blob) {
  const postject = join(root, 'node_modules/postject/dist/cli.js')
  // Shown only if it fails: it warns about sections of the binary that it does not know.
  const { status, stdout, stderr } = spawnSync(process.execPath, [postject, executable, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${process.execPath} cannot become an executable with the program:\n${stdout}${stderr}`)
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const out = resolve(process.argv[2] ?? 'zonewright')
  await buildExecutable(out)
  console.error(`built ${out} (${Math.round(statSync(out).size / 2 ** 20)} MiB)`)
}
