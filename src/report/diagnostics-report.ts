/** Renders diagnostics as text or as annotations. */
import { type Diagnostic, formatDiagnostic, oneLine, placeText, relatedAndCalls, type SourcePosition } from '../base/diagnostic.ts'
import { counted } from '../base/english.ts'
import { columnsOf } from '../base/wrap.ts'
import { type GroupOptions, groupDiagnostics } from './group-diagnostics.ts'
import { type Palette, paletteOf } from './palette.ts'
import { diagnosticAnnotation, type FromRoot } from './workflow-command.ts'

export interface DiagnosticsOptions {
  readonly format?: 'text' | 'github'
  readonly color: boolean
  /** The columns of the terminal; absent or null without one. */
  readonly width?: number | null
  /** How to group diagnostics that have one cause. */
  readonly groups?: GroupOptions | undefined
  /** Makes the file names of annotations relative to the repository root; without it they do not change. */
  readonly fromRoot?: FromRoot | undefined
  /** Returns the text of a source file, if available. With this option, source lines and hints follow each diagnostic. */
  readonly frames?: ((file: string) => string | undefined) | undefined
  /** Whether only exceptions of programs have them, whose message alone says little. */
  readonly brief?: boolean | undefined
  /** Whether the calls of a program that led to a diagnostic follow it. */
  readonly calls?: boolean | undefined
}

/** Renders diagnostics sorted by file and position. Each takes one line; with frames, several. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], options: DiagnosticsOptions): string {
  const sorted = groupDiagnostics(diagnostics, options.groups)
  if (options.format === 'github') return sorted.map((diagnostic) => `${diagnosticAnnotation(diagnostic, options.fromRoot)}\n`).join('')
  const palette = paletteOf(options.color)
  const linesOf = sourceLines(options.frames)
  const isFramed = ({ code }: Diagnostic): boolean => options.brief !== true || code === 'program-failed' || code === 'program-limit'
  const textOf = (one: Diagnostic): string[] =>
    diagnosticText(
      options.calls === true ? { ...one, related: relatedAndCalls(one) } : one,
      palette,
      isFramed(one) ? linesOf : null,
      options.width ?? null,
    )
  return sorted.map((one) => `${textOf(one).join('\n')}\n`).join('')
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

function diagnosticText(diagnostic: Diagnostic, palette: Palette, linesOf: SourceLines | null, width: number | null): string[] {
  const { severity, code, at, hint, related = [] } = diagnostic
  const label = `${severity}[${code}]`
  const plain = formatDiagnostic(diagnostic)
  const start = plain.indexOf(label)
  const line = `${plain.slice(0, start)}${palette[severity](label)}${plain.slice(start + label.length)}`
  const places = related.map((other) => `${oneLine(other.message)}: ${placeText(other.at)}`)
  if (linesOf === null) {
    // A log has one line per diagnostic, which includes the hint.
    const more = [...places, ...(hint === undefined ? [] : [oneLine(hint)])]
    return [more.length === 0 ? line : `${line} (${more.join('; ')})`]
  }
  const lines = [line]
  if (at) lines.push(...codeFrame(linesOf(at), at, palette, width))
  for (const other of related) lines.push(`  ${placeText(other.at)}: ${oneLine(other.message)}`)
  if (hint !== undefined) lines.push(`  ${palette.bold('hint:')} ${oneLine(hint)}`)
  return lines
}

/** Returns the line source for frames, which splits each file once; null without frames. */
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

/** Maximum number of columns of a source line if there is no terminal; a longer one is cut around the position. */
const WINDOW = 100

/** The source line of the diagnostic, the lines before and after it, and a caret below the column. Empty if the file has no such line. */
function codeFrame(lines: readonly string[], { line, column }: SourcePosition, palette: Palette, width: number | null): string[] {
  const text = lines[line - 1]
  if (text === undefined) return []
  const last = Math.min(lines.length, line + 1)
  const digits = String(last).length
  const at = Math.min(Math.max(0, column - 1), text.length)
  const window = width === null ? WINDOW : width - digits - '  >  | '.length
  const start = at > window * 0.8 ? at - Math.floor(window / 2) : 0
  const frame: string[] = []
  for (let number = Math.max(1, line - 1); number <= last; number += 1) {
    const here = number === line
    const gutter = `${here ? '>' : ' '} ${String(number).padStart(digits)} |`
    let shown = oneLine((lines[number - 1] ?? '').slice(start, start + window))
    while (columnsOf(shown) > window) shown = [...shown].slice(0, -1).join('')
    frame.push(`  ${here ? gutter : palette.dim(gutter)}${shown === '' ? '' : ` ${shown}`}`)
    // Escaped characters before the column move the caret to the right.
    if (here)
      frame.push(
        `  ${palette.dim(`  ${' '.repeat(digits)} |`)} ${' '.repeat(columnsOf(oneLine(text.slice(start, at))))}${palette.error('^')}`,
      )
  }
  return frame
}
