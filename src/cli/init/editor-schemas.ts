/** The schemas for editors, and the comment in the first line of a new file that names its schema. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { packageText } from '../package-folder.ts'
import { existingText, type InitFile } from './add-files.ts'

export const EDITOR_SCHEMAS = ['zone', 'config'] as const

export type EditorSchema = (typeof EDITOR_SCHEMAS)[number]

const pathOf = (schema: string): string => `schemas/${schema}.schema.json`

export const schemaText = (schema: string): string => packageText(pathOf(schema))

/** The first line of a new file; `up` is the path from the file to the folder of the config. */
export const schemaComment = (schema: EditorSchema, up = ''): string => `# yaml-language-server: $schema=${up}${pathOf(schema)}\n`

const COMMENT = /^(# yaml-language-server: \$schema=(?:\.\.\/)*)schemas\/(zone|config)\.schema\.json\n/

/** Adds the schemas that new files name. In a folder with the npm package, the files name those of the package instead. */
export function withSchemas(folder: string, files: readonly InitFile[]): readonly InitFile[] {
  const isNew = (file: InitFile): boolean => existingText(folder, file.path) === null
  if (existsSync(resolve(folder, 'node_modules/zonewright')))
    return files.map((file) =>
      isNew(file) ? { ...file, text: file.text.replace(COMMENT, '$1node_modules/zonewright/schemas/$2.schema.json\n') } : file,
    )
  const named = new Set(files.filter(isNew).flatMap(({ text }) => COMMENT.exec(text)?.[2] ?? []))
  return [...files, ...[...named].map((schema) => ({ path: pathOf(schema), text: schemaText(schema) }))]
}
