import { escapeJson } from '../../report/escape.ts'

/** JSON for a file that people read too: indented, but a list of plain values (a record of the state, the changes one waits for) is one line. */

const INDENT = '  '

export const planFileText = (document: object): string => `${indented(document, '')}\n`

function indented(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return plain(value)
  const inner = indent + INDENT
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object' || item === null)) return `[${value.map(plain).join(', ')}]`
    return `[\n${value.map((item) => inner + indented(item, inner)).join(',\n')}\n${indent}]`
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  if (members.length === 0) return '{}'
  return `{\n${members.map(([key, member]) => `${inner}${plain(key)}: ${indented(member, inner)}`).join(',\n')}\n${indent}}`
}

const plain = (value: unknown): string => escapeJson(JSON.stringify(value) ?? 'null')
