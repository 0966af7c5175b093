/** The `$GENERATE` directive. */
import type { SourcePosition } from '../../base/diagnostic.ts'
import { quoted } from '../../base/text.ts'
import { reportProblem, tokenPosition, tokenText, type ZoneFileScope } from './scope.ts'

/** Maximum number of records, and of characters of lines, that the `$GENERATE` directives of a zone make: as many as a definition can have. */
const MAX_GENERATED = 100_000
const MAX_GENERATED_LENGTH = 10 * 2 ** 20

/** The lines of a `$GENERATE`, one per step, and the position of the directive. */
export interface GeneratedText {
  readonly lines: Iterable<string>
  readonly at: SourcePosition
}

/** `start-stop[/step]` of `$GENERATE`. */
interface Steps {
  readonly start: number
  readonly stop: number
  readonly step: number
}

/**
 * Reads `$GENERATE start-stop[/step] owner [TTL] [class] type data`, an extension of BIND. In owner and data, `$` becomes the number of
 * the step, and `${offset,width,base}` the number plus an offset, padded with zeros, in base `d`, `o`, `x`, `X` or reversed by nibble
 * (`n`, `N`); `\$` and `$$` are a dollar sign. Data of several words can be in quotes. Too many records are an error before any is made.
 */
export function readGenerate(scope: ZoneFileScope): GeneratedText | null {
  const { run, lexer } = scope
  if (lexer.count < 5) {
    reportProblem(run, 'zonefile-directive', '$GENERATE needs START-STOP[/STEP] OWNER TYPE DATA', tokenPosition(scope, lexer.count))
    return null
  }
  const steps = parseSteps(tokenText(lexer, 1))
  if (typeof steps === 'string') {
    reportProblem(run, 'zonefile-directive', `$GENERATE: ${steps}`, tokenPosition(scope, 1))
    return null
  }
  const generated = run.generated + countOf(steps)
  if (generated > MAX_GENERATED) return reportTooMany(scope, `${generated} records`, MAX_GENERATED)
  const parts: TemplatePart[][] = []
  for (let i = 2; i < lexer.count; i += 1) {
    const template = parseTemplate(templateText(scope, i), steps)
    if (typeof template === 'string') {
      reportProblem(run, 'zonefile-directive', `$GENERATE: ${template}`, tokenPosition(scope, i))
      return null
    }
    parts.push(template)
  }
  const generatedLength = run.generatedLength + countOf(steps) * longestLine(steps, parts)
  if (generatedLength > MAX_GENERATED_LENGTH) return reportTooMany(scope, `${generatedLength} characters`, MAX_GENERATED_LENGTH)
  run.generated = generated
  run.generatedLength = generatedLength
  return { lines: expand(steps, parts), at: tokenPosition(scope, 0) }
}

function reportTooMany(scope: ZoneFileScope, amount: string, most: number): null {
  const all = scope.run.generated === 0 ? '' : ', including those above'
  reportProblem(scope.run, 'zonefile-too-large', `$GENERATE makes ${amount}${all}; at most ${most} are allowed`, tokenPosition(scope, 1))
  return null
}

const countOf = ({ start, stop, step }: Steps): number => Math.floor((stop - start) / step) + 1

/** How many records a range makes; 0 if it is invalid. */
export function countGeneratedRecords(range: string): number {
  const steps = parseSteps(range)
  return typeof steps === 'string' ? 0 : countOf(steps)
}

/** An upper bound for the length of a line: a number is longest at an end of the range, or has all nibbles of 32 bits. */
function longestLine({ start, stop }: Steps, templates: readonly TemplatePart[][]): number {
  const longest = (part: TemplatePart): number => {
    if (typeof part === 'string') return part.length
    if (part.base === 'n' || part.base === 'N') return Math.max(part.width, MAX_NIBBLES)
    return Math.max(formatNumber(start, part).length, formatNumber(stop, part).length)
  }
  return templates.flat().reduce((sum, part) => sum + longest(part), templates.length)
}

function* expand({ start, stop, step }: Steps, templates: readonly TemplatePart[][]): Generator<string> {
  for (let number = start; number <= stop; number += step) {
    yield templates
      .map((template) => template.map((part) => (typeof part === 'string' ? part : formatNumber(number, part))).join(''))
      .join(' ')
  }
}

/** The template in a token. Data that is one quoted token is the text of all fields. */
function templateText({ lexer }: ZoneFileScope, index: number): string {
  const text = tokenText(lexer, index)
  if (lexer.quotes[index] === 0) return text
  const isWholeData = index === lexer.count - 1 && lexer.quotes.slice(2, index).every((quote) => quote === 0)
  return isWholeData ? text.replaceAll('\\"', '"') : `"${text}"`
}

/** BIND counts in 32 bits with a sign. */
const MAX_NUMBER = 0x7fffffff

function parseSteps(text: string): Steps | string {
  const match = /^([0-9]{1,10})-([0-9]{1,10})(?:\/([0-9]{1,10}))?$/.exec(text)
  if (!match) return `${quoted(text)} is not START-STOP or START-STOP/STEP`
  const [start, stop, step] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 1)]
  if (start > stop) return `START ${start} is more than STOP ${stop}`
  if (Math.max(stop, step) > MAX_NUMBER) return `${Math.max(stop, step)} is more than ${MAX_NUMBER}`
  return step === 0 ? 'STEP must be at least 1' : { start, stop, step }
}

/** Literal text, or the format of the step's number. */
type TemplatePart = string | NumberForm

interface NumberForm {
  readonly offset: number
  readonly width: number
  readonly base: string
}

const PLAIN_NUMBER: NumberForm = { offset: 0, width: 0, base: 'd' }

function parseTemplate(text: string, steps: Steps): TemplatePart[] | string {
  const parts: TemplatePart[] = []
  let literal = ''
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i] as string
    if (c === '\\') {
      literal += c + (text[i + 1] ?? '')
      i += 1
    } else if (c !== '$') literal += c
    else if (text[i + 1] === '$') {
      literal += '\\$'
      i += 1
    } else {
      if (literal !== '') parts.push(literal)
      literal = ''
      if (text[i + 1] === '{') {
        const end = text.indexOf('}', i)
        const form = end === -1 ? null : parseNumberForm(text.slice(i + 2, end), steps)
        if (form === null)
          return `${JSON.stringify(text.slice(i, i + 40))} is not \${OFFSET[,WIDTH[,BASE]]} with a width up to 127 and numbers up to ${MAX_NUMBER}`
        parts.push(form)
        i = end
      } else parts.push(PLAIN_NUMBER)
    }
  }
  if (literal !== '') parts.push(literal)
  return parts
}

function parseNumberForm(text: string, { stop }: Steps): NumberForm | null {
  const match = /^([-+]?[0-9]{1,10})(?:,([0-9]{1,3})(?:,([doxXnN]))?)?$/.exec(text)
  const [offset, width] = [Number(match?.[1]), Number(match?.[2] ?? 0)]
  const isInRange = width <= 127 && offset >= -MAX_NUMBER && stop + offset <= MAX_NUMBER
  return match && isInRange ? { offset, width, base: match[3] ?? 'd' } : null
}

function formatNumber(step: number, { offset, width, base }: NumberForm): string {
  const number = step + offset
  switch (base) {
    case 'n':
    case 'N':
      return nibbles(number, width, base === 'N')
    case 'o':
      return padded((number >>> 0).toString(8), width)
    case 'x':
      return padded((number >>> 0).toString(16), width)
    case 'X':
      return padded((number >>> 0).toString(16).toUpperCase(), width)
    default:
      return padded(String(number), width)
  }
}

const padded = (text: string, width: number): string =>
  text.startsWith('-') ? `-${text.slice(1).padStart(width - 1, '0')}` : text.padStart(width, '0')

/** Eight digits and seven dots. */
const MAX_NIBBLES = 15

/** Hexadecimal digits as labels, the least significant first, as in `ip6.arpa`. The width includes the dots. */
function nibbles(number: number, width: number, isUpperCase: boolean): string {
  let value = number >>> 0
  let left = width
  let text = ''
  do {
    const digit = (value & 0xf).toString(16)
    text += isUpperCase ? digit.toUpperCase() : digit
    value >>>= 4
    if (left > 0) left -= 1
    if (left > 0 || value !== 0) {
      text += '.'
      if (left > 0) left -= 1
    }
  } while (left > 0 || value !== 0)
  return text
}
