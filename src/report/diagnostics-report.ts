/** Diagnostics as text and as annotations. */
import { type Diagnostic, formatDiagnostic, oneLine, type SourcePosition } from '../base/diagnostic.ts'
import { counted } from '../base/english.ts'
import { type GroupOptions, groupDiagnostics } from './group-diagnostics.ts'
import { type Palette, paletteOf } from './palette.ts'
import { diagnosticAnnotation, type FromRoot } from './workflow-command.ts'

export interface DiagnosticsOptions {
  readonly format?: 'text' | 'github'
  readonly color: boolean
  /** Which diagnostics to show, and which of them as one. */
  readonly groups?: GroupOptions | undefined
  /** Names a file from the root of the repository, for annotations; file names are unchanged if absent. */
  readonly fromRoot?: FromRoot | undefined
  /** Returns the text of a source file if it is available. If given, each diagnostic is followed by its source lines and its hint. */
  readonly frames?: ((file: string) => string | undefined) | undefined
}

/** Renders diagnostics by file and position: one line each, or several with frames. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], options: DiagnosticsOptions): string {
  const sorted = groupDiagnostics(diagnostics, options.groups)
  if (options.format === 'github') return sorted.map((diagnostic) => `${diagnosticAnnotation(diagnostic, options.fromRoot)}\n`).join('')
  const palette = paletteOf(options.color)
  const linesOf = sourceLines(options.frames)
  return sorted.map((diagnostic) => `${diagnosticText(diagnostic, palette, linesOf).join('\n')}\n`).join('')
}

/** `2 errors, 1 warning`; null if there are none. */
export function countDiagnostics(diagnostics: readonly Diagnostic[]): string | null {
  const severities = ['error', 'warning'] as const
  const counts = severities.map(
    (severity) => [severity, diagnostics.filter((diagnostic) => diagnostic.severity === severity).length] as const,
  )
  const parts = counts.flatMap(([severity, count]) => (count === 0 ? [] : [counted(count, severity)]))
  return parts.length === 0 ? null : parts.join(', ')
}

type SourceLines = (at: SourcePosition) => readonly string[]

function diagnosticText(diagnostic: Diagnostic, palette: Palette, linesOf: SourceLines | null): string[] {
  const { severity, code, at, hint, related = [] } = diagnostic
  const label = `${severity}[${code}]`
  const plain = formatDiagnostic(diagnostic)
  const start = plain.indexOf(label)
  const line = `${plain.slice(0, start)}${palette[severity](label)}${plain.slice(start + label.length)}`
  const places = related.map((other) => oneLine(`${other.message}: ${other.at.file}:${other.at.line}:${other.at.column}`))
  if (linesOf === null) {
    // In a log each diagnostic is one line, with its hint.
    const more = [...places, ...(hint === undefined ? [] : [oneLine(hint)])]
    return [more.length === 0 ? line : `${line} (${more.join('; ')})`]
  }
  const lines = [line]
  if (at) lines.push(...codeFrame(linesOf(at), at, palette))
  for (const other of related) lines.push(`  ${oneLine(`${other.at.file}:${other.at.line}:${other.at.column}: ${other.message}`)}`)
  if (hint !== undefined) lines.push(`  ${palette.bold('hint:')} ${oneLine(hint)}`)
  return lines
}

/** Each file is split into lines once. */
function sourceLines(frames: DiagnosticsOptions['frames']): SourceLines | null {
  if (frames === undefined) return null
  const split = new Map<string, readonly string[]>()
  return ({ file }) => {
    let lines = split.get(file)
    if (lines === undefined) {
      lines = frames(file)?.split(/\r\n|\r|\n/) ?? []
      split.set(file, lines)
    }
    return lines
  }
}

/** Maximum number of columns of a source line; a longer one is cut around the position. */
const WINDOW = 100

/** The line of a position with its neighbours, and a caret below the column. Empty if the file has no such line. */
function codeFrame(lines: readonly string[], { line, column }: SourcePosition, palette: Palette): string[] {
  const text = lines[line - 1]
  if (text === undefined) return []
  const last = Math.min(lines.length, line + 1)
  const digits = String(last).length
  const at = Math.min(Math.max(0, column - 1), text.length)
  const start = at > WINDOW - 20 ? at - Math.floor(WINDOW / 2) : 0
  const frame: string[] = []
  for (let number = Math.max(1, line - 1); number <= last; number += 1) {
    const here = number === line
    const gutter = `${here ? '>' : ' '} ${String(number).padStart(digits)} |`
    const shown = oneLine((lines[number - 1] ?? '').slice(start, start + WINDOW))
    frame.push(`  ${here ? gutter : palette.dim(gutter)}${shown === '' ? '' : ` ${shown}`}`)
    // Escaped characters before the column move the caret to the right.
    if (here)
      frame.push(`  ${palette.dim(`  ${' '.repeat(digits)} |`)} ${' '.repeat(oneLine(text.slice(start, at)).length)}${palette.error('^')}`)
  }
  return frame
}
