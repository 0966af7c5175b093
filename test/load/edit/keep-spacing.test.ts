import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { formatDefinition } from '../../../src/definition/print/format-definition.ts'
import { readValidTree } from '../../../src/definition/yaml/editable-yaml.ts'
import { isSameTree } from '../../../src/definition/yaml/yaml-node.ts'
import { keepSpacing } from '../../../src/load/edit/keep-spacing.ts'

it.each([
  ['is all that differs', 'a:   {b:  c}  # d\n\n\ne:\n- f\n', 'a: {b: c} # d\n\ne:\n  - f\n', 'a:   {b:  c}  # d\n\n\ne:\n- f\n'],
  ['stays around a new word', 'a:   [b,  c]  # d\n', 'a: [b, c, x] # d\n', 'a:   [b,  c, x]  # d\n'],
  ['of a new line follows the lines above', 'a:\n- b  # c\n- d\n', 'a:\n  - b # c\n  - d\n  - x\n', 'a:\n- b  # c\n- d\n- x\n'],
  ['of a folded text stays', 'a: >-\n  b\n  c\nd:   e\n', 'a: >-\n  b c\nd: x\n', 'a: >-\n  b\n  c\nd: x\n'],
  ['would change the meaning', 'a:\n  b: c\n  d: e\n', 'a:\n  - b: c\n    d: e\n', 'a:\n  - b: c\n    d: e\n'],
  ['inside quotes is not changed', 'a: "\\u00fc"   # "b\n', 'a: "\u00fc" # "b\nx: \'y\'\n', 'a: "\\u00fc"   # "b\nx: \'y\'\n'],
])('%s', (_, original, printed, kept) => expect(keepSpacing(original, printed)).toBe(kept))

const keepsFiles = (least: number, most: number): void => {
  const folder = fileURLToPath(new URL('../../corpora/octodns/', import.meta.url))
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile() && /\.ya?ml$/.test(one.name))
  const comments = (text: string): string[] => [...text.matchAll(/(?<=^|\s)#.*$/gm)].map(([comment]) => comment.trimEnd())
  let [same, all] = [0, 0]
  for (const { parentPath, name } of files) {
    const text = readFileSync(join(parentPath, name), 'utf8')
    const printed = text.length < least || text.length > most ? null : formatDefinition(text)
    if (!printed?.ok || printed.value === text) continue
    const kept = keepSpacing(text, printed.value)
    const [wanted, found] = [readValidTree(printed.value), readValidTree(kept)]
    expect(wanted.ok && found.ok && isSameTree(wanted.value, found.value), name).toBe(true)
    expect(comments(kept), name).toEqual(comments(printed.value))
    all += 1
    if (kept === text) same += 1
  }
  expect(all).toBeGreaterThan(10)
  expect(same).toBeGreaterThan(all / 4)
}
it('of small files from other projects is mostly restored, and nothing else changes', () => keepsFiles(0, 1200))
it('of larger files from other projects is mostly restored too', { tags: ['long'] }, () => keepsFiles(1200, 6000))
