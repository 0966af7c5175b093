/** `zonewright explain`: prints the documentation of a diagnostic. */
import type { Command } from 'commander'
import { DIAGNOSTIC_CODES, isPolicyCode, meaningOfCode } from '../../base/diagnostic-codes.ts'
import { didYouMean } from '../../base/nearest-word.ts'
import { isLint } from '../../dns/suppression.ts'
import { renderExplanation } from '../../report/explanation.ts'
import { paletteOf } from '../../report/palette.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { type CommonOptions, type SetAction, withExamples } from '../command.ts'
import { type CliIo, colorOf, widthOf } from '../io.ts'
import { createOutput } from '../output.ts'
import { packageText } from '../package-folder.ts'

export function configure(command: Command, setAction: SetAction): void {
  withExamples(command, 'explain', 'explain cname-not-alone')
  setAction(command.argument('[code]', 'a code such as cname-not-alone (default: list all)'), explain)
}

/** `zonewright explain [code]`: shows the documentation of a diagnostic, or lists all of them. */
async function explain(io: CliIo, [code]: readonly [string | undefined], options: CommonOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const codes = Object.keys(DIAGNOSTIC_CODES)
  if (code === undefined) {
    const width = Math.max(...codes.map((one) => one.length))
    output.printProse(codes.map((one) => `${one.padEnd(width)}  ${meaningOfCode(one)}\n`).join(''))
    return EXIT.done
  }
  if (!Object.hasOwn(DIAGNOSTIC_CODES, code) && !isPolicyCode(code)) {
    output.error(
      'usage',
      `there is no diagnostic ${JSON.stringify(code)}`,
      didYouMean(code, codes) ?? '"zonewright explain" lists them all',
    )
    return EXIT.failure
  }
  const entry = entryOf(isPolicyCode(code) ? 'policy-NAME' : code) ?? `${code}: ${meaningOfCode(code)}`
  const width = Math.min(widthOf(io.stdout), MAX_WIDTH)
  output.printProse(renderExplanation(entry, width, paletteOf(colorOf(io.stdout, io, options.color))))
  return EXIT.done
}

/** Columns of a text that is easy to read. */
const MAX_WIDTH = 100

/** The page of a lint, or the section of `docs/diagnostics.md` whose heading is the code. */
function entryOf(code: string): string | null {
  if (isLint(code))
    return packageText(`docs/lints/${code}.md`)
      .replace(/^\[.*\]\(.*\n\n/m, '')
      .trim()
  const text = packageText('docs/diagnostics.md')
  // Headings of level one may be comments in an example.
  const section = text.split(/^(?=#{2,3} )/m).find((one) => one.startsWith(`### ${code}\n`))
  return section?.trim() ?? null
}
