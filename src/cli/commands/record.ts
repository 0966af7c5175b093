import { resolve } from 'node:path'
import { displayPath } from '../../definitions/file-path.ts'
import { writeFileAtomically } from '../../definitions/write-file.ts'
import { hasErrors } from '../../model/diagnostic.ts'
import type { Ttl } from '../../model/ttl.ts'
import { textDiff } from '../../report/text-diff.ts'
import { editDefinition } from '../../sync/edit/edit-definition.ts'
import { type RecordEdit, readRecordEdit } from '../../sync/edit/read-record-edit.ts'
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
    const edited = await editDefinition(edit.value, config, file)
    console.diagnostics([...inConfig, ...edited.diagnostics])
    if (edited.change === null) {
      if (!hasErrors(edited.diagnostics)) {
        console.note('There is nothing to change.')
        return EXIT.done
      }
      console.say('Nothing was changed.')
      return EXIT.failure
    }
    const { path, before, after } = edited.change
    const shown = displayPath(path, io.cwd)
    if (options.dryRun !== true) {
      try {
        await endedBySignals(() => writeFileAtomically(path, after, before))
      } catch (error) {
        console.diagnostics([writeFault(error, shown)])
        return EXIT.failure
      }
    }
    console.print(textDiff(shown, before, after))
    if (options.dryRun === true) console.note('Nothing was written.')
    return EXIT.done
  }
