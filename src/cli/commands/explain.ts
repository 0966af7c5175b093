import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DIAGNOSTIC_CODES, type DiagnosticCode } from '../../model/diagnostic-codes.ts'
import { nearestWord } from '../../model/nearest-word.ts'
import type { CommonOptions } from '../common-options.ts'
import { createConsole } from '../console.ts'
import { EXIT, type ExitStatus } from '../exit-status.ts'
import type { CliIo } from '../io.ts'
import { packageFolder } from '../package-folder.ts'

/** `zonewright explain [code]`: the entry of the documentation about a diagnostic, or the list of all. */
export async function explain(io: CliIo, [code]: readonly [string | undefined], options: CommonOptions): Promise<ExitStatus> {
  const console = createConsole(io, options)
  const codes = Object.keys(DIAGNOSTIC_CODES) as DiagnosticCode[]
  if (code === undefined) {
    const width = Math.max(...codes.map((one) => one.length))
    console.print(codes.map((one) => `${one.padEnd(width)}  ${DIAGNOSTIC_CODES[one]}\n`).join(''))
    return EXIT.done
  }
  if (!Object.hasOwn(DIAGNOSTIC_CODES, code)) {
    const near = nearestWord(code, codes)
    console.diagnostics([
      {
        severity: 'error',
        code: 'usage',
        message: `there is no diagnostic ${JSON.stringify(code)}`,
        hint: near === null ? undefined : `did you mean ${near}?`,
      },
    ])
    return EXIT.failure
  }
  console.print(`${entryOf(code) ?? `${code}: ${DIAGNOSTIC_CODES[code as DiagnosticCode]}`}\n`)
  return EXIT.done
}

/** The section of `docs/diagnostics.md` whose heading is the code. */
function entryOf(code: string): string | null {
  const text = readFileSync(join(packageFolder(), 'docs/diagnostics.md'), 'utf8')
  const sections = text.split(/^(?=#{1,6} )/m)
  const section = sections.find((one) => /^#{1,6} `?([a-z0-9-]+)`?\s*$/m.exec(one)?.[1] === code)
  return section?.trim() ?? null
}
