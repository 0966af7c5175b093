/**
 * `npm run generate`: composes the derived schemas, and compiles every `schemas/*.schema.json` into a validator in `generated/`: `config.schema.json` becomes `config-schema.js`
 * with `config-schema.d.ts` beside it. The modules are plain ESM without imports, so that neither ajv nor the schemas are
 * needed when the program runs. A module with the current hash in its first line is not rewritten; each file appears completely or
 * not at all, so that concurrent runs are safe.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(fileURLToPath(import.meta.url), '../..')

/** Documents written by programs: validation ends at the first error, so that a hostile document cannot cause millions. */
const FIRST_FAULT = new Set(['plan.schema.json', 'snapshot.schema.json'])

const DECLARATION = `/** One violation of the schema. */
export interface SchemaError {
  /** JSON pointer (RFC 6901) to the value. */
  readonly instancePath: string
  readonly schemaPath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
  /** The invalid key, if the error is about a key. */
  readonly propertyName?: string
  /** The schema that has the keyword. */
  readonly parentSchema?: Readonly<Record<string, unknown>>
}

export interface Validate {
  (data: unknown): boolean
  /** All errors of the value validated last; null if it was valid. */
  errors?: readonly SchemaError[] | null
}

export declare const validate: Validate
`

/** Schemas that the program reads itself (`src/base/json-schema.ts`), since most runs need them: `config-schema-text.js` has the text. Tests compare it with ajv. */
const AS_TEXTS = new Set(['config.schema.json', 'zone.schema.json'])

/**
 * Compiles the schemas of one folder into another.
 * @param {{ from?: string, to?: string }} [folders] absolute paths; by default those of the package
 * @returns {Promise<{ written: string[], current: string[] }>} names of the modules
 */
export async function compileSchemas({ from = join(root, 'schemas'), to = join(root, 'generated') } = {}) {
  const sources = readdirSync(from)
    .filter((name) => name.endsWith('.schema.json'))
    .sort()
    .map((name) => {
      // Of a schema that editors get with further checks, the program has its own form.
      const path = [join(to, name), join(from, name)].find(existsSync)
      return { name, module: name.replace(/\.schema\.json$/, '-schema.js'), text: readFileSync(path, 'utf8') }
    })
  const stamp = `// ${stampOf(sources)}`
  const isCurrent = (module) => firstLine(join(to, module)) === stamp
  const current = sources
    .filter(({ name, module }) => isCurrent(module) && (!AS_TEXTS.has(name) || isCurrent(textModuleOf(module))))
    .map(({ module }) => module)
  const stale = sources.filter(({ module }) => !current.includes(module))
  mkdirSync(to, { recursive: true })
  removeOrphans(to, new Set(sources.map(({ module }) => module)))
  if (stale.length === 0) return { written: [], current }

  const compile = await loadCompiler(sources)
  const written = await Promise.all(
    stale.map(async ({ name, module }) => {
      const code = await compile(name)
      if (AS_TEXTS.has(name)) {
        const { text } = sources.find((one) => one.name === name)
        replaceFile(join(to, textModuleOf(module).replace(/\.js$/, '.d.ts')), 'export declare const text: string\n')
        replaceFile(
          join(to, textModuleOf(module)),
          `${stamp}\nexport const text = ${quotedText(JSON.stringify(withoutAnnotations(text)))}\n`,
        )
      }
      replaceFile(join(to, module.replace(/\.js$/, '.d.ts')), DECLARATION)
      replaceFile(join(to, module), `${stamp}\n${code}`)
      return module
    }),
  )
  return { written, current }
}

const textModuleOf = (module) => module.replace(/\.js$/, '-text.js')

/** In quotes that JSON does not need. */
const quotedText = (json) => `'${json.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** A hash of all inputs. Schemas may refer to each other, so a change of one changes the hash of all. */
function stampOf(sources) {
  const hash = createHash('sha256')
  hash.update(readFileSync(fileURLToPath(import.meta.url)))
  const { version } = createRequire(import.meta.url)('ajv/package.json')
  hash.update(version)
  for (const { name, text } of sources) hash.update(`\0${name}\0${text}`)
  return hash.digest('hex')
}

/** Schemas whose errors have the part that they violate, to suggest its keys. */
const WITH_PARTS = new Set(['config.schema.json', 'policies.schema.json'])

/** Texts for editors, which the errors would hold. */
const isAnnotation = (key, value) =>
  key === 'examples' ? Array.isArray(value) : (key === 'title' || key === 'description') && typeof value === 'string'

const withoutAnnotations = (text) => JSON.parse(text, (key, value) => (isAnnotation(key, value) ? undefined : value))

/** Loads ajv and esbuild only if there is something to do, because that takes time. */
async function loadCompiler(sources) {
  const [{ Ajv }, { Ajv2020 }, next, standalone, esbuild] = await Promise.all([
    import('ajv'),
    import('ajv/dist/2020.js'),
    import('ajv/dist/vocabularies/next.js'),
    import('ajv/dist/standalone/index.js'),
    import('esbuild'),
  ])
  const options = {
    discriminator: true,
    strict: true,
    // A schema has `required` and `properties` in different places, and `type: [string, array]` if both are allowed.
    strictRequired: false,
    // A tuple may have optional items.
    strictTuples: false,
    allowUnionTypes: true,
    // Formats are for editors; the program's parsers check them.
    validateFormats: false,
    // A definition is a function, not a copy at each place that refers to it: every run loads the validators of the config and of zones.
    inlineRefs: false,
    code: { source: true, esm: true },
  }
  const schemas = sources.map(({ name, text }) => ({ name, schema: withoutAnnotations(text) }))
  const isOld = ({ schema }) => schema.$schema?.includes('draft-07') === true
  return async (name) => {
    const own = schemas.find((one) => one.name === name)
    const settings = { ...options, verbose: WITH_PARTS.has(name), allErrors: !FIRST_FAULT.has(name) }
    // The validators of later drafts also note which keys and items were evaluated.
    const ajv = isOld(own) ? new Ajv(settings).addVocabulary(next.default.default) : new Ajv2020(settings)
    for (const one of schemas) if (isOld(one) === isOld(own)) ajv.addSchema(one.schema, one.schema.$id ?? one.name)
    const code = standalone.default.default(ajv, { validate: own.schema.$id ?? name })
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
  await (await import('./compose-schemas.mjs')).composeSchemas()
  await (await import('./bundle-sandbox.mjs')).bundleSandbox()
  await (await import('./definition-types.mjs')).writeDefinitionTypes()
  const { written } = await compileSchemas()
  if (written.length > 0) console.error(`generated ${written.join(', ')}`)
}
