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
