/** Tag lists `tag=value; tag=value`, which DKIM keys and DMARC records share (RFC 6376 section 3.2). */
import { quoted } from '../../dns/excerpt.ts'

export interface TagList {
  /** In the order of the text, without white space around the values. */
  readonly tags: ReadonlyMap<string, string>
  /** Why the text is no tag list; null if it is one. */
  readonly problem: string | null
}

export function parseTagList(text: string): TagList {
  const tags = new Map<string, string>()
  const parts = text.split(';')
  // One final semicolon is allowed.
  if ((parts.at(-1) ?? '').trim() === '') parts.pop()
  for (const part of parts) {
    const equals = part.indexOf('=')
    const name = part.slice(0, Math.max(equals, 0)).trim()
    if (part.trim() === '') return { tags, problem: 'it has two semicolons with nothing between them' }
    if (equals === -1) return { tags, problem: `${quoted(part.trim())} is not TAG=VALUE` }
    if (!/^[A-Za-z][A-Za-z0-9_]{0,62}$/.test(name)) return { tags, problem: `${quoted(name)} is not a name of a tag` }
    if (tags.has(name)) return { tags, problem: `it has the tag ${name} twice` }
    tags.set(name, part.slice(equals + 1).trim())
  }
  return { tags, problem: null }
}
