/** `zonewright completion`: the script that lets a shell complete command lines. */
import type { Command } from 'commander'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { type CommonOptions, oneOf, type SetAction } from '../command.ts'
import { SCRIPTS, SHELLS } from '../completion/scripts.ts'
import type { CliIo } from '../io.ts'

export function configure(command: Command, setAction: SetAction): void {
  command.addArgument(command.createArgument('<shell>', SHELLS.join(', ')).argParser(oneOf(SHELLS))).addHelpText('after', HELP)
  setAction(command, completion)
}

const HELP = `
Put the line of your shell into the file that it reads when it starts:
  ~/.bashrc:                    source <(zonewright completion bash)
  ~/.zshrc, after compinit:     source <(zonewright completion zsh)
  ~/.config/fish/config.fish:   zonewright completion fish | source
  $PROFILE:    zonewright completion powershell | Out-String | Invoke-Expression`

async function completion(io: CliIo, [shell]: readonly [(typeof SHELLS)[number]], _options: CommonOptions): Promise<ExitStatus> {
  io.stdout.write(SCRIPTS[shell])
  return EXIT.done
}
