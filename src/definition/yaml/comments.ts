/** Keeps comments next to their subjects in an edited YAML document. */
import { CST, Lexer } from 'yaml'

/** The comments of a text in file order, without surrounding space. */
export function commentsOf(text: string): string[] {
  const comments: string[] = []
  let isScalar = false
  for (const token of new Lexer().lex(text)) {
    // The lexer emits a marker before each unquoted scalar, which may begin with a number sign.
    if (!isScalar && CST.tokenType(token) === 'comment') comments.push(token.trim())
    isScalar = token === CST.SCALAR
  }
  return comments
}

type Block = CST.BlockMap | CST.BlockSequence
type Item = Block['items'][number]
type Tokens = CST.SourceToken[]

/** Comments by the offset of their key, without the number sign. */
export interface KeyComments {
  /** On the line of `key:`, if the value starts below. */
  readonly afterKey: Map<number, string>
  /** Below a key without a value, and indented more. */
  readonly belowKey: Map<number, string>
  /** The offsets of blocks with a blank line above the comment at their end. */
  readonly blankBeforeEnd: Set<number>
}

/**
 * Attaches the comments of a document to the entries they belong to, on the concrete syntax tree before nodes are composed. The package `yaml`
 * attaches every comment at the end of a block to the innermost block, and every more-indented line below a value to that value; it also
 * does not distinguish a comment after `key:` from one on the next line. Here a comment on its own line stays in the block with its
 * indentation, above the entry that follows it, and comments after `key:` are returned for the printer. The nesting must be bounded.
 */
export function attachComments(document: CST.Document): KeyComments {
  const comments: KeyComments = { afterKey: new Map(), belowKey: new Map(), blankBeforeEnd: new Set() }
  const rest = document.value ? attachWithin(document.value, -1, comments) : []
  if (rest.length > 0) document.end = [...rest, ...(document.end ?? [])]
  return comments
}

/** Attaches the comments within a value. Returns the lines at its end that are indented less and so belong further out. */
function attachWithin(token: CST.Token, outerIndent: number, comments: KeyComments): Tokens {
  if (token.type === 'block-map' || token.type === 'block-seq') return attachInBlock(token, outerIndent, comments)
  if (token.type === 'flow-collection') attachInFlow(token)
  if (!('end' in token) || token.end === undefined) return []
  const [own, below] = atFirstLineEnd(token.end)
  token.end = own
  return below
}

/** Attaches comments after the last comma of a flow collection to the last value, so that they stay within the brackets. */
function attachInFlow({ items }: CST.FlowCollection): void {
  for (const { value } of items) if (value?.type === 'flow-collection') attachInFlow(value)
  const [previous, last] = items.slice(-2)
  if (!previous?.value || !last || !('end' in previous.value || isFlowScalar(previous.value)) || last.key || last.sep || last.value) return
  const first = last.start.findIndex(({ type }) => type !== 'comma')
  if (!last.start.some(({ type }) => type === 'comment') || first === -1) return
  const moved = last.start.splice(first)
  const { value } = previous
  Object.assign(value, { end: [...(('end' in value && value.end) || []), ...moved] })
}

const isFlowScalar = ({ type }: CST.Token): boolean =>
  type === 'alias' || type === 'scalar' || type === 'single-quoted-scalar' || type === 'double-quoted-scalar'

function attachInBlock(block: Block, outerIndent: number, comments: KeyComments): Tokens {
  const items: Item[] = []
  let rest: Tokens = []
  for (const item of block.items) {
    item.start = [...rest, ...item.start]
    items.push(item)
    takeAfterKey(item, comments)
    rest = item.value ? attachWithin(item.value, block.indent, comments) : attachToEmpty(item, block.indent, comments)
  }
  if (rest.length > 0) items.push({ start: rest } as Item)
  block.items = items as typeof block.items
  const last = items.at(-1)
  if (last === undefined || !isCommentOnly(last)) return []
  const cut = last.start.findIndex(({ type, indent }) => type === 'comment' && (indent < block.indent || indent <= outerIndent))
  const begin = lastLineEnd(last.start, cut === -1 ? last.start.length : cut)
  rest = last.start.slice(begin)
  last.start = last.start.slice(0, begin)
  if (last.start.length === 0) items.pop()
  else if (beginsBlank(last.start)) comments.blankBeforeEnd.add(block.offset)
  return rest
}

/** The index after the line of the last comment before `index`; blank lines follow it. */
function lastLineEnd(tokens: Tokens, index: number): number {
  const comment = tokens.findLastIndex(({ type }, at) => at < index && type === 'comment')
  return comment === -1 ? 0 : Math.min(comment + 2, tokens.length)
}

const beginsBlank = (tokens: Tokens): boolean => tokens.find(({ type }) => type !== 'space')?.type === 'newline'

const isCommentOnly = (item: Item): boolean =>
  !item.value && !item.sep && !item.key && item.start.every(({ type }) => type === 'comment' || type === 'space' || type === 'newline')

/** Attaches the comments below an entry without a value to it. Returns those that are not indented more. */
function attachToEmpty({ key, sep }: Item, indent: number, { belowKey }: KeyComments): Tokens {
  if (!key || !sep) return []
  const first = sep.findIndex(({ type }) => type === 'comment')
  if (first === -1) return []
  const cut = sep.findIndex((token) => token.type === 'comment' && token.indent <= indent)
  const rest = cut === -1 ? [] : sep.splice(lineStart(sep, cut))
  const own = sep.splice(first).filter(({ type }) => type === 'comment')
  if (own.length > 0) belowKey.set(key.offset, own.map(({ source }) => source.slice(1)).join('\n'))
  return rest
}

/** Splits tokens after the first line end, if a comment follows it. */
function atFirstLineEnd(tokens: Tokens): [Tokens, Tokens] {
  const cut = tokens.findIndex(({ type }) => type === 'newline') + 1
  const hasComment = cut > 0 && tokens.some(({ type }, index) => index >= cut && type === 'comment')
  return hasComment ? [tokens.slice(0, cut), tokens.slice(cut)] : [tokens, []]
}

/** The index at which the blank lines before the line of a token begin. */
function lineStart(tokens: Tokens, index: number): number {
  let begin = index
  while (begin > 0 && tokens[begin - 1]?.type === 'space') begin -= 1
  // The line above keeps its line end.
  while (begin > 1 && tokens[begin - 1]?.type === 'newline' && tokens[begin - 2]?.type === 'newline') begin -= 1
  return begin
}

/** Removes the comment after `key:` from the tokens, and keeps it by key. */
function takeAfterKey({ key, sep }: Item, { afterKey }: KeyComments): void {
  if (!key || !sep) return
  const lineEnd = sep.findIndex(({ type }) => type === 'newline')
  const index = sep.findIndex(({ type }) => type === 'comment')
  if (index === -1 || (lineEnd !== -1 && index > lineEnd)) return
  afterKey.set(key.offset, (sep[index] as CST.SourceToken).source.slice(1))
  sep.splice(index, 1)
}
