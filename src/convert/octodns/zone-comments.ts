import { CST, Lexer } from 'yaml'
import type { IncludedFile } from '../../definition/parse/parse-options.ts'
import { lineIndex } from '../../definition/yaml/line-index.ts'
import type { YamlNode } from '../../definition/yaml/yaml-node.ts'
import type { SourcePosition } from '../../dns/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import type { ZoneComment } from '../../dns/zone-comment.ts'

/**
 * The comments of a file of a record map for a zone that is written anew: those that begin their line without an indent belong to the name below, the
 * others to the name they stand at; what is set off from the first name by an empty line or `---` is the head of the file. Those of a file that
 * is drawn in (`!include`) and has no names of its own belong to the name that draws it in.
 */
export function zoneComments({ file, text }: IncludedFile, root: YamlNode | null, zone: DomainName): ZoneComment[] {
  if (!text.includes('#')) return []
  const lines = text.split('\n')
  const entries = root?.kind === 'mapping' ? root.entries : []
  const owners = entries
    .filter(({ key }) => key.at.file === file)
    .map(({ key }) => ({ line: key.at.line, name: ownerOf(key.text, zone) }))
    .sort((a, b) => a.line - b.line)
  const drawing = owners.length > 0 ? undefined : entries.find(({ value }) => isDrawnIn(value, file))
  const only = drawing && ownerOf(drawing.key.text, zone)
  const first = owners[0]?.line ?? Number.POSITIVE_INFINITY
  const isHead = (line: number): boolean =>
    line < first && lines.slice(line, Number.isFinite(first) ? first - 1 : undefined).some((one) => /^\s*(?:---.*)?$/.test(one))
  return commentPlaces(text).map(({ line, column, text: comment }) => {
    const below = owners.find((owner) => owner.line > line)
    const at = owners.findLast((owner) => owner.line <= line)
    const words = comment.replace(/^#\s?/, '')
    if (only) return { name: only, text: words }
    const owner = isHead(line) ? undefined : column === 1 ? (below ?? at) : (at ?? below)
    return owner?.name ? { name: owner.name, text: words } : { name: null, text: words, place: 'apart' as const }
  })
}

/** Whether a node or one below it stands in a file. */
function isDrawnIn(node: YamlNode, file: string): boolean {
  if (node.at.file === file) return true
  if (node.kind === 'sequence') return node.items.some((item) => isDrawnIn(item, file))
  return node.kind === 'mapping' && node.entries.some(({ key, value }) => key.at.file === file || isDrawnIn(value, file))
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
