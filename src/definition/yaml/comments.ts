import { CST, Lexer } from 'yaml'

/** The comments of a text in the order of the file, without the space around them. */
export function commentsOf(text: string): string[] {
  const comments: string[] = []
  let isScalar = false
  for (const token of new Lexer().lex(text)) {
    // The lexer sets a mark before each scalar that is not quoted: what follows may begin with a number sign.
    if (!isScalar && CST.tokenType(token) === 'comment') comments.push(token.trim())
    isScalar = token === CST.SCALAR
  }
  return comments
}

/**
 * Where comments belong, decided on the concrete syntax before nodes are made of it. The package `yaml` gives every comment at the end
 * of a block to the innermost one, also those that stand further out, and every line below a value that is indented more to that value;
 * and it tells a comment behind `key:` from one on the next line no more. Here a comment on a line of its own stays in the block it is
 * indented as deep as, before the entry it stands above; what stands behind `key:` is kept for the printer.
 */
type Block = CST.BlockMap | CST.BlockSequence
type Item = Block['items'][number]
type Tokens = CST.SourceToken[]

/** Comments by the offset of the key they stand at. Without their number sign. */
export interface KeyComments {
  /** Behind `key:`, with the value, if there is one, below. */
  readonly afterKey: Map<number, string>
  /** Below a key without a value, indented more than it. */
  readonly belowKey: Map<number, string>
  /** The blocks, by their offset, that have a blank line above the comment at their end. */
  readonly blankBeforeEnd: Set<number>
}

/** Puts the comments of a document in their places. The nesting of blocks must be bounded. */
export function attachComments(document: CST.Document): KeyComments {
  const comments: KeyComments = { afterKey: new Map(), belowKey: new Map(), blankBeforeEnd: new Set() }
  const left = document.value ? settle(document.value, -1, comments) : []
  if (left.length > 0) document.end = [...left, ...(document.end ?? [])]
  return comments
}

/** Settles what is in a value; gives the lines at its end that stand further out than it. */
function settle(token: CST.Token, outerIndent: number, comments: KeyComments): Tokens {
  if (token.type === 'block-map' || token.type === 'block-seq') return settleBlock(token, outerIndent, comments)
  if (token.type === 'flow-collection') settleFlow(token)
  if (!('end' in token) || token.end === undefined) return []
  const [own, below] = atFirstLineEnd(token.end)
  token.end = own
  return below
}

/** Comments behind the last comma stay with the value before it, within the brackets. */
function settleFlow({ items }: CST.FlowCollection): void {
  for (const { value } of items) if (value?.type === 'flow-collection') settleFlow(value)
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

function settleBlock(block: Block, outerIndent: number, comments: KeyComments): Tokens {
  const items: Item[] = []
  let left: Tokens = []
  for (const item of block.items) {
    item.start = [...left, ...item.start]
    items.push(item)
    keepBehind(item, comments)
    left = item.value ? settle(item.value, block.indent, comments) : settleEmpty(item, block.indent, comments)
  }
  if (left.length > 0) items.push({ start: left } as Item)
  block.items = items as typeof block.items
  const last = items.at(-1)
  if (last === undefined || !isCommentOnly(last)) return []
  const cut = last.start.findIndex(({ type, indent }) => type === 'comment' && (indent < block.indent || indent <= outerIndent))
  const begin = lastLineEnd(last.start, cut === -1 ? last.start.length : cut)
  left = last.start.slice(begin)
  last.start = last.start.slice(0, begin)
  if (last.start.length === 0) items.pop()
  else if (beginsBlank(last.start)) comments.blankBeforeEnd.add(block.offset)
  return left
}

/** Where the line of the last comment before `index` has ended; the blank lines below it are behind that. */
function lastLineEnd(tokens: Tokens, index: number): number {
  const comment = tokens.findLastIndex(({ type }, at) => at < index && type === 'comment')
  return comment === -1 ? 0 : Math.min(comment + 2, tokens.length)
}

const beginsBlank = (tokens: Tokens): boolean => tokens.find(({ type }) => type !== 'space')?.type === 'newline'

const isCommentOnly = (item: Item): boolean =>
  !item.value && !item.sep && !item.key && item.start.every(({ type }) => type === 'comment' || type === 'space' || type === 'newline')

/** Takes the comments below an entry without a value; gives those that are not indented more than it. */
function settleEmpty({ key, sep }: Item, indent: number, { belowKey }: KeyComments): Tokens {
  if (!key || !sep) return []
  const first = sep.findIndex(({ type }) => type === 'comment')
  if (first === -1) return []
  const cut = sep.findIndex((token) => token.type === 'comment' && token.indent <= indent)
  const left = cut === -1 ? [] : sep.splice(lineStart(sep, cut))
  const own = sep.splice(first).filter(({ type }) => type === 'comment')
  if (own.length > 0) belowKey.set(key.offset, own.map(({ source }) => source.slice(1)).join('\n'))
  return left
}

/** Cuts behind the first line end, where there is a comment after it. */
function atFirstLineEnd(tokens: Tokens): [Tokens, Tokens] {
  const cut = tokens.findIndex(({ type }) => type === 'newline') + 1
  const hasComment = cut > 0 && tokens.some(({ type }, index) => index >= cut && type === 'comment')
  return hasComment ? [tokens.slice(0, cut), tokens.slice(cut)] : [tokens, []]
}

/** Where the blank lines before the line of a token begin. */
function lineStart(tokens: Tokens, index: number): number {
  let begin = index
  while (begin > 0 && tokens[begin - 1]?.type === 'space') begin -= 1
  // The line end of the line above stays with that one.
  while (begin > 1 && tokens[begin - 1]?.type === 'newline' && tokens[begin - 2]?.type === 'newline') begin -= 1
  return begin
}

function keepBehind({ key, sep }: Item, { afterKey }: KeyComments): void {
  if (!key || !sep) return
  const lineEnd = sep.findIndex(({ type }) => type === 'newline')
  const index = sep.findIndex(({ type }) => type === 'comment')
  if (index === -1 || (lineEnd !== -1 && index > lineEnd)) return
  afterKey.set(key.offset, (sep[index] as CST.SourceToken).source.slice(1))
  sep.splice(index, 1)
}
