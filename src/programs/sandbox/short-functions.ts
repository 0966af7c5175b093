/**
 * Moves long lists of calls into functions. QuickJS finds the line of a call by walking through the function that it is in, so the places of n calls in one function
 * cost n² steps. `[A(1), A(2), …]` becomes `[...(()=>[A(1), …])(), ...(()=>[A(65), …])(), …]`, and statements become `;(()=>{A(1); …})();`. Lines do not change.
 */

/** Text that was put into a program. */
export interface Insert {
  /** The offset in the text of the program. */
  readonly offset: number
  /** The first and the last call of the function that ends here; if one begins here, its first call. */
  readonly first: number
  readonly last: number
  readonly text: string
}

/** Calls of one function, and the characters of a text below which nothing is gained. */
const GROUP = 64
const SMALL = 2 ** 13

/** Comments, quotes, templates, regular expressions (after what no operand precedes a `/`), names with dots, line ends and all other characters. */
const TOKEN =
  /\/\/.*|\/\*[\s\S]*?\*\/|'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|\/(?<=(?:[(,=:[!&|?{};+\-*%<>~^]|\breturn)\s*\/)(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/|[\w$.]+|\S|\n/g
const KEYWORD =
  /^(?:async|break|case|catch|class|const|continue|default|delete|do|else|export|finally|for|function|if|import|in|instanceof|let|new|of|return|super|switch|throw|try|typeof|var|void|while|with)$/
/** Not allowed in an arrow function, or with another meaning there; and line ends and braces in templates that are not parsed here. */
const UNSUITABLE = /\b(?:await|eval|yield)\b|\r(?!\n)|[\u2028\u2029]|`[^`]*\$\{[^}`]*[`{]/

/** What is between two brackets: items with commas, or statements. An item is a call if it is names and arguments only. */
interface Level {
  readonly kind: 'list' | 'statements' | 'other'
  readonly close: string
  state: 'start' | 'name' | 'call' | 'other'
  start: number
  end: number
  /** Calls one after another: where each starts and ends. */
  run: (readonly [start: number, end: number])[]
}

/** Where to put text into a program; nothing if it has no such list, or cannot be parsed so simply. */
export function shortFunctions(text: string): readonly Insert[] {
  if (text.length < SMALL || UNSUITABLE.test(text)) return []
  const inserts: Insert[] = []
  const newLevel = (kind: Level['kind'], close: string): Level => ({ kind, close, state: 'start', start: 0, end: 0, run: [] })
  const flush = ({ kind, run }: Level): void => {
    const [open, close] = kind === 'list' ? ['...(()=>[', '])(undefined)'] : [';(()=>{', '})(undefined);']
    for (let i = 0; run.length >= 2 * GROUP && i < run.length; i += GROUP) {
      const [first, [last, end]] = [run[i]?.[0] ?? 0, run[Math.min(i + GROUP, run.length) - 1] ?? [0, 0]]
      inserts.push({ offset: first, text: open, first, last: first }, { offset: end, text: close, first, last })
    }
  }
  /** Ends an item: `isLast` if no other can follow it in its run. */
  const endItem = (level: Level, isLast = false): void => {
    if (level.state === 'call') level.run.push([level.start, level.end])
    if (isLast || level.state !== 'call') {
      if (level.kind !== 'other') flush(level)
      level.run = []
    }
    level.state = 'start'
  }
  let level = newLevel('statements', '')
  const above: Level[] = []
  let [last, isNewLine] = ['', false]
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '\n') isNewLine = true
    if (token === '\n' || token.startsWith('//') || token.startsWith('/*')) continue
    const isName = /^[A-Za-z_$]/.test(token)
    // A line ends a statement if the next one begins with a name.
    if (
      isNewLine &&
      isName &&
      level.kind === 'statements' &&
      (level.state === 'call' || last === '}') &&
      !/^(?:in|instanceof)$/.test(token)
    )
      endItem(level)
    isNewLine = false
    if (token === '(' || token === '[' || token === '{') {
      const isOperand = /[\w$)\]}'"`]$|^\.$/.test(last)
      const isCall = token === '(' && /[\w$]$/.test(last) && !KEYWORD.test(last)
      if (!(isCall && level.state === 'name')) level.state = 'other'
      above.push(level)
      if (token === '{') level = newLevel('statements', '}')
      else level = newLevel(isCall || (token === '[' && (!isOperand || last === 'return')) ? 'list' : 'other', token === '(' ? ')' : ']')
    } else if (token === ')' || token === ']' || token === '}') {
      if (token !== level.close) return []
      endItem(level, true)
      level = above.pop() as Level
      if (level.state === 'name') level.state = 'call'
      level.end = index + 1
    } else if ((token === ',' && level.kind === 'list') || (token === ';' && level.kind === 'statements')) {
      if (token === ';') level.end = index + 1
      endItem(level)
    } else if (level.state === 'start' && isName && !KEYWORD.test(token)) {
      level.state = 'name'
      level.start = index
    } else if (!(level.state === 'call' && /^\.[\w$]/.test(token))) level.state = 'other'
    else level.state = 'name'
    last = token
  }
  endItem(level, true)
  return above.length > 0 ? [] : inserts.sort((a, b) => a.offset - b.offset)
}
