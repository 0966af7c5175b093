import type { Connection } from '../../store/database.ts'
import type { Viewer } from '../../store/grant-store.ts'
import { findImage } from '../../store/image-store.ts'
import { ANY_IMAGE, type ScriptContent } from '../../store/script-store.ts'
import { invalid, problemsOf, type RequestProblem } from '../request-error.ts'
import { readUserDefinedFields } from './user-defined-fields.ts'

/** The body of a request about a script, as its schema lets it through. */
export type ScriptBody = Partial<ScriptContent>

const DEFAULTS = { description: '', is_public: false, rev_note: '' } as const

/** The script a create asks for. Throws 400 with every fault. */
export const scriptToCreate = (
  connection: Connection,
  viewer: Viewer,
  { label = '', images = [], script = '', ...body }: ScriptBody,
): Promise<ScriptContent> => checked(connection, viewer, { ...DEFAULTS, label, images, script, ...settingsOf(body) }, images)

/** The existing script with what an update changes of it. Throws 400 with every fault. */
export async function scriptToUpdate(
  connection: Connection,
  viewer: Viewer,
  existing: ScriptContent,
  body: ScriptBody,
): Promise<ScriptContent> {
  if (existing.is_public && body.is_public === false) {
    throw invalid({ field: 'is_public', reason: 'A public script cannot be made private again.' })
  }
  const { label, description, images, is_public, rev_note, script } = existing
  // What was there may be gone since, and can be sent back.
  const added = (body.images ?? []).filter((image) => !images.includes(image))
  return checked(connection, viewer, { label, description, images, is_public, rev_note, script, ...settingsOf(body) }, added)
}

/** What a body decides, without what is ignored in it. */
function settingsOf(body: ScriptBody): ScriptBody {
  const { label, description, images, is_public, rev_note, script } = body
  const given = { label, description, images, is_public, rev_note, script }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

async function checked(connection: Connection, viewer: Viewer, content: ScriptContent, images: readonly string[]): Promise<ScriptContent> {
  const problems: RequestProblem[] = [...problemsOf(() => readUserDefinedFields(content.script))]
  for (const image of new Set(images)) {
    if (image === ANY_IMAGE || (await findImage(connection, viewer.accountId, image)) !== null) continue
    problems.push({ field: 'images', reason: `${image.slice(0, 100)} is no image` })
  }
  if (problems.length > 0) throw invalid(...problems)
  return { ...content, images: [...new Set(content.images)] }
}
