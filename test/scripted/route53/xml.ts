/** The XML of the Route 53 API: elements and text, without attributes that matter. */

export interface XmlElement {
  readonly name: string
  readonly children: readonly XmlElement[]
  /** Empty if it has children. */
  readonly text: string
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const unescaped = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (_, hex, decimal, name) =>
    hex === undefined && decimal === undefined
      ? (ENTITIES[name] ?? '')
      : String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
  )

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** The root element of a document; null if it is malformed. */
export function parseXml(text: string): XmlElement | null {
  const stack: { name: string; children: XmlElement[]; text: string }[] = [{ name: '', children: [], text: '' }]
  for (const [, close, name = '', empty, content] of text.matchAll(/<(?:\?[^>]*\?|(\/)?([\w:]+)[^>]*?(\/)?)>|([^<]+)/g)) {
    const top = stack.at(-1)
    if (top === undefined) return null
    if (content !== undefined) top.text += unescaped(content)
    else if (close !== undefined) {
      if (top.name !== name) return null
      stack.pop()
      stack.at(-1)?.children.push({ ...top, text: top.children.length > 0 ? '' : top.text })
    } else if (empty !== undefined) top.children.push({ name, children: [], text: '' })
    else if (name !== '') stack.push({ name, children: [], text: '' })
  }
  const [document] = stack
  return stack.length === 1 && document?.children.length === 1 ? (document.children[0] as XmlElement) : null
}

/** Text, or children with their values; undefined is left out, and a list repeats its element. */
export type XmlContent = string | number | boolean | readonly (readonly [name: string, content: XmlContent | undefined])[]

const printElement = (name: string, content: XmlContent): string =>
  typeof content === 'object'
    ? `<${name}>${content.map(([key, child]) => (child === undefined ? '' : printElement(key, child))).join('')}</${name}>`
    : `<${name}>${escaped(String(content))}</${name}>`

export const printXml = (root: string, content: XmlContent): string =>
  `<?xml version="1.0"?>\n${printElement(root, content).replace('>', ' xmlns="https://route53.amazonaws.com/doc/2013-04-01/">')}`

/** The text of the element at this path; null if there is none. */
export function textAt(element: XmlElement | null, ...path: readonly string[]): string | null {
  return elementAt(element, ...path)?.text ?? null
}

export function elementAt(element: XmlElement | null, ...path: readonly string[]): XmlElement | null {
  let found = element
  for (const name of path) found = found?.children.find((child) => child.name === name) ?? null
  return found
}

/** A document as JSON values, for comparisons: text, or children by name, lists of those that are repeated. */
export function xmlToJson(text: string): unknown {
  const root = parseXml(text)
  return root === null ? text : { [root.name]: contentOf(root) }
}

function contentOf({ children, text }: XmlElement): unknown {
  if (children.length === 0) return text
  const byName = new Map<string, unknown[]>()
  for (const child of children) byName.set(child.name, [...(byName.get(child.name) ?? []), contentOf(child)])
  return Object.fromEntries([...byName].map(([name, values]) => [name, values.length === 1 ? values[0] : values]))
}
