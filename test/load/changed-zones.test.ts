/** Zones that changed since a revision, whose unchanged definitions are mostly not loaded. `since.servers.test.ts` has the cases with git. */
import { relative } from 'node:path'
import { expect, test } from 'vitest'
import type { FullDate } from '../../src/dns/ownership.ts'
import { readOctets } from '../../src/files/read-text.ts'
import type { Revision } from '../../src/git/revision.ts'
import { loadChanged } from '../../src/load/changed-zones.ts'
import { addFiles, configIn, folderWith } from '../definition/files.ts'

type Files = Readonly<Record<string, string | null>>

const zone = (name: string, address: string, more = '') => `domain: ${name}\nrecords:\n  www: {type: A, value: ${address}${more}}\n`

const FILES: Files = {
  'zonewright.yaml': `providers:\n  one: {type: rfc2136, server: 192.0.2.53}\nzones:\n  - {files: 'zones/*', targets: [one]}\n`,
  'zones/a.test.yaml': zone('a.test', '192.0.2.1'),
  'zones/b.test.yaml': zone('b.test', '192.0.2.2'),
  'zones/2.0.192.in-addr.arpa.yaml': 'domain: 2.0.192.in-addr.arpa\nrecords: {}\n',
}
const AUTO = zone('a.test', '192.0.2.1', ', auto_ptr: true')
const pointing = (target: string): string => `domain: a.test\nrecords:\n  www: {type: CNAME, value: ${target}}\n`
const SPF: Files = { 'zones/b.test.yaml': `${zone('b.test', '192.0.2.1')}  "": {type: TXT, value: "v=spf1 include:mail.example ~all"}\n` }
const OTHER: Files = { 'zones/other.yaml': zone('c.test', '192.0.2.3') }
const ALIAS: Files = {
  'zones/b.test.yaml': 'domain: b.test\nrecords:\n  www: {type: CNAME, value: gone.c.test.}\n',
  'zones/c.test.yaml': zone('c.test', '192.0.2.3'),
}
const IGNORED: Files = {
  'zonewright.yaml': `providers:\n  one: {type: rfc2136, server: 192.0.2.53}\nignore: [{code: target-dangling, reason: test}]\n`,
  'zones/b.test.yaml': pointing('gone.c.test.').replace('a.test', 'b.test'),
  'zones/c.test.yaml': zone('c.test', '192.0.2.3'),
}
const TWO: Files = {
  'zonewright.yaml': `providers:\n  one: {type: rfc2136, server: 192.0.2.53}\n  two: {type: rfc2136, server: 192.0.2.54}\ndefaults: {}\n`,
  'zones/a.test.yaml': `targets: [one]\n${zone('a.test', '192.0.2.1')}`,
  'zones/b.test.yaml': `targets: [one]\n${zone('b.test', '192.0.2.1')}`,
  'zones/second.yaml': `targets: [one, two]\n${zone('b.test', '192.0.2.1')}`,
  'zones/2.0.192.in-addr.arpa.yaml': 'targets: [one]\ndomain: 2.0.192.in-addr.arpa\nrecords: {}\n',
}
const SPLIT: Files = {
  'zones/d.test./x.yaml': 'x: {type: A, value: 192.0.2.1}\n',
  'zones/d.test./y.yaml': 'y: {type: A, value: 192.0.2.1}\n',
}
const [A, B] = ['a.test.', 'b.test.']
const REVERSE = '2.0.192.in-addr.arpa.'

/** A revision of a folder. If nothing is the same for sure, everything is read. */
function revisionOf(files: Files, own: string, isSure = true): Revision {
  const folder = folderOf({})
  return {
    commit: '',
    copy: async (wanted = () => true) => {
      addFiles(
        folder,
        Object.fromEntries(Object.entries(files).flatMap(([path, text]) => (text !== null && wanted(path) ? [[path, text]] : []))),
      )
      return folder
    },
    changed: async (paths, visit) => {
      const changed = paths.filter((path) => (readOctets(path)?.toString() ?? null) !== (files[relative(own, path)] ?? ''))
      for (const path of paths) if (isSure && !changed.includes(path)) visit?.(path, readOctets(path) as Buffer)
      return new Set(changed)
    },
  }
}

const folderOf = (files: Files): string =>
  folderWith(Object.fromEntries(Object.entries(files).flatMap(([path, text]) => (text === null ? [] : [[path, text]]))))

test.each<[what: string, before: Files, after: Files, zones: string[], former: string[], isPartial: boolean]>([
  ['nothing', {}, {}, [], [], true],
  ['a record', {}, { 'zones/a.test.yaml': zone('a.test', '192.0.2.9') }, [A], [], true],
  ['a removed definition', {}, { 'zones/b.test.yaml': null }, [], [B], true],
  ['a moved definition', {}, { 'zones/b.test.yaml': null, 'zones/moved.yaml': zone('b.test', '192.0.2.2') }, [B], [], true],
  ['another zone of a file', {}, { 'zones/b.test.yaml': zone('c.test', '192.0.2.2') }, ['c.test.'], [B], true],
  ['a second definition', {}, { 'zones/second.yaml': zone('b.test', '192.0.2.2') }, [B], [], true],
  ['an address with auto_ptr', {}, { 'zones/a.test.yaml': AUTO }, [REVERSE, A], [], false],
  [
    'an address that had auto_ptr',
    { 'zones/a.test.yaml': AUTO },
    { 'zones/a.test.yaml': zone('a.test', '192.0.2.1') },
    [REVERSE, A],
    [],
    false,
  ],
  [
    'a file that was included',
    { 'zones/a.test.yaml': `${zone('a.test', '192.0.2.1')}  mail: !include b.test.yaml\n` },
    { 'zones/a.test.yaml': zone('a.test', '192.0.2.1') },
    [A, B],
    [],
    false,
  ],
  ['an address with an escaped key', {}, { 'zones/a.test.yaml': AUTO.replace('auto_ptr', '"auto\\x5fptr"') }, [REVERSE, A], [], false],
  ['the mail policy of a zone beside others', SPF, { 'zones/a.test.yaml': zone('a.test', '192.0.2.9') }, [A], [], true],
  ['a target in another zone', {}, { 'zones/a.test.yaml': pointing('gone.b.test.') }, [A], [], true],
  ['a target in a zone whose file has another name', OTHER, { 'zones/a.test.yaml': pointing('gone.c.test.') }, [A], [], true],
  [
    'a target that leads to a third zone',
    ALIAS,
    { 'zones/a.test.yaml': `${zone('a.test', '192.0.2.1')}  "": {type: TXT, value: "v=spf1 include:www.b.test ~all"}\n` },
    [A],
    [],
    true,
  ],
  ['a suppression that another zone uses', IGNORED, { 'zones/a.test.yaml': zone('a.test', '192.0.2.9') }, [A], [], true],
  [
    'a suppression without a finding',
    {},
    { 'zones/a.test.yaml': `ignore: [{code: target-dangling, reason: test}]\n${zone('a.test', '192.0.2.9')}` },
    [A],
    [],
    true,
  ],
  ['one of two definitions of a zone', TWO, { 'zones/second.yaml': null }, [], [B], true],
  ['a file of a folder', SPLIT, { 'zones/d.test./x.yaml': null }, ['d.test.'], [], true],
  ['a default', {}, { 'zonewright.yaml': `${FILES['zonewright.yaml']}defaults: {ttl_sec: 2h}\n` }, [REVERSE, A, B], [], false],
])('%s', async (_, before, after, zones, former, isPartial) => {
  const config = await configIn(folderOf({ ...FILES, ...before, ...after }))
  const read = { today: '2026-01-01' as FullDate }
  const { loaded, changed } = await loadChanged(config, revisionOf({ ...FILES, ...before }, config.folder), read)
  expect([...new Set([...changed.zones].map((one) => one.zone.name))]).toEqual(zones)
  expect(changed.former.map(({ name }) => name)).toEqual(former)
  // The same as if everything were read.
  const all = await loadChanged(config, revisionOf({ ...FILES, ...before }, config.folder, false), read)
  expect([...changed.zones]).toEqual([...all.changed.zones])
  expect(changed.former).toEqual(all.changed.former)
  expect(loaded.zones.length < all.loaded.zones.length).toBe(isPartial)
})
