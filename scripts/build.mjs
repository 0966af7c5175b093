/**
 * Bundles the program into `dist`. `zonewright.js` reads the command line. It is CommonJS, which Node starts some milliseconds
 * faster than ESM, and enough for `--help`. The commands are ESM with code splitting in `dist/chunks`, each loaded only when it runs.
 * Packages with native code and those that the service loads by name are not bundled and come from node_modules. The bundle is built
 * beside `dist` and replaces it when it is complete.
 */
import { execFile } from 'node:child_process'
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
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { bundleSandbox, SANDBOX_FILES } from './bundle-sandbox.mjs'
import { manualPage } from './command-pages.mjs'
import { DEFINITION_TYPES, writeDefinitionTypes } from './definition-types.mjs'
import { EXTERNAL } from './external.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')

/** Defines the `require` that bundled CommonJS packages need for Node's own modules. */
const REQUIRE = `import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);`

/**
 * The options of every bundle.
 * @param {{ tarball: string, checksum: string }} [release] the release that the bundle is part of, as `src/cli/init/release.ts` describes it
 */
export function bundleOptions(release) {
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    mainFields: ['module', 'main'],
    external: EXTERNAL,
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    sourcemap: false,
    metafile: true,
    logLevel: 'warning',
    define: {
      __NAME__: JSON.stringify(name),
      __VERSION__: JSON.stringify(version),
      ...(release && { __RELEASE__: JSON.stringify(release) }),
    },
  }
}

/**
 * @param {{ entry?: string, out?: string, types?: boolean, release?: { tarball: string, checksum: string } }} [options] absolute paths, by default those of
 *   the package; whether to write type declarations and the manual page; the release
 * @returns {Promise<{ file: string, bytes: number, inputs: string[] }>} the program, its size with all chunks, and the files that it was built from, relative to the package
 */
export async function buildProgram({ entry = join(root, 'src/cli/main.ts'), out = join(root, 'dist'), types = false, release } = {}) {
  const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const fresh = mkdtempSync(join(dirname(out), `.${basename(out)}-`))
  const common = bundleOptions(release)
  try {
    const lazy = new Map()
    const program = join(fresh, `${name}.js`)
    const front = await build({
      ...common,
      entryPoints: [entry],
      outfile: program,
      format: 'cjs',
      plugins: [outsideIfLazy(lazy), withoutChildProcess],
      // CommonJS has no `import.meta`: a module that finds files of the package beside itself belongs into a chunk.
      logOverride: { 'empty-import-meta': 'error' },
    })
    const rest = await build({
      ...common,
      entryPoints: Object.fromEntries([
        ...[...lazy].map(([path, chunk]) => [chunk, path]),
        ...LIBRARY.map((path) => [basename(path, '.ts'), join(root, path)]),
      ]),
      outdir: join(fresh, 'chunks'),
      splitting: true,
      format: 'esm',
      plugins: [withCore, withoutChildProcess, withoutTagsOfYaml],
      chunkNames: '[name]-[hash]',
      banner: { js: REQUIRE },
    })
    // `zonewright/provider`, for packages with providers.
    const api = await build({ ...common, entryPoints: [join(root, PROVIDER_API)], outfile: join(fresh, 'provider.mjs'), format: 'esm' })
    // The child process of octoDNS's classes is started as a file beside the code that starts it.
    copyFileSync(join(root, BRIDGE), join(fresh, 'chunks', basename(BRIDGE)))
    for (const file of LANGUAGE_OF_DNSCONTROL) copyFileSync(join(root, file), join(fresh, 'chunks', basename(file)))
    // So is that of the sandbox, which nothing but QuickJS may be in.
    const sandboxInputs = await bundleSandbox()
    for (const file of SANDBOX_FILES) copyFileSync(file, join(fresh, 'chunks', basename(file)))
    if (types) {
      await writeTypes(join(fresh, 'types'))
      await writeDefinitionTypes()
      copyFileSync(DEFINITION_TYPES, join(fresh, 'types', basename(DEFINITION_TYPES)))
    }
    // The package is ESM; these files declare the module type of each folder in `dist`.
    writeFileSync(join(fresh, 'package.json'), '{"type":"commonjs"}\n')
    writeFileSync(join(fresh, 'chunks/package.json'), '{"type":"module"}\n')
    prependHashbang(program)
    chmodSync(program, 0o755)
    if (types) {
      const { stdout } = await promisify(execFile)(process.execPath, [program, '__manual'])
      writeFileSync(join(fresh, `${name}.1`), manualPage(JSON.parse(stdout)))
    }
    replaceFolder(fresh, out)
    const metafiles = [front, rest, api].map(({ metafile }) => metafile)
    const bytes = metafiles.flatMap(({ outputs }) => Object.values(outputs)).reduce((sum, output) => sum + output.bytes, 0)
    const inputs = [
      ...new Set([...sandboxInputs, ...LANGUAGE_OF_DNSCONTROL, ...metafiles.flatMap((metafile) => Object.keys(metafile.inputs))]),
    ].sort()
    return { file: join(out, `${name}.js`), bytes, inputs }
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

const BRIDGE = 'src/providers/python_bridge.py'

/** What runs in the sandbox before a dnsconfig.js. */
export const LANGUAGE_OF_DNSCONTROL = ['src/programs/dnscontrol/dnscontrol-prelude.js', 'node_modules/underscore/underscore-umd-min.js']

const PROVIDER_API = 'src/providers/package/package-interface.ts'

/** `zonewright` and `zonewright/testing`. They share the chunks of the commands, and what they load on demand. */
const LIBRARY = ['src/library/zonewright.ts', 'src/library/testing.ts']

/** What the package exports with types, by the names of imports. */
export const ENTRIES = { zonewright: LIBRARY[0], 'zonewright/testing': LIBRARY[1], 'zonewright/provider': PROVIDER_API }

/** Writes the declarations of `ENTRIES`, and only the files that they import. */
export async function writeTypes(folder) {
  const all = mkdtempSync(join(root, '.types-'))
  try {
    const flags = [
      '--ignoreConfig',
      '--declaration',
      '--emitDeclarationOnly',
      '--strict',
      '--noCheck',
      '--skipLibCheck',
      '--allowImportingTsExtensions',
    ]
    const target = ['--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--rewriteRelativeImportExtensions']
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    await promisify(execFile)(
      process.execPath,
      [compiler, ...flags, ...target, '--rootDir', 'src', '--outDir', all, ...Object.values(ENTRIES)],
      {
        cwd: root,
      },
    )
    const files = new Set(Object.values(ENTRIES).map((path) => join(all, path.replace(/^src\/(.*)\.ts$/, '$1.d.ts'))))
    for (const file of files) {
      const declared = readFileSync(file, 'utf8').replace(/^import '\.[^']*';\n/gm, '')
      const text = declared.replace(/(from '\.{1,2}\/[^']*)\.ts'/g, "$1.js'")
      for (const [, path] of text.matchAll(/from '(\.{1,2}\/[^']*)\.js'/g)) files.add(`${resolve(dirname(file), path)}.d.ts`)
      const destination = join(folder, relative(all, file))
      mkdirSync(dirname(destination), { recursive: true })
      writeFileSync(destination, text)
    }
    // The declarations of an ESM module; `dist` itself is CommonJS.
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
  } finally {
    rmSync(all, { recursive: true, force: true })
  }
}

/** Puts lazily imported modules into separate chunks, and records their files and names. */
export const outsideIfLazy = (lazy) => ({
  name: 'outside-if-lazy',
  setup({ onResolve }) {
    onResolve({ filter: /^\.{1,2}\// }, ({ kind, path, resolveDir }) => {
      // The command line itself stays in the program.
      if (kind !== 'dynamic-import' || path === './program.ts') return undefined
      const file = join(resolveDir, path)
      const chunk = basename(file, '.ts')
      lazy.set(file, chunk)
      return { path: `./chunks/${chunk}.js`, external: true }
    })
  },
})

/** Commander starts programs for subcommands in files of their own, which there are none of. Loading the module takes a tenth of the time of `--help`. */
export const withoutChildProcess = {
  name: 'without-child-process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      /[\\/]commander[\\/]/.test(importer) ? { path: 'child-process', namespace: 'empty' } : undefined,
    )
    onLoad({ filter: /^/, namespace: 'empty' }, () => ({ contents: '' }))
  },
}

/**
 * Marks what js-yaml computes while it loads as free of side effects. The program reads only events of the parser, so that tags and schemas are left out of the bundle,
 * and are not built at each start.
 */
const withoutTagsOfYaml = {
  name: 'without-tags-of-yaml',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]js-yaml[\\/]dist[\\/]js-yaml\.mjs$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(
        /^(var \w+ = )((?:new (?:Schema|RegExp)|define\w+Tag|\w+_SCHEMA\.withTags)\((?:.*|[\s\S]*?\n[}\]])\)|\{\n[\s\S]*?\n\}|`.*`);$/gm,
        '$1/* @__PURE__ */ (() => ($2))();',
      ),
    }))
  },
}

/** Loads the config and all definitions, as most commands do. */
const CORE = join(root, 'src/cli/commands/validate.ts')

/**
 * Lets the entry points and every module of `src` that is loaded on demand import `CORE`. Modules share a chunk only if the same entry points import them, and each
 * file that `validate` loads costs about 0.3 ms: so all that it loads is one chunk.
 */
const withCore = {
  name: 'with-core',
  setup({ onLoad, initialOptions: { entryPoints } }) {
    const loadedLater = new Set([...Object.values(entryPoints), ...importedOnDemand()])
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      if (path === CORE || !loadedLater.has(path)) return undefined
      return { contents: `${readFileSync(path, 'utf8')}\nimport ${JSON.stringify(CORE)}\n`, loader: 'ts' }
    })
  },
}

/** The modules of `src` that are loaded on demand. */
const importedOnDemand = () =>
  readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .flatMap(({ parentPath, name }) =>
      [...readFileSync(join(parentPath, name), 'utf8').matchAll(/\bimport\('(\.{1,2}\/[^']+)'\)/g)].map(([, path]) =>
        join(parentPath, path),
      ),
    )

/** Added to the program only; an esbuild banner would be in every chunk. */
function prependHashbang(program) {
  const code = readFileSync(program, 'utf8')
  if (!code.startsWith('#!')) writeFileSync(program, `#!/usr/bin/env node\n${code}`)
}

/** A program that starts meanwhile finds the old or the new folder, except between the two renames. */
function replaceFolder(fresh, out) {
  chmodSync(fresh, 0o755)
  const former = `${fresh}-former`
  if (existsSync(out)) renameSync(out, former)
  renameSync(fresh, out)
  rmSync(former, { recursive: true, force: true })
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { file, bytes } = await buildProgram({ types: true })
  console.error(`built ${relative(process.cwd(), file)} (${Math.round(bytes / 1024)} KiB)`)
}
