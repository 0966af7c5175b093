/**
 * The reference of the library, made of its declarations: everything that `zonewright`, `zonewright/testing` and `zonewright/provider` export, and the types
 * that these use. It is also the report of the public types: a test compares it with the page in the repository, so that no type changes unseen.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ENTRIES, writeTypes } from './build.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')

/** The page with all types. */
export const REFERENCE = join(root, 'docs/library/reference.md')

/** The text of the page. */
export async function libraryReference() {
  const folder = mkdtempSync(join(root, '.types-'))
  try {
    await writeTypes(folder)
    return referenceOf(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function referenceOf(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((path) => path.endsWith('.d.ts'))
  const modules = new Map(files.map((path) => [path, readModule(readFileSync(join(folder, path), 'utf8'), dirname(path))]))
  const find = (path, name) => {
    const { declared, imported } = modules.get(path) ?? {}
    if (declared?.has(name)) return { path, name, text: declared.get(name) }
    const from = imported?.get(name)
    return from === undefined ? null : find(from.path, from.name)
  }
  const entries = Object.entries(ENTRIES).map(([title, source]) => {
    const path = source.replace(/^src\/(.*)\.ts$/, '$1.d.ts')
    const found = [...modules.get(path).exported].map((name) => find(path, name))
    found.sort((a, b) => Number(isType(a)) - Number(isType(b)))
    return { title, found }
  })
  const keyOf = ({ path, name }) => `${path} ${name}`
  const all = new Map(entries.flatMap(({ found }) => found.map((one) => [keyOf(one), one])))
  const shown = new Set(all.keys())
  // A map goes on with what is added to it.
  for (const { path, text } of all.values())
    for (const name of withoutComments(text).match(/[A-Za-z_$][\w$]*\b(?!\??:)/g) ?? []) {
      const used = find(path, name)
      if (used !== null && !all.has(keyOf(used))) all.set(keyOf(used), used)
    }
  const others = [...all.values()].filter((one) => !shown.has(keyOf(one)))
  const paths = [...new Set(others.map(({ path }) => path))].sort()
  const own = (wanted) => others.filter(({ path }) => path === wanted).sort((a, b) => (a.name < b.name ? -1 : 1))
  const once = new Set()
  const first = (found) => found.filter((one) => !once.has(keyOf(one)) && once.add(keyOf(one)))
  return `# Functions and types of the library

This page is made of the types of the package: \`npm run update-library-reference\` writes it, and a test fails if a public type is not as it says.

${entries.map(({ title, found }) => `## \`${title}\`\n\n${block(first(found))}`).join('\n\n')}

## Types that these use

They are not exported under a name. Two modules may have a type of the same name.

${paths.map((path) => `### ${path.replace(/\.d\.ts$/, '')}\n\n${block(own(path))}`).join('\n\n')}
`
}

const block = (found) =>
  `\`\`\`ts\n${found.map(({ name, text }) => (name === 'DIAGNOSTIC_CODES' ? text.replace(/: (['"]).*\1;$/gm, ': string;') : text)).join('\n\n')}\n\`\`\``

const isType = ({ text }) => /^(?:interface|type) /.test(withoutComments(text).trim())

const withoutComments = (text) => text.replace(/\/\*\*[\s\S]*?\*\//g, '')

/** The word that begins a statement. A comment at the start of a line may also be in the middle of one, such as before a member of a union. */
const BEGIN = /^(?:export|import|declare|interface|type|class)\b/

/** What a declaration file declares, exports and imports, by name. Each statement begins at the start of a line. */
function readModule(text, folder) {
  const declared = new Map()
  const imported = new Map()
  const exported = new Set()
  const statements = []
  for (const part of text.split(/\n(?=\/\*\*|(?<!\*\/\n)(?:export|import|declare|interface|type|class)\b)/))
    if (statements.length === 0 || BEGIN.test(withoutComments(part).trim())) statements.push(part)
    else statements.push(`${statements.pop()}\n${part}`)
  for (const statement of statements) {
    const code = withoutComments(statement).trim()
    const [, verb, names, path] = /^(import|export)(?: type)? \{([^}]*)\} from '(\.[^']*)\.js'/.exec(code) ?? []
    const list = verb === undefined ? (/^export(?: type)? \{([^}]*)\}/.exec(code)?.[1] ?? '') : names
    for (const one of list.split(',').flatMap((part) => part.trim().replace(/^type /, '') || [])) {
      const [name, as = name] = one.split(' as ')
      if (path !== undefined) imported.set(as, { path: `${relative('.', join(folder, path))}.d.ts`, name })
      if (verb !== 'import') exported.add(as)
    }
    const name = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|function\*?|const) ([\w$]+)/.exec(code)?.[1]
    if (name === undefined) continue
    declared.set(
      name,
      statement
        .trim()
        .replaceAll(/^(?:export declare |export |declare )/gm, '')
        .replaceAll(/^ +(?! )/gm, (space) => ' '.repeat(space.length / 2 + (space.length % 2))),
    )
    if (code.startsWith('export')) exported.add(name)
  }
  return { declared, imported, exported }
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) writeFileSync(REFERENCE, await libraryReference())
