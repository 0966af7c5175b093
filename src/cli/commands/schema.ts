/** `zonewright schema`: the JSON Schema that editors check files with. */
import type { Command } from 'commander'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { type CommonOptions, oneOf, type SetAction, withExamples } from '../command.ts'
import { EDITOR_SCHEMAS, type EditorSchema, schemaText } from '../init/editor-schemas.ts'
import type { CliIo } from '../io.ts'

export function configure(command: Command, setAction: SetAction): void {
  command.addArgument(command.createArgument('<document>', 'zone or config').argParser(oneOf(EDITOR_SCHEMAS))).addHelpText('after', HELP)
  withExamples(command, 'schema zone > schemas/zone.schema.json', 'schema config > schemas/config.schema.json')
  setAction(command, schema)
}

const HELP = `
An editor with a YAML language server, such as VS Code with the extension YAML
of Red Hat, checks a file and completes its keys if the first line names the
schema, relative to the file:
  # yaml-language-server: $schema=../schemas/zone.schema.json
Repeat the commands below after an update. If the folder has the npm package,
the schemas are in node_modules/zonewright/schemas and need no copy.`

async function schema(io: CliIo, [document]: readonly [EditorSchema], _options: CommonOptions): Promise<ExitStatus> {
  io.stdout.write(schemaText(document))
  return EXIT.done
}
