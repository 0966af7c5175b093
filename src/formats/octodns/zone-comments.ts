import { CST, Lexer } from 'yaml'
import type { SourcePosition } from '../../model/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../model/domain-name.ts'
import type { ZoneComment } from '../../model/exchange.ts'
import { lineIndex } from '../yaml/line-index.ts'
import type { YamlNode } from '../yaml/yaml-node.ts'

/**
 * The comments of a record map for a zone that is written anew: those that begin their line without an indent belong to the name below, the
 * others to the name they stand at; what is set off from the first name by an empty line or `---` is the head of the file.
 */
export function zoneComments(text: string, root: YamlNode | null, zone: DomainName): ZoneComment[] {
  if (!text.includes('#')) return []
  const lines = text.split('\n')
  const owners = (root?.kind === 'mapping' ? root.entries : []).map(({ key }) => ({ line: key.at.line, name: ownerOf(key.text, zone) }))
  const first = owners[0]?.line ?? Number.POSITIVE_INFINITY
  const isHead = (line: number): boolean =>
    line < first && lines.slice(line, Number.isFinite(first) ? first - 1 : undefined).some((one) => /^\s*(?:---.*)?$/.test(one))
  return commentPlaces(text).map(({ line, column, text: comment }) => {
    const below = owners.find((owner) => owner.line > line)
    const at = owners.findLast((owner) => owner.line <= line)
    const words = comment.replace(/^#\s?/, '')
    const owner = isHead(line) ? undefined : column === 1 ? (below ?? at) : (at ?? below)
    return owner?.name ? { name: owner.name, text: words } : { name: null, text: words, place: 'apart' as const }
  })
}

const ownerOf = (text: string, zone: DomainName): DomainName | null => {
  const name = text === '' ? null : parseDomainName(text, zone)
  return name === null ? zone : name.ok ? name.value : null
}

/** Marks of the lexer's own, which stand for nothing in the text. */
const MARKS: ReadonlySet<string> = new Set([CST.SCALAR, CST.DOCUMENT, CST.FLOW_END])

function commentPlaces(text: string): (SourcePosition & { readonly text: string })[] {
  const places: (SourcePosition & { readonly text: string })[] = []
  const at = lineIndex(text, '')
  let offset = 0
  let isScalar = false
  for (const token of new Lexer().lex(text)) {
    if (!isScalar && CST.tokenType(token) === 'comment') places.push({ ...at(offset), text: token.trim() })
    isScalar = token === CST.SCALAR
    if (!MARKS.has(token)) offset += token.length
  }
  return places
}
