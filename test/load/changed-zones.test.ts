/** Zones that changed since a revision, whose unchanged definitions are mostly not loaded. `since.servers.test.ts` has the cases with git. */
import { expect, test } from 'vitest'
import { changedZones, loadRevision } from '../../src/load/changed-zones.ts'
import { loadDefinitions } from '../../src/load/load-definitions.ts'
import { configIn, folderWith } from '../definition/files.ts'

type Files = Readonly<Record<string, string | null>>

const zone = (name: string, address: string, more = '') => `domain: ${name}\nrecords:\n  www: {type: A, value: ${address}${more}}\n`

const FILES: Files = {
  'zonewright.yaml': `providers:\n  one: {type: rfc2136, server: 192.0.2.53}\nzones:\n  - {files: 'zones/*', targets: [one]}\n`,
  'zones/a.test.yaml': zone('a.test', '192.0.2.1'),
  'zones/b.test.yaml': zone('b.test', '192.0.2.2'),
  'zones/2.0.192.in-addr.arpa.yaml': 'domain: 2.0.192.in-addr.arpa\nrecords: {}\n',
}
const AUTO = zone('a.test', '192.0.2.1', ', auto_ptr: true')
const [A, B] = ['a.test.', 'b.test.']
const REVERSE = '2.0.192.in-addr.arpa.'

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
  ['a default', {}, { 'zonewright.yaml': `${FILES['zonewright.yaml']}defaults: {ttl_sec: 2h}\n` }, [REVERSE, A, B], [], false],
])('%s', async (_, before, after, zones, former, isPartial) => {
  const config = await configIn(folderOf({ ...FILES, ...before, ...after }))
  const revision = { commit: '', folder: folderOf({ ...FILES, ...before }), close: () => undefined }
  const loaded = await loadDefinitions(config)
  const found = await changedZones(config, loaded, revision)
  const namesOf = ({ zones: some }: typeof found): string[] => [...new Set([...some].map((one) => one.zone.name))]
  expect(namesOf(found)).toEqual(zones)
  expect(found.former.map(({ name }) => name)).toEqual(former)
  // The same as if everything were compared.
  const all = await changedZones(config, { ...loaded, areIndependent: false }, revision)
  expect([...found.zones]).toEqual([...all.zones])
  expect(found.former).toEqual(all.former)
  const unchanged = loaded.zones.filter((one) => !found.zones.has(one))
  if (loaded.areIndependent && zones.length < 3) expect((await loadRevision(config, revision, unchanged)).isPartial).toBe(isPartial)
  else expect(isPartial).toBe(false)
})
