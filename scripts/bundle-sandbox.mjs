/** Bundles the child process of the sandbox into `generated/sandbox-child.cjs`, a script of its own, which Node starts fast, and puts QuickJS beside it. */
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(fileURLToPath(import.meta.url), '../..')

/** The bundle, by the name that `src/programs/sandbox/run-program.ts` looks for, and QuickJS. */
const SANDBOX = join(root, 'generated/sandbox-child.cjs')
const WASM = 'node_modules/@jitl/quickjs-ng-wasmfile-release-sync/dist/emscripten-module.wasm'
export const SANDBOX_FILES = [SANDBOX, join(root, WASM)]

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
      // Emscripten gets its octets and loads nothing. Where it sees Node.js, it would start the loader of ESM, which takes 10 ms.
      define: { 'import.meta.url': '"file:///"', 'globalThis.process': 'undefined' },
      minify: true,
      legalComments: 'none',
      metafile: true,
      logLevel: 'warning',
    })
    renameSync(outfile, SANDBOX)
    copyFileSync(join(root, WASM), join(root, 'generated', basename(WASM)))
    return [...Object.keys(metafile.inputs), WASM].sort()
  } finally {
    rmSync(outfile, { force: true })
  }
}
