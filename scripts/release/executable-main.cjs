/**
 * The main script of the single executable. It compiles the bundled program, an asset, with the code cache of the build, and gives it functions that load
 * packages from a `node_modules` beside the executable, and the modules of provider packages.
 */
const { createRequire } = require('node:module')
// biome-ignore lint/correctness/noUnresolvedImports: a module of Node.js since 20.12, which Biome does not know
const { getAsset } = require('node:sea')
const { Script, constants } = require('node:vm')

const program = new Script(getAsset('program.js', 'utf8'), {
  filename: process.execPath,
  cachedData: new Uint8Array(getAsset('program.cache')),
}).runInThisContext()

program(createRequire(process.execPath), importModule)

/** `import()` as in a file at the place of the executable. Its own script has no files to import. */
function importModule(specifier) {
  const { emitWarning } = process
  // Node.js warns that the loader is experimental.
  process.emitWarning = () => {}
  try {
    const options = { filename: process.execPath, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER }
    return new Script('(specifier) => import(specifier)', options).runInThisContext()(specifier)
  } finally {
    process.emitWarning = emitWarning
  }
}
