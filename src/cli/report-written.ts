import type { WrittenFiles } from '../definition/files/write-files.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'
import { counted } from '../report/english.ts'
import type { Console } from './console.ts'
import { writeProblem } from './write-problem.ts'

/** Names what was written on standard output, and what was not and why. Says whether everything is as it was to be. */
export function reportWritten(console: Console, outcome: WrittenFiles, shown: (path: string) => string): boolean {
  if (outcome.state === 'written') {
    console.print(outcome.written.map((path) => `${shown(path)}\n`).join(''))
    if (outcome.unchanged.length > 0) console.note(`${counted(outcome.unchanged.length, 'file')} had that text already.`)
    return true
  }
  console.diagnostics(problemsOf(outcome, shown))
  const left = outcome.state === 'failed' ? outcome.left : []
  if (left.length === 0) console.say('Nothing was written.')
  else console.say(`Written, and not to be taken back: ${left.map(shown).join(', ')}.`)
  return false
}

type Failed = Exclude<WrittenFiles, { readonly state: 'written' }>

function problemsOf(outcome: Failed, shown: (path: string) => string): Diagnostic[] {
  if (outcome.state === 'refused') return [outcome.diagnostic]
  if (outcome.state === 'in-the-way') {
    const hint = '--force replaces files that are there'
    return outcome.paths.map((path) => ({ severity: 'error', code: 'file-exists', message: `${shown(path)} is there already`, hint }))
  }
  const path = shown(outcome.path)
  if ((outcome.error as NodeJS.ErrnoException).code !== 'EEXIST') return [writeProblem(outcome.error, path)]
  return [{ severity: 'error', code: 'file-exists', message: `${path} has come into being meanwhile` }]
}
