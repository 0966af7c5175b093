/** What `dnscontrol get-zones --format=zone` writes: zone files one after another, and comments for what a zone file cannot hold. */
import { type DomainName, isAtOrBelow, parseDomainName } from '../../dns/domain-name.ts'

/** The zone file of one zone within the text of several. */
export interface ZonePart {
  readonly text: string
  /** Lines of the whole before it. */
  readonly linesBefore: number
}

const ORIGIN = /^\$ORIGIN[ \t]+([^\s;]+\.)[ \t]*(?:;.*)?$/

/**
 * Cuts the text apart where a zone begins: at an `$ORIGIN` that leads out of the zone so far, and at one below it that stands as
 * `get-zones` begins a zone, after a blank line and before a `$TTL`. Any other only says where names of the same zone end.
 */
export function zoneParts(text: string): ZonePart[] {
  const lines = text.split('\n')
  const parts: ZonePart[] = []
  let from = 0
  let zone: DomainName | null = null
  for (const [i, line] of lines.entries()) {
    const origin = parseDomainName(ORIGIN.exec(line.trimEnd())?.[1] ?? '')
    if (!origin.ok) continue
    const isHead = lines[i - 1]?.trim() === '' && /^\$TTL\s/.test(lines[i + 1] ?? '')
    if (zone !== null && isAtOrBelow(origin.value, zone) && !isHead) continue
    if (zone !== null) {
      parts.push({ text: lines.slice(from, i).join('\n'), linesBefore: from })
      from = i
    }
    zone = origin.value
  }
  return [...parts, { text: lines.slice(from).join('\n'), linesBefore: from }]
}

/** What a comment says of a record. */
export interface CommentedItem {
  readonly line: number
  readonly type: string | null
  readonly what: string
}

/** A record of a type that zone files do not have, behind a semicolon; TTL and name may be left out. */
const PSEUDO_RECORD = /^;(?:\S+)?\s+(?:\d+\s+)?IN\s+([A-Z][A-Z0-9_]*)\s+(\S.*)$/s

/** What Cloudflare knows of a record besides. */
const MARK = /\s;((?: (?:CF_PROXY_ON|CF_CNAME_FLATTEN_ON|CF_COMMENT="(?:[^"\\]|\\.)*"|CF_TAGS=[^\s"]+))+)$/

/** Items that DNSControl puts in comments of a zone file. */
export function commentedItems(text: string): CommentedItem[] {
  return text.split('\n').flatMap((given, i): CommentedItem[] => {
    const line = given.trimEnd()
    const [, type, target = ''] = PSEUDO_RECORD.exec(line) ?? []
    if (type !== undefined) {
      return [{ line: i + 1, type, what: `a record of DNSControl's type ${type}, which leads to ${JSON.stringify(target.slice(0, 60))}` }]
    }
    const [, marks] = MARK.exec(line) ?? []
    return marks === undefined ? [] : [{ line: i + 1, type: null, what: marks.trim().slice(0, 120) }]
  })
}
