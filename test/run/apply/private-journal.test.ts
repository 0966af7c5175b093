import { chmodSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tightenJournal } from '../../../src/stored/journal/journal-folder.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

const mode = (path: string): number => lstatSync(path).mode & 0o7777

/** A journal with a run and a lock, readable and writable by everyone. */
function openJournal(): string {
  const journal = temporaryDirectory()
  for (const folder of ['runs/20260131T090000-0000/plans', 'locks/a.lock']) mkdirSync(join(journal, folder), { recursive: true })
  for (const file of [
    '.gitignore',
    'runs/20260131T090000-0000/journal.jsonl',
    'runs/20260131T090000-0000/plans/1.json',
    'locks/a.lock/7-ab',
  ])
    writeFileSync(join(journal, file), '')
  for (const entry of everything(journal)) chmodSync(entry, lstatSync(entry).isDirectory() ? 0o777 : 0o666)
  return journal
}

const everything = (folder: string): string[] => [
  folder,
  ...readdirSync(folder, { recursive: true, withFileTypes: true }).map(({ parentPath, name }) => join(parentPath, name)),
]

test('removes the access of other users once', () => {
  const journal = openJournal()
  const changed = tightenJournal(journal)
  expect([...changed].sort()).toEqual(
    everything(journal)
      .filter((path) => !path.endsWith('.gitignore'))
      .sort(),
  )
  for (const path of changed) expect([path, mode(path)]).toEqual([path, lstatSync(path).isDirectory() ? 0o700 : 0o600])
  expect(tightenJournal(journal)).toEqual([])
})

test('keeps the mode of a folder with other files and of link targets', () => {
  const journal = openJournal()
  const elsewhere = join(temporaryDirectory(), 'elsewhere')
  writeFileSync(elsewhere, '')
  chmodSync(elsewhere, 0o644)
  symlinkSync(elsewhere, join(journal, 'runs', 'link'))
  writeFileSync(join(journal, 'zonewright.yaml'), '')
  tightenJournal(journal)
  expect([mode(journal), mode(elsewhere), mode(join(journal, 'runs'))]).toEqual([0o777, 0o644, 0o700])
})

test.each(['none', 'file'])('does nothing without a journal: %s', (name) => {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'file'), '')
  chmodSync(join(folder, 'file'), 0o644)
  expect(tightenJournal(join(folder, name))).toEqual([])
  expect(mode(join(folder, 'file'))).toBe(0o644)
})
