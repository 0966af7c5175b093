/**
 * The main script of the single executable. It compiles the bundled scripts, which are assets, with the code caches of the build, and gives them functions that load
 * packages from a `node_modules` beside the executable, and the modules of provider packages. With the word of `programs/sandbox/run-program.ts` it is the child
 * process of the sandbox.
 */
const { createRequire } = require('node:module')
// biome-ignore lint/correctness/noUnresolvedImports: a module of Node.js since 20.12, which Biome does not know
const { getAsset } = require('node:sea')
const { setFlagsFromString } = require('node:v8')
const { Script, constants } = require('node:vm')

const filename = process.execPath

/** What the program imports on demand, by specifier. */
let commands

if (process.argv[2] === '--zonewright-sandbox') {
  for (const flag of process.argv.slice(3)) setFlagsFromString(flag)
  // Emscripten imports a module of Node.js. Node.js warns that this is experimental, on the standard error, which nobody reads.
  const options = { filename, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER }
  new Script(`(require, module) => {${getAsset('sandbox-child.cjs', 'utf8')}\n}`, options).runInThisContext()(createRequire(filename), {
    exports: {},
  })
} else {
  load('program')
}

function load(name) {
  const cachedData = new Uint8Array(getAsset(`${name}.cache`))
  return new Script(getAsset(`${name}.js`, 'utf8'), { filename, cachedData }).runInThisContext()(createRequire(filename), importModule)
}

/** `import()` as in a file at the place of the executable. Its own script has no files to import. */
function importModule(specifier) {
  if (specifier.startsWith('./chunks/')) {
    commands ??= load('commands')
    return commands[specifier]()
  }
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
