/**
 * Bundles `src/cli/main.ts` into `dist/zonewright.js`: ESM with code splitting, so that a command's code is read only when
 * the command runs. Packages with native code and those the service loads by name stay outside and come from node_modules.
 * The bundle is built beside `dist` and takes its place when it is whole.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = resolve(fileURLToPath(import.meta.url), '../..')

/** Native, or looked up by name at run time (pino starts worker threads from files). */
const EXTERNAL = ['fastify', '@fastify/*', 'kysely', 'libsql', '@libsql/*', 'pg', 'pg-native', 'pino', 'pino-*', 'thread-stream']

/** Gives bundled CommonJS packages the `require` they expect for Node's own modules. */
const REQUIRE = `import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);`

/**
 * @param {{ entry?: string, out?: string }} [paths] absolute paths; those of the package by default
 * @returns {Promise<{ file: string, bytes: number }>} the program, and the size of it with all its chunks
 */
export async function buildProgram({ entry = join(root, 'src/cli/main.ts'), out = join(root, 'dist') } = {}) {
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const fresh = mkdtempSync(join(dirname(out), `.${basename(out)}-`))
  try {
    const result = await build({
      entryPoints: { [name]: entry },
      outdir: fresh,
      absWorkingDir: root,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
      chunkNames: 'chunks/[name]-[hash]',
      mainFields: ['module', 'main'],
      external: EXTERNAL,
      minifyWhitespace: true,
      minifySyntax: true,
      legalComments: 'none',
      sourcemap: false,
      metafile: true,
      logLevel: 'warning',
      banner: { js: REQUIRE },
      define: { __NAME__: JSON.stringify(name), __VERSION__: JSON.stringify(version) },
    })
    const program = join(fresh, `${name}.js`)
    prependHashbang(program)
    chmodSync(program, 0o755)
    replaceFolder(fresh, out)
    const bytes = Object.values(result.metafile.outputs).reduce((sum, output) => sum + output.bytes, 0)
    return { file: join(out, `${name}.js`), bytes }
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** Only the program gets it: a banner would stand in every chunk. */
function prependHashbang(program) {
  const code = readFileSync(program, 'utf8')
  if (!code.startsWith('#!')) writeFileSync(program, `#!/usr/bin/env node\n${code}`)
}

/** A program that starts in between finds either the former folder or the fresh one, but for the moment between two renames. */
function replaceFolder(fresh, out) {
  chmodSync(fresh, 0o755)
  const former = `${fresh}-former`
  if (existsSync(out)) renameSync(out, former)
  renameSync(fresh, out)
  rmSync(former, { recursive: true, force: true })
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { file, bytes } = await buildProgram()
  console.error(`built ${relative(process.cwd(), file)} (${Math.round(bytes / 1024)} KiB)`)
}
