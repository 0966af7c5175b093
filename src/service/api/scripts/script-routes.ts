/** The operations on provisioning scripts. `<UDF>` tags in a script define values that the owner of an instance gives. */
import SCRIPT from '../../../../schemas/service/script.json' with { type: 'json' }
import SCRIPT_CREATE from '../../../../schemas/service/script-create.json' with { type: 'json' }
import SCRIPT_UPDATE from '../../../../schemas/service/script-update.json' with { type: 'json' }
import type { Connection } from '../../store/database.ts'
import type { Viewer } from '../../store/grant-store.ts'
import { findImage, type SharedImages } from '../../store/image-store.ts'
import {
  ANY_IMAGE,
  deleteScript,
  findScript,
  insertScript,
  listScripts,
  lockScriptRow,
  SCRIPT_FILTER_FIELDS,
  type ScriptContent,
  type StoredScript,
  updateScript,
} from '../../store/script-store.ts'
import type { Actor } from '../authenticate.ts'
import { checkQuota } from '../check-quota.ts'
import { forbidden, grantToCreator } from '../grants.ts'
import { badRequest, collectProblems, orNotFound, type RequestError, type RequestProblem } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Route } from '../route.ts'

/** A value that the owner of an instance gives to its script, as an environment variable. */
interface UserDefinedField {
  readonly name: string
  /** The question to the owner. */
  readonly label: string
  readonly example?: string
  /** The allowed values, separated by commas; exactly one may be given. */
  readonly oneOf?: string
  /** The allowed values, separated by commas; any number of them may be given. */
  readonly manyOf?: string
  /** The value if none is given; a field without a default is required. */
  readonly default?: string
}

/** Maximum number of fields of a script, and maximum length in characters of a name and of any other attribute. */
const MAX_FIELDS = 100
const MAX_NAME = 64
const MAX_VALUE = 1000

/** The attributes of a tag in lower case, with their keys here. */
const ATTRIBUTES: ReadonlyMap<string, keyof UserDefinedField> = new Map([
  ['name', 'name'],
  ['label', 'label'],
  ['example', 'example'],
  ['oneof', 'oneOf'],
  ['manyof', 'manyOf'],
  ['default', 'default'],
])

/**
 * Parses the `<UDF name="…" label="…" />` tags of a script, in their order. Tags count anywhere in the text, comments included, if they end on the
 * same line. Throws 400 for an invalid tag; stored scripts have none.
 */
export function parseUserDefinedFields(script: string): readonly UserDefinedField[] {
  const fields: UserDefinedField[] = []
  for (const [, text = ''] of script.matchAll(TAG)) {
    const field = readField(text)
    if (typeof field === 'string') throw refuse(field)
    if (fields.some(({ name }) => name === field.name)) throw refuse(`the field ${field.name} is defined twice`)
    if (fields.length === MAX_FIELDS) throw refuse(`there are more than ${MAX_FIELDS} fields`)
    fields.push(field)
  }
  return fields
}

/** Matches a tag. Each character can match in one way only, so matching takes linear time. */
const TAG = /<udf((?:[ \t]+[a-z]+=(?:"[^"\r\n]*"|'[^'\r\n]*'))+)[ \t]*\/?>/gi
const ATTRIBUTE = /([a-z]+)=(?:"([^"]*)"|'([^']*)')/gi

function readField(text: string): UserDefinedField | string {
  const values = new Map<keyof UserDefinedField, string>()
  for (const [, attribute = '', double, single] of text.matchAll(ATTRIBUTE)) {
    const key = ATTRIBUTES.get(attribute.toLowerCase())
    // Other attributes concern only the forms of clients.
    if (key === undefined) continue
    if (values.has(key)) return `a field has the attribute ${attribute} twice`
    values.set(key, double ?? single ?? '')
  }
  const { name = '', label = '', ...rest }: Partial<UserDefinedField> = Object.fromEntries(values)
  if (name.length > MAX_NAME || !/^[a-z_][a-z0-9_]*$/i.test(name))
    return `the name of a field must have 1 to ${MAX_NAME} letters, digits and underscores, and not begin with a digit`
  if (label === '') return `the field ${name} has no label`
  if ([label, ...Object.values(rest)].some(({ length }) => length > MAX_VALUE))
    return `the field ${name} has a value of more than ${MAX_VALUE} characters`
  if (rest.oneOf !== undefined && rest.manyOf !== undefined) return `the field ${name} has both oneOf and manyOf`
  return { name, label, ...rest }
}

const refuse = (problem: string): RequestError => badRequest({ field: 'script', reason: `A UDF tag is not valid: ${problem}` })

/** Maximum length of the values for a script's fields in characters, as JSON (API, Instance create body). */
const MAX_SCRIPT_DATA = 65_535

export function scriptDataProblem(data: Readonly<Record<string, unknown>>): RequestProblem | null {
  let text: string
  try {
    text = JSON.stringify(data)
  } catch {
    // Nested deeper than the stack allows.
    return { field: 'script_data', reason: 'script_data is not valid' }
  }
  if ([...text].length <= MAX_SCRIPT_DATA && !UNPAIRED_SURROGATE.test(text)) return null
  return { field: 'script_data', reason: `Length must be 0-${MAX_SCRIPT_DATA} characters` }
}

/** Unpaired surrogates. */
const UNPAIRED_SURROGATE = /[\ud800-\udfff]/u

/**
 * Checks the values for a script's fields: fields without a default are required, and values must be allowed ones. Values without a field are
 * ignored.
 */
export function fieldValueProblems(
  fields: readonly UserDefinedField[],
  data: Readonly<Record<string, unknown>>,
): readonly RequestProblem[] {
  return fields.flatMap((field): readonly RequestProblem[] => {
    const at = `script_data.${field.name}`
    const value = Object.hasOwn(data, field.name) ? data[field.name] : undefined
    if (value === undefined || value === null) return field.default === undefined ? [{ field: at, reason: `${at} is required` }] : []
    if (typeof value !== 'string') return [{ field: at, reason: `${at} must be a string` }]
    if (field.oneOf !== undefined && !choices(field.oneOf).includes(value)) return [oneOf(at, field.oneOf)]
    const allowed = field.manyOf === undefined ? null : choices(field.manyOf)
    if (allowed && value !== '' && !choices(value).every((choice) => allowed.includes(choice))) return [oneOf(at, field.manyOf as string)]
    return []
  })
}

const choices = (text: string): readonly string[] => text.split(',').map((choice) => choice.trim())

const oneOf = (field: string, allowed: string): RequestProblem => ({ field, reason: `${field} allows only: ${allowed}` })

/** The body of a script request that its schema has accepted. */
type ScriptBody = Partial<ScriptContent>

const DEFAULTS = { description: '', is_public: false, rev_note: '' } as const

/** Returns the script that a create asks for. Throws 400 with every error. The schema requires the fields with defaults here. */
const scriptToCreate = (
  connection: Connection,
  viewer: Viewer,
  { label = '', images = [], script = '', ...body }: ScriptBody,
  shared: SharedImages,
): Promise<ScriptContent> => validateScript(connection, viewer, { ...DEFAULTS, label, images, script, ...settingsOf(body) }, images, shared)

/** Returns the existing script with the changes of an update. Throws 400: alone if a public script would become private, otherwise with every error. */
async function scriptToUpdate(
  connection: Connection,
  viewer: Viewer,
  existing: ScriptContent,
  body: ScriptBody,
  shared: SharedImages,
): Promise<ScriptContent> {
  if (existing.is_public && body.is_public === false) {
    throw badRequest({ field: 'is_public', reason: 'A public script cannot be made private again.' })
  }
  const { label, description, images, is_public, rev_note, script } = existing
  // Only added images must exist: clients may send back ids of images that have been deleted.
  const added = (body.images ?? []).filter((image) => !images.includes(image))
  return validateScript(connection, viewer, { label, description, images, is_public, rev_note, script, ...settingsOf(body) }, added, shared)
}

/** The settings of a body, without undefined and ignored fields. */
function settingsOf(body: ScriptBody): ScriptBody {
  const { label, description, images, is_public, rev_note, script } = body
  const given = { label, description, images, is_public, rev_note, script }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** Returns the content with distinct images. Throws 400 with every error. Of the images, only `addedImages` must exist. */
async function validateScript(
  connection: Connection,
  viewer: Viewer,
  content: ScriptContent,
  addedImages: readonly string[],
  shared: SharedImages,
): Promise<ScriptContent> {
  const problems: RequestProblem[] = [...collectProblems(() => parseUserDefinedFields(content.script))]
  for (const image of new Set(addedImages)) {
    if (image === ANY_IMAGE || shared.has(image) || (await findImage(connection, viewer.accountId, image)) !== null) continue
    problems.push({ field: 'images', reason: `${image.slice(0, 100)} is not an image` })
  }
  if (problems.length > 0) throw badRequest(...problems)
  return { ...content, images: [...new Set(content.images)] }
}

const SCRIPTS = resource({
  path: '/compute/scripts',
  parameter: 'scriptId',
  family: 'scripts',
  object: { kind: 'script', parameter: 'scriptId' },
  schema: SCRIPT,
  filter: SCRIPT_FILTER_FIELDS,
  view: (script: StoredScript) => ({
    ...script,
    // Fields of the API that nothing here sets.
    ordinal: 0,
    logo_url: '',
    user_defined_fields: parseUserDefinedFields(script.script),
  }),
})

/** The Scripts section of the API. */
export const SCRIPT_ROUTES: readonly Route[] = [
  SCRIPTS.openList('List the public scripts and those of the account', (connection, { actor, query }) =>
    listScripts(connection, actor, query),
  ),
  SCRIPTS.create<ScriptBody>(
    'Create a script',
    SCRIPT_CREATE,
    ({ actor, body }, { database, images, quotas, now }) =>
      database.write(async (connection) => {
        await checkQuota(connection, actor, 'scripts', quotas)
        const content = await scriptToCreate(connection, actor, body, images)
        const id = await insertScript(connection, actor, content, now())
        await grantToCreator(connection, actor, 'script', id)
        return orNotFound(await findScript(connection, actor, id))
      }),
    { global: 'add_scripts' },
  ),
  SCRIPTS.get('Read a script', (connection, { actor, ids }) => findScript(connection, actor, ids.scriptId)),
  SCRIPTS.update<ScriptBody>('Update a script', SCRIPT_UPDATE, ({ actor, ids, body }, { database, images, now }) =>
    database.write(async (connection) => {
      const existing = await lockScript(connection, actor, ids.scriptId)
      await updateScript(connection, existing.id, await scriptToUpdate(connection, actor, existing, body, images), now())
      return findScript(connection, actor, existing.id)
    }),
  ),
  SCRIPTS.remove(
    'Delete a private script',
    async (connection, { actor, ids }) => {
      const { id, is_public } = await lockScript(connection, actor, ids.scriptId)
      if (is_public) throw badRequest({ field: null, reason: 'A public script cannot be deleted.' })
      await deleteScript(connection, id)
      return true
    },
    { errors: ['400'] },
  ),
]

/** Locks a script of the account. Throws 403 for a public script of another account. */
async function lockScript(connection: Connection, actor: Actor, id: number): Promise<StoredScript> {
  const isOwn = await lockScriptRow(connection, actor.accountId, id)
  const script = orNotFound(await findScript(connection, actor, id))
  if (!isOwn) throw forbidden()
  return script
}
