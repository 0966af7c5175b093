import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { hasErrors } from '../../../src/base/diagnostic.ts'
import { parseDefinition } from '../../../src/definition/parse/parse-definition.ts'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { ResourceRecord } from '../../../src/dns/record.ts'
import { editRrset } from '../../../src/load/edit/edit-rrset.ts'
import { name } from '../../support/records.ts'

const ZONE = name('unit.tests.')
const read = (text: string) => parseDefinition(text, { file: 'zone.yaml', zoneName: ZONE })

const lines = (records: readonly ResourceRecord[]): string[] =>
  records.map(({ name: owner, ttl, type, data }) => `${owner} ${ttl} ${type} ${data}`).sort()

/** Valid files with records from other projects in octoDNS's layout, including unusual ones. */
function foreignFiles(least: number, most: number): { file: string; text: string }[] {
  const folder = fileURLToPath(new URL('../../corpora/octodns/', import.meta.url))
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
    .map((entry) => ({ file: entry.name, text: readFileSync(join(entry.parentPath, entry.name), 'utf8') }))
    .filter(({ text }) => {
      if (text.length < least || text.length > most) return false
      const { zone, layout, diagnostics } = read(text)
      return layout === 'octodns' && !hasErrors(diagnostics) && zone !== null && zone.records.length > 0
    })
}

const edit = (text: string, name: DomainName, added: readonly string[], kept: readonly number[] = []) =>
  editRrset(text, ZONE, 'octodns', { name, type: 'TXT', kept: new Set(kept), added, exists: added.length === 0, removesOwner: false })

describe.each([
  { size: 'small', options: {}, least: 0, most: 1200, edits: 20 },
  { size: 'large', options: { tags: ['long'] }, least: 1200, most: 6000, edits: 30 },
])('$size files of other projects', ({ options, least, most, edits }) => {
  const files = foreignFiles(least, most)

  it('keep every octet if a name is added and removed again', options, () => {
    let edited = 0
    for (const { file, text } of files) {
      const added = edit(text, name(`mmm.${ZONE}`), ['new'])
      expect(added, file).toMatchObject({ ok: true })
      if (!added.ok) continue
      expect(lines(read(added.value).zone?.records ?? []), file).toEqual(
        lines([...(read(text).zone?.records ?? []), { name: `mmm.${ZONE}`, ttl: 3600, type: 'TXT', data: '"new"' } as ResourceRecord]),
      )
      expect(edit(added.value, name(`mmm.${ZONE}`), []), file).toEqual({ ok: true, value: text })
      edited += 1
    }
    expect(edited).toBe(files.length)
    expect(edited).toBeGreaterThan(10)
  })

  it('get one more record if a type is added to a name, or are refused', options, () => {
    let refused = 0
    let done = 0
    for (const { file, text } of files) {
      const records = read(text).zone?.records ?? []
      for (const owner of [...new Set(records.map((record) => record.name))].slice(0, 4)) {
        if (records.some((record) => record.name === owner && record.type === 'TXT')) continue
        const added = edit(text, owner, ['new'])
        if (!added.ok) {
          refused += 1
          continue
        }
        const after = read(added.value).zone?.records ?? []
        expect(after.length, `${file} ${owner}`).toBe(records.length + 1)
        const before = new Set(lines(records))
        expect(
          lines(after).filter((line) => !before.has(line)),
          `${file} ${owner}`,
        ).toEqual([`${owner} 3600 TXT "new"`])
        done += 1
      }
    }
    expect(done).toBeGreaterThan(edits)
    expect(refused).toBeLessThan(done / 10)
  })
})
