/** docs/images/plan.svg: the coloured output of a plan as a picture, for light and dark backgrounds. */
import { stripVTControlCharacters } from 'node:util'

const WIDTH_OF_CHARACTER = 8
const HEIGHT_OF_LINE = 20
const MARGIN = 18

/** SGR parameters of reports, and the class of their text. */
const CLASSES: Readonly<Record<string, string>> = {
  1: 'bold',
  2: 'dim',
  31: 'red',
  32: 'green',
  35: 'magenta',
  '1;31': 'red bold',
  '1;35': 'magenta bold',
}

/** What ends a style. */
const RESET: ReadonlySet<string> = new Set(['', '22', '39', '22;39'])

const STYLE = `
  rect { fill: #ffffff; stroke: #d0d7de }
  text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; fill: #1f2328; white-space: pre }
  .bold { font-weight: bold } .dim { fill: #59636e } .red { fill: #c1121f } .green { fill: #116329 } .magenta { fill: #8250df }
  @media (prefers-color-scheme: dark) {
    rect { fill: #0d1117; stroke: #3d444d }
    text { fill: #e6edf3 }
    .dim { fill: #9198a1 } .red { fill: #ff7b72 } .green { fill: #56d364 } .magenta { fill: #d2a8ff }
  }
`

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** A piece of text, and the SGR parameters before it. */
type Piece = readonly [parameters: string, text: string]

/** The pieces of a line that has escape sequences (ECMA-48 section 8.3.117). */
function piecesOf(line: string): Piece[] {
  const [first = '', ...others] = line.split('\u001b[')
  return [['', first], ...others.map((part): Piece => [part.slice(0, part.indexOf('m')), part.slice(part.indexOf('m') + 1)])]
}

/** Throws if the line has a style that the picture does not know. */
const spansOf = (line: string): string =>
  piecesOf(line)
    .filter(([, text]) => text !== '')
    .map(([parameters, text]) => {
      if (RESET.has(parameters)) return escaped(text)
      const style = CLASSES[parameters]
      if (style === undefined) throw new Error(`the picture of a plan has no style for ${JSON.stringify(parameters)}`)
      return `<tspan class="${style}">${escaped(text)}</tspan>`
    })
    .join('')

/** A terminal with a command and its output. */
export function planPicture(command: string, output: string): string {
  const lines = [`\u001b[2m$\u001b[22m ${command}`, ...output.trimEnd().split('\n')]
  const longest = Math.max(...lines.map((line) => stripVTControlCharacters(line).length))
  const [width, height] = [longest * WIDTH_OF_CHARACTER + 2 * MARGIN, lines.length * HEIGHT_OF_LINE + 2 * MARGIN]
  const texts = lines.map(
    (line, index) => `<text x="${MARGIN}" y="${MARGIN + (index + 0.75) * HEIGHT_OF_LINE}" xml:space="preserve">${spansOf(line)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(command)}">
<style>${STYLE}</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${texts.join('\n')}
</svg>
`
}
