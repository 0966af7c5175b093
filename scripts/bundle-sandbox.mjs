/** Bundles the child process of the sandbox, with QuickJS in it, into `generated/sandbox-child.cjs`: a script of its own, which Node starts fast. */
import { renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(fileURLToPath(import.meta.url), '../..')

/** The bundle, and the name that `src/programs/sandbox/run-program.ts` looks for. */
export const SANDBOX = join(root, 'generated/sandbox-child.cjs')

/** @returns {Promise<string[]>} the files that it was built from, relative to the package */
export async function bundleSandbox() {
  const { build } = await import('esbuild')
  const outfile = `${SANDBOX}.${process.pid}.tmp`
  try {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: [join(root, 'src/programs/sandbox/child.ts')],
      outfile,
      bundle: true,
      format: 'cjs',
      platform: 'node',
      target: 'node20.19',
      mainFields: ['module', 'main'],
      loader: { '.wasm': 'binary' },
      // Emscripten gets its octets and loads nothing. Where it sees Node.js, it would start the loader of ESM, which takes 10 ms.
      define: { 'import.meta.url': '"file:///"', 'globalThis.process': 'undefined' },
      minify: true,
      legalComments: 'none',
      metafile: true,
      logLevel: 'warning',
    })
    renameSync(outfile, SANDBOX)
    return Object.keys(metafile.inputs).sort()
  } finally {
    rmSync(outfile, { force: true })
  }
}
