import type { SourcePosition } from '../../dns/diagnostic.ts'

/** Gives the place of an offset in a text. Cheap where offsets come in rising order. */
export type LineIndex = (offset: number) => SourcePosition

export function lineIndex(text: string, file: string): LineIndex {
  let line = 1
  let lineStart = text.charCodeAt(0) === 0xfeff ? 1 : 0
  let lineEnd = text.indexOf('\n')
  const restart = (): void => {
    line = 1
    lineStart = text.charCodeAt(0) === 0xfeff ? 1 : 0
    lineEnd = text.indexOf('\n')
  }
  return (offset) => {
    if (offset < lineStart) restart()
    while (lineEnd !== -1 && lineEnd < offset) {
      line += 1
      lineStart = lineEnd + 1
      lineEnd = text.indexOf('\n', lineStart)
    }
    return { file, line, column: Math.max(1, offset - lineStart + 1) }
  }
}
