/** Random edits of random definitions with comments everywhere. The expected records are computed here from the arguments alone. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseDefinition } from '../../src/definition/parse/parse-definition.ts'
import { commentsOf } from '../../src/definition/yaml/comments.ts'
import { cli } from '../support/cli.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'
import { name } from '../support/records.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const OWNERS = ['', '*', 'a', 'a.b', '010', 'null', 'zz']
const TYPES = ['A', 'AAAA', 'TXT', 'MX']
type Row = { readonly owner: string; readonly type: string; readonly data: string }
const lines = (rows: readonly Row[]): string[] => rows.map(({ owner, type, data }) => `${owner} ${type} ${data}`).sort()

function makeScene(random: Random) {
  let count = 100
  const isSettings = random.chance(0.5)
  const comment = (): string => `${random.pick(['# ', '#', '#\t', '## '])}${count++}${random.pick(['', ' x', ' "q', ' a: {b}', ' é'])}`
  const behind = (): string => (random.chance(0.25) ? random.pick([' ', '   ', '\t']) + comment() : '')
  const above = (indent: number): string[] => {
    if (!random.chance(0.25)) return random.chance(0.1) ? [''] : []
    const own = Array.from({ length: 1 + random.below(2) }, () => ' '.repeat(indent) + comment())
    return [...(random.chance(0.3) ? [''] : []), ...own]
  }
  const newData = (type: string): string => {
    const at = count++
    if (type === 'A') return `192.0.${Math.floor(at / 200)}.${at % 200}`
    if (type === 'AAAA') return `2001:db8::${at.toString(16)}`
    return type === 'MX'
      ? `${random.below(30)} m${at}.example.net.`
      : `"t${at}${random.pick(['', ' two', ' #no', ' a: b', " it's", '; {x}'])}"`
  }
  const valueText = ({ type, data }: Row): string => {
    const [preference, exchange] = data.split(' ')
    if (type === 'MX') return `{preference: ${preference},${random.pick([' ', '  '])}exchange: ${exchange}}`
    return type === 'TXT' ? `'${data.slice(1, -1).replaceAll("'", "''")}'` : random.pick([data, `'${data}'`, `"${data}"`])
  }
  const record = (rows: readonly Row[], indent: number): string[] => {
    const pad = ' '.repeat(indent)
    const [first] = rows as [Row]
    if (random.chance(0.4)) {
      const list = `[${random.pick(['', ' '])}${rows.map(valueText).join(random.pick([', ', ',  ']))}]`
      const end = random.chance(0.4)
        ? ['', `${pad}  type: ${first.type},${behind()}`, `${pad}  values: ${list}${random.pick(['', ','])}${behind()}`, `${pad}  }`]
        : null
      return end
        ? [`{${behind()}`, ...end.slice(1, -1), `${end.at(-1)}${behind()}`]
        : [`{type:  ${first.type}, values: ${list}}${behind()}`]
    }
    if (rows.length === 1 && random.chance(0.6))
      return [`type: ${first.type}${behind()}`, ...above(indent), `${pad}value:  ${valueText(first)}${behind()}`]
    const deep = indent + random.pick([0, 2, 4])
    const values = rows.flatMap((row) => [...above(deep), `${' '.repeat(deep)}-${random.pick([' ', '   '])}${valueText(row)}${behind()}`])
    const below = random.chance(0.3) ? [' '.repeat(deep) + comment()] : []
    return [`type:   ${first.type}${behind()}`, ...above(indent), `${pad}values:${behind()}`, ...values, ...below]
  }
  const rows: Row[] = []
  const base = isSettings ? random.pick([2, 4]) : 0
  const text = isSettings ? [comment(), '', `domain: example.com${behind()}`, `records:${behind()}`] : ['---', ...above(0)]
  for (const owner of random.shuffle(OWNERS).slice(0, 2 + random.below(4))) {
    const sets = random
      .shuffle(TYPES)
      .slice(0, 1 + random.below(2))
      .map((type) => Array.from({ length: 1 + random.below(3) }, () => ({ owner, type, data: newData(type) })))
    rows.push(...sets.flat())
    const indent = base + random.pick([2, 4])
    text.push(...above(base), `${' '.repeat(base)}${owner === '' || owner === '*' ? `'${owner}'` : owner}:${behind()}`)
    if (sets.length > 1)
      for (const set of sets)
        text.push(...above(indent), ...record(set, indent + 2).map((line, at) => (at === 0 ? `${' '.repeat(indent)}- ${line}` : line)))
    else text.push(...record(sets[0] ?? [], indent).map((line, at) => (at === 0 ? ' '.repeat(indent) + line : line)))
  }
  text.push(...above(base))
  const end = random.chance(0.2) ? '\r\n' : '\n'
  return { text: text.join(end) + end, rows, newData }
}

function rowsOf(text: string): Row[] {
  const { zone, diagnostics } = parseDefinition(text, { file: 'zone.yaml', zoneName: name('example.com.') })
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  return (zone?.records ?? []).map((one) => ({ owner: one.name.replace(/\.?example\.com\.$/, ''), type: one.type, data: one.data }))
}

/** The lines before and after the entry of an owner. */
function outside(text: string, owner: string): string[] {
  const all = text.split('\n')
  const base = text.includes('domain:') ? (/\n( +)[^ #\n][^\n]*:/.exec(text)?.[1]?.length ?? 0) : 0
  const isKey = (line: string): boolean => line.search(/\S/) === base && /^['\w*.]/.test(line.trim())
  const from = all.findIndex((line) => isKey(line) && new RegExp(`^'?${owner.replaceAll(/[.*]/g, '\\$&')}'?:`).test(line.trim()))
  if (from === -1) return all
  let to = from + 1
  for (let at = to; at < all.length && !isKey(all[at] as string); at += 1) if ((all[at] as string).search(/\S/) > base) to = at + 1
  return [...all.slice(0, from), ...all.slice(to)]
}

it('random edits change only the given records, and keep all other lines and comments', async () => {
  const cwd = temporaryDirectory()
  const path = join(cwd, 'zones/example.com.yaml')
  mkdirSync(join(cwd, 'zones'))
  for (let seed = 0; seed < rounds(80); seed += 1) {
    const random = seededRandom(seed)
    const { newData, ...scene } = makeScene(random)
    let { text, rows } = scene as { text: string; rows: readonly Row[] }
    expect(lines(rowsOf(text)), text).toEqual(lines(rows))
    for (let step = 0; step < 3 && rows.length > 0; step += 1) {
      writeFileSync(path, text)
      const like = random.pick(rows)
      const [owner, type] = [random.chance(0.8) ? like.owner : 'new', random.chance(0.7) ? like.type : random.pick(TYPES)]
      const own = rows.filter((row) => row.owner === owner && row.type === type).map(({ data }) => data)
      const action = random.pick(own.length === 0 ? ['add', 'set'] : ['add', 'set', 'remove'])
      const some = random.shuffle(own).slice(0, random.below(own.length + 1))
      const values = action === 'remove' ? some : [...(action === 'set' ? some : []), newData(type)]
      const wanted =
        action === 'add'
          ? [...own, ...values]
          : action === 'set'
            ? values
            : values.length === 0
              ? []
              : own.filter((data) => !values.includes(data))
      const message = `seed ${seed}: ${action} ${owner} ${type} ${values.join(', ')}\n${text}`
      const result = await cli(['record', action, 'example.com', owner, type, ...values], { cwd })
      const after = readFileSync(path, 'utf8')
      expect(result, message).toMatchObject({ status: 0 })
      rows = [...rows.filter((row) => row.owner !== owner || row.type !== type), ...wanted.map((data) => ({ owner, type, data }))]
      expect(lines(rowsOf(after)), message).toEqual(lines(rows))
      const [old, fresh] = [commentsOf(text), commentsOf(after)]
      expect(new Set(fresh).size, message).toBe(fresh.length)
      expect(old, message).toEqual(expect.arrayContaining(fresh))
      if (own.every((data) => wanted.includes(data))) expect(fresh.toSorted(), message).toEqual(old.toSorted())
      if (rows.some((row) => row.owner === owner)) expect(outside(after, owner), message).toEqual(outside(text, owner))
      text = after
    }
  }
})
