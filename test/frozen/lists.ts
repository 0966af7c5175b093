/** What users depend on, as lists of lines: a line that goes or changes may break them, a new one does not. */

type Schema = Readonly<Record<string, unknown>>

/** Keywords for readers and editors. */
const UNLISTED = ['$schema', '$id', 'title', 'description', 'examples', 'patternErrorMessage', 'discriminator']
/** Keywords whose value is one schema, several by name, or a list of schemas. */
const ONE = ['if', 'then', 'else', 'not', 'items', 'additionalProperties', 'propertyNames']
const NAMED = ['properties', 'definitions', '$defs']
const LISTED = ['allOf', 'anyOf', 'oneOf', 'prefixItems']

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A line per schema in a JSON Schema: its place, whether the key is required, and what it allows. */
export function linesOfSchema(schema: Schema, place = '', required = false): readonly string[] {
  const own: string[] = []
  const below: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (UNLISTED.includes(keyword)) continue
    if (NAMED.includes(keyword)) {
      const needed = keyword === 'properties' && Array.isArray(schema['required']) ? schema['required'] : []
      for (const [name, part] of Object.entries(value as Readonly<Record<string, Schema>>))
        below.push(...linesOfSchema(part, keyword === 'properties' ? `${place}.${name}` : `#${name}`, needed.includes(name)))
    } else if (LISTED.includes(keyword)) {
      for (const [index, part] of (value as readonly Schema[]).entries()) below.push(...linesOfSchema(part, `${place} ${keyword}${index}`))
    } else if (ONE.includes(keyword) && isSchema(value)) {
      below.push(...linesOfSchema(value, keyword === 'items' ? `${place}[]` : `${place} ${keyword}`))
    } else if (keyword === '$ref') own.push(String(value).replace(/^.*\//, '#'))
    else if (keyword !== 'required') own.push(keyword === 'type' ? [value].flat().join('|') : `${keyword}=${JSON.stringify(value)}`)
    else if (!('properties' in schema)) own.push(`needs=${JSON.stringify(value)}`)
  }
  return [`${place || '.'}${required ? '!' : ''}: ${own.sort().join(' ') || 'any'}`, ...below]
}

/** The lines of the declarations in TypeScript text, each with the declaration that it belongs to, without comments. */
export function linesOfTypes(text: string): readonly string[] {
  let owner = ''
  const lines: string[] = []
  for (const line of text.replace(/\/\*\*[\s\S]*?\*\//g, '').split('\n')) {
    const code = line.trim().replace(/[;,]$/, '')
    if (/^\W*$/.test(code)) continue
    const name = /^(?:export )?(?:declare )?(?:abstract )?(?:function|interface|type|class|const) ([\w$]+)/.exec(line)?.[1]
    if (name !== undefined) owner = name
    lines.push(name === undefined ? `${owner}: ${code}` : code.replace(/^export /, '').replace(/^declare /, ''))
  }
  return lines
}

interface Command {
  readonly name: string
  readonly arguments: readonly (readonly string[])[]
  readonly options: readonly (readonly string[])[]
  readonly commands: readonly Command[]
}

/** The commands with their arguments and options, of what `zonewright __manual` prints. */
export function linesOfCommands({ name, arguments: operands = [], options, commands }: Command, path = ''): readonly string[] {
  const full = `${path}${name ?? 'zonewright'}`
  return [
    [full, ...operands.map(([operand]) => operand)].join(' '),
    ...options.map(([flags]) => `${full}: ${flags}`),
    ...commands.flatMap((command) => linesOfCommands(command, `${full} `)),
  ]
}

/**
 * What breaks users: lines of the copy that went or changed. Of a format that Zonewright also reads, a key that is new and required does, too, unless what it
 * belongs to is new itself.
 */
export function breaks(copy: readonly string[], now: readonly string[], isRead: boolean): readonly string[] {
  const before = new Set(copy)
  const after = new Set(now)
  const places = new Set(copy.map((line) => line.replace(/!?: .*/, '')))
  const needed = now.filter((line) => isRead && !before.has(line) && places.has(/^(.*)\.[^.\s]+!: /.exec(line)?.[1] || '.'))
  return [...copy.filter((line) => !after.has(line)), ...needed.filter((line) => /^\S*!: /.test(line))]
}
