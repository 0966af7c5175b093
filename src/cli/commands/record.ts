import { resolve } from 'node:path'
import type { Config } from '../../definitions/config.ts'
import { displayPath } from '../../definitions/file-path.ts'
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts'
import type { Ttl } from '../../model/ttl.ts'
import { textDiff } from '../../report/text-diff.ts'
import { type EditedDefinition, editDefinition } from '../../sync/edit/edit-definition.ts'
import { type RecordEdit, readRecordEdit } from '../../sync/edit/read-record-edit.ts'
import { writeEdited } from '../../sync/write-files/write-edited.ts'
import type { CommonOptions } from '../common-options.ts'
import { createConsole } from '../console.ts'
import { EXIT, type ExitStatus } from '../exit-status.ts'
import { endedBySignals } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { writeFault } from '../write-fault.ts'
import { configOrDefault } from './validate.ts'

export interface RecordCommandOptions extends CommonOptions {
  readonly ttl?: Ttl
  /** The file to change, where it is not the definition itself. */
  readonly file?: string
  readonly dryRun?: boolean
}

type Words = readonly [zone: string, name: string, type: string, values: string[]]

/**
 * `zonewright record add|set|remove ZONE NAME TYPE [VALUE…]`: changes one RRset in the file that defines it, nothing else in it, and shows the
 * change on standard output. What would come out is validated first; a fault leaves the file as it is.
 */
export const editRecord =
  (action: RecordEdit['action']) =>
  async (io: CliIo, [zone, name, type, values]: Words, options: RecordCommandOptions): Promise<ExitStatus> => {
    const console = createConsole(io, options)
    const edit = readRecordEdit(action, { zone, name, type, values, ttl: options.ttl ?? null })
    if (!edit.ok) {
      console.error('usage', edit.message)
      return EXIT.failure
    }
    const { config, diagnostics: inConfig } = await configOrDefault(io, options.config)
    if (config === null || hasErrors(inConfig)) {
      console.diagnostics(inConfig)
      return EXIT.failure
    }
    const file = options.file === undefined ? null : resolve(io.cwd, options.file)
    const { edited, faults } = await editAndWrite(edit.value, config, { file, write: options.dryRun !== true, io })
    console.diagnostics([...inConfig, ...edited.diagnostics, ...faults])
    if (faults.length > 0) return EXIT.failure
    if (edited.change === null) {
      if (!hasErrors(edited.diagnostics)) {
        console.note('There is nothing to change.')
        return EXIT.done
      }
      console.say('Nothing was changed.')
      return EXIT.failure
    }
    const { path, before, after } = edited.change
    console.print(textDiff(displayPath(path, io.cwd), before, after))
    if (options.dryRun === true) console.note('Nothing was written.')
    return EXIT.done
  }

/** Times an edit is begun anew because somebody else changed the file just then. */
const ATTEMPTS = 20

/** An edit that is written, of the file as it is then; or why it is not. */
async function editAndWrite(
  edit: RecordEdit,
  config: Config,
  { file, write, io }: { readonly file: string | null; readonly write: boolean; readonly io: CliIo },
): Promise<{ readonly edited: EditedDefinition; readonly faults: readonly Diagnostic[] }> {
  for (let attempt = 1; ; attempt += 1) {
    const edited = await editDefinition(edit, config, file)
    const isLast = attempt >= ATTEMPTS
    if (edited.isStale && !isLast) continue
    const { change } = edited
    if (change === null || !write) return { edited, faults: [] }
    try {
      const held = await endedBySignals(() => writeEdited(change.path, change, { command: 'record', now: io.now }))
      return { edited, faults: held === null ? [] : [held] }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ECHANGED' && !isLast) continue
      return { edited, faults: [writeFault(error, displayPath(change.path, io.cwd))] }
    }
  }
}
