/** What users depend on, as lists of lines, and which difference between two such lists breaks them. */

/** `given`: users write it. `kept`: Zonewright writes it and reads it later. `shown`: users read it. */
export type Use = 'given' | 'kept' | 'shown'

type Schema = Readonly<Record<string, unknown>>

/** Keywords for readers and editors. */
const UNLISTED = ['$schema', '$id', 'title', 'description', 'examples', 'patternErrorMessage', 'discriminator']
/** Keywords whose value is one schema, several by name, or a list of schemas. */
const ONE = ['if', 'then', 'else', 'not', 'items', 'additionalProperties', 'propertyNames']
const NAMED = ['properties', 'definitions', '$defs']
const LISTED = ['allOf', 'anyOf', 'oneOf', 'prefixItems']

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The values of a key for which a part of `allOf` applies, such as those of `type`: unlike its number, they stay if a part is added before it. */
function casesOf({ if: condition, then, ...rest }: Schema): readonly string[] {
  const [[key, value] = ['', {}], ...others] = Object.entries(
    ((condition as Schema)?.['properties'] ?? {}) as Readonly<Record<string, Schema>>,
  )
  const words = value['const'] === undefined ? value['enum'] : [value['const']]
  if (!Array.isArray(words) || !isSchema(then) || others.length > 0 || Object.keys(rest).length > 0) return []
  return words.map((word) => `(${key}=${word})`)
}

/** A line per schema in a JSON Schema: its place, whether the key is required, the types and values that it allows, and its limits. */
export function linesOfSchema(schema: Schema, place = '', required = false): readonly string[] {
  const values: string[] = []
  const limits: string[] = []
  const below: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (UNLISTED.includes(keyword)) continue
    if (NAMED.includes(keyword)) {
      const needed = keyword === 'properties' && Array.isArray(schema['required']) ? schema['required'] : []
      for (const [name, part] of Object.entries(value as Readonly<Record<string, Schema>>))
        below.push(...linesOfSchema(part, keyword === 'properties' ? `${place}.${name}` : `#${name}`, needed.includes(name)))
    } else if (LISTED.includes(keyword)) {
      for (const [index, part] of (value as readonly Schema[]).entries()) {
        const cases = keyword === 'allOf' ? casesOf(part) : []
        for (const one of cases) below.push(...linesOfSchema(part['then'] as Schema, `${place}${one}`))
        if (cases.length === 0) below.push(...linesOfSchema(part, `${place} ${keyword}${index}`))
      }
    } else if (ONE.includes(keyword) && isSchema(value)) {
      below.push(...linesOfSchema(value, keyword === 'items' ? `${place}[]` : `${place} ${keyword}`))
    } else if (keyword === '$ref') values.push(String(value).replace(/^.*\//, '#'))
    else if (keyword === 'type') values.push(...[value].flat().map(String))
    else if (keyword === 'enum') {
      values.push(...(value as readonly unknown[]).map((one) => JSON.stringify(one)))
      limits.push('words')
    } else if (keyword !== 'required') limits.push(`${keyword}=${JSON.stringify(value)}`)
    else if (!('properties' in schema)) limits.push(`needs=${JSON.stringify(value)}`)
  }
  return [`${place || '.'}${required ? '!' : ''}: ${[values.join(' | ') || 'any', ...limits.sort()].join('; ')}`, ...below]
}

/** The lines of the declarations in TypeScript text, each with the declaration and the members that it belongs to, without comments. */
export function linesOfTypes(text: string): readonly string[] {
  const owners: string[] = []
  const lines: string[] = []
  for (const line of text.replace(/\/\*\*[\s\S]*?\*\//g, '').split('\n')) {
    const code = line
      .trim()
      .replace(/[;,]$/, '')
      .replace(/^(?:export |declare )+/, '')
    const depth = (code.match(/[{([]/g)?.length ?? 0) - (code.match(/[})\]]/g)?.length ?? 0)
    if (depth < 0) owners.pop()
    if (!/^\W*$/.test(code)) lines.push(owners.length === 0 ? code : `${owners.join('.')}: ${code}`)
    if (depth > 0)
      owners.push(/^(?:(?:abstract |readonly )*(?:function|interface|type|class|const) |readonly )?([\w$'-]+)/.exec(code)?.[1] ?? '')
  }
  return lines
}

interface Command {
  readonly usage?: string
  readonly options: readonly (readonly [flags: string, text: string, choices?: readonly string[]])[]
  readonly commands: readonly Command[]
}

/** The commands with their arguments, options, the words that these take and their defaults, of what `zonewright __manual` prints. */
export function linesOfCommands({ usage = '', options, commands }: Command): readonly string[] {
  const usages = usage.split('\n').map((line) => `zonewright ${line.replace(/^zonewright /, '')}`)
  const path = String(usages[0]).replace(/ (?:[[<].*)?$/, '')
  const defaultOf = (text: string): string => /\(default: [\w".*-]+\)$/.exec(text)?.[0] ?? ''
  return [
    ...usages.map((line) => line.replace(' [options]', '').trim()),
    ...options.flatMap(([flags, text, choices = []]) => [
      `${path}: ${flags} ${defaultOf(text)}`.trim(),
      ...choices.map((choice) => `${path}: ${flags}: ${choice}`),
    ]),
    ...commands.flatMap(linesOfCommands),
  ]
}

interface Line {
  readonly place: string
  readonly isRequired: boolean
  readonly values: readonly string[]
  readonly limits: string
}

function partsOf(line: string): Line {
  const [, place = line, mark, values = '', limits = ''] = /^(.*?)(!?): ([^;]*)(.*)$/.exec(line) ?? []
  return { place, isRequired: mark === '!', values: values.split(' | '), limits }
}

/** Whether who depends on `before` can live with `now`, a line at the same place. */
function isCompatible(before: Line, now: Line, use: Use): boolean {
  const added = now.values.filter((value) => !before.values.includes(value))
  return (
    now.limits === before.limits &&
    before.values.every((value) => now.values.includes(value)) &&
    // Readers expect new words of a list, but no new types; earlier versions, which may read what is kept, expect neither.
    (use === 'given'
      ? added.length === 0 || !before.values.includes('any')
      : added.every((value) => use === 'shown' && value.startsWith('"') && before.values.some((one) => one.startsWith('"')))) &&
    (now.isRequired === before.isRequired || (use === 'given' ? before.isRequired : use === 'shown' && now.isRequired))
  )
}

/** What breaks users, of the lines of a format: those of the copy that went or changed, and keys that are new and required, unless users only read it. */
export function breaks(copy: readonly string[], now: readonly string[], use: Use): readonly string[] {
  const after = new Map(now.map((line) => [partsOf(line).place, line]))
  const before = new Map(copy.map((line) => [partsOf(line).place, line]))
  const gone = [...before].filter(([place, line]) => {
    const found = after.get(place)
    return found === undefined || (found !== line && !isCompatible(partsOf(line), partsOf(found), use))
  })
  const needed = [...after].filter(
    ([place, line]) =>
      use !== 'shown' && !before.has(place) && partsOf(line).isRequired && before.has(/^(.*)\.[^.\s]+$/.exec(place)?.[1] || '.'),
  )
  return [...gone, ...needed].map(([, line]) => line)
}

/** Types of the library that users make themselves; all others they get. */
const GIVEN =
  /^(?:(?:Common|Contact|Planning|Load|Plan|Apply|Verify|Conformance|InMemory|Memory|Error)Options|ProviderPackage|PackageProvider|PackageZone|PackageRecord|PackageResult|AppliedChange|CallRules)\b/

/** What breaks users, of lines of code: those that went, unless they only got a parameter or argument that may be left out, and new members that users have to write. */
export function breaksOfCode(
  copy: readonly string[],
  now: readonly string[],
  isGiven = (owner: string) => GIVEN.test(owner),
): readonly string[] {
  const left = [...now]
  const take = (wanted: (line: string) => boolean): boolean => left.some(wanted) && left.splice(left.findIndex(wanted), 1).length > 0
  const changed = copy.filter((line) => !take((one) => one === line))
  const owners = new Set(copy.map((line) => /^([\w$.'-]+): /.exec(line)?.[1]))
  const gone = changed.filter((line) => {
    const [, head = line, tail = ''] = /^(.*)(\).*)$/.exec(line) ?? []
    const parameters = (one: string): string => one.slice(head.length, one.length - tail.length)
    const isLonger = (one: string): boolean => one.startsWith(head) && one.endsWith(tail) && /^(?:, )?\w+\?: [^=]*$/.test(parameters(one))
    const name = line.slice(0, Math.max(line.lastIndexOf(': '), line.lastIndexOf(' = ')) + 2)
    const values = (one: string): readonly string[] => one.slice(name.length).split(' | ')
    // Not a function, which may return it.
    const isWider = (one: string): boolean =>
      tail === '' && one.startsWith(name) && values(line).every((value) => values(one).includes(value))
    return !take((one) => (tail !== '' && isLonger(one)) || one.startsWith(`${line} [`) || (isGiven(line) && isWider(one)))
  })
  const needed = left.filter((line) => {
    const [, owner = '', member = ''] = /^([\w$.'-]+): (?:readonly )?([\w$']+[^\w$'])/.exec(line) ?? []
    return owner !== '' && owners.has(owner) && isGiven(owner) && /[:(]$/.test(member)
  })
  return [...gone, ...needed]
}
