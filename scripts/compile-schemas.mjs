/**
 * Compiles every `schemas/*.schema.json` into a validator in `generated/`: `config.schema.json` becomes `config-schema.js`
 * with `config-schema.d.ts` beside it. The modules are plain ESM without imports, so that neither ajv nor the schemas are
 * needed when the program runs. What is up to date by the hash on its first line is left alone; each file appears whole or
 * not at all, so that concurrent runs do no harm.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(fileURLToPath(import.meta.url), '../..')

/** Documents of a program, not of a person: validation ends with the first fault, so that a hostile one cannot make millions of them. */
const FIRST_FAULT = new Set(['plan.schema.json'])

const DECLARATION = `/** One way in which a value does not follow the schema. */
export interface SchemaError {
  /** JSON pointer (RFC 6901) to the value. */
  readonly instancePath: string
  readonly schemaPath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
  /** The key at fault, where the fault is in a key itself. */
  readonly propertyName?: string
  /** The schema that has the keyword. */
  readonly parentSchema?: Readonly<Record<string, unknown>>
}

export interface Validate {
  (data: unknown): boolean
  /** All faults of the value validated last; null where it had none. */
  errors?: readonly SchemaError[] | null
}

export declare const validate: Validate
`

/**
 * Compiles the schemas of one folder into another.
 * @param {{ from?: string, to?: string }} [folders] absolute paths; those of the package by default
 * @returns {Promise<{ written: string[], current: string[] }>} names of the modules
 */
export async function compileSchemas({ from = join(root, 'schemas'), to = join(root, 'generated') } = {}) {
  const sources = readdirSync(from)
    .filter((name) => name.endsWith('.schema.json'))
    .sort()
    .map((name) => ({ name, module: name.replace(/\.schema\.json$/, '-schema.js'), text: readFileSync(join(from, name), 'utf8') }))
  const stamp = `// ${stampOf(sources)}`
  const current = sources.filter(({ module }) => firstLine(join(to, module)) === stamp).map(({ module }) => module)
  const stale = sources.filter(({ module }) => !current.includes(module))
  mkdirSync(to, { recursive: true })
  removeOrphans(to, new Set(sources.map(({ module }) => module)))
  if (stale.length === 0) return { written: [], current }

  const compile = await loadCompiler(sources)
  const written = await Promise.all(
    stale.map(async ({ name, module }) => {
      const code = await compile(name)
      replaceFile(join(to, module.replace(/\.js$/, '.d.ts')), DECLARATION)
      replaceFile(join(to, module), `${stamp}\n${code}`)
      return module
    }),
  )
  return { written, current }
}

/** A hash over all that decides the output. Schemas may refer to one another, so a change of one is a change of all. */
function stampOf(sources) {
  const hash = createHash('sha256')
  hash.update(readFileSync(fileURLToPath(import.meta.url)))
  const { version } = createRequire(import.meta.url)('ajv/package.json')
  hash.update(version)
  for (const { name, text } of sources) hash.update(`\0${name}\0${text}`)
  return hash.digest('hex')
}

/** Loads ajv and esbuild, which takes longer than to find that nothing is to be done. */
async function loadCompiler(sources) {
  const [{ Ajv2020 }, standalone, esbuild] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('ajv/dist/standalone/index.js'),
    import('esbuild'),
  ])
  const options = {
    discriminator: true,
    strict: true,
    // A schema says `required` in one place and `properties` in another, and `type: [string, array]` where both are read.
    strictRequired: false,
    allowUnionTypes: true,
    // Formats are for editors: what they promise is checked by the parsers of the model.
    validateFormats: false,
    // Faults carry the schema they are against, to suggest the keys it has.
    verbose: true,
    code: { source: true, esm: true },
  }
  const allFaults = new Ajv2020({ ...options, allErrors: true })
  const firstFault = new Ajv2020(options)
  const require = createRequire(import.meta.url)
  const ids = new Map()
  for (const ajv of [allFaults, firstFault]) ajv.addMetaSchema(require('ajv/dist/refs/json-schema-draft-07.json'))
  for (const { name, text } of sources) {
    const schema = JSON.parse(text)
    const id = schema.$id ?? name
    ids.set(name, id)
    for (const ajv of [allFaults, firstFault]) ajv.addSchema(schema, id)
  }
  return async (name) => {
    const code = standalone.default.default(FIRST_FAULT.has(name) ? firstFault : allFaults, { validate: ids.get(name) })
    const bundle = await esbuild.build({
      stdin: { contents: code, resolveDir: root, sourcefile: name },
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['main'],
      target: 'node20.19',
      minifyWhitespace: true,
      minifyIdentifiers: true,
      minifySyntax: true,
      write: false,
      logLevel: 'silent',
    })
    return bundle.outputFiles[0].text
  }
}

function removeOrphans(folder, modules) {
  for (const name of readdirSync(folder)) {
    const module = name.replace(/\.d\.ts$/, '.js')
    if (module.endsWith('-schema.js') && !modules.has(module)) rmSync(join(folder, name), { force: true })
  }
}

function replaceFile(path, text) {
  const temporary = join(path, '..', `.${basename(path)}.${process.pid}.tmp`)
  writeFileSync(temporary, text)
  renameSync(temporary, path)
}

function firstLine(path) {
  try {
    return readFileSync(path, 'utf8').split('\n', 1)[0]
  } catch {
    return null
  }
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { written } = await compileSchemas()
  if (written.length > 0) console.error(`generated ${written.join(', ')}`)
}
