/** Zone files of other projects, imported and exported again. BIND loads both files; the zone must be the same, its SOA record included. */
import { cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { CORPUS, type CorpusZone, originOf } from '../dns/zone-file/corpus.ts'
import { cli } from '../support/cli.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'

const corpus = fileURLToPath(new URL('../corpora/zonefile/', import.meta.url))

/** Zones that cannot be imported: WKS records in their own form. */
const REFUSED = ['ldns/20-sign-zone.trimmed.db', 'dnspython/example']

/** Zones with records outside the zone, which need --lossy. */
const WITH_OUTSIDE_DATA = ['rfc8976-zonemd/A.2.Complex-EXAMPLE-Zone', 'hickory/implicitclass.zone', 'hickory/nonewline.zone']
const ACCEPTED = CORPUS.filter(({ expect: verdict }) => verdict === 'accept')

interface Imported {
  readonly cwd: string
  /** The copy of the zone file, named after its zone. */
  readonly path: string
  readonly status: number
}

async function importCorpusZone(zone: CorpusZone, ...options: string[]): Promise<Imported> {
  const cwd = temporaryDirectory()
  const origin = originOf(zone)
  const name = origin === '.' ? 'root.zone' : `${origin.slice(0, -1)}.zone`
  mkdirSync(join(cwd, 'in'))
  cpSync(dirname(join(corpus, zone.file)), join(cwd, 'in'), { recursive: true })
  const path = join(cwd, 'in', name)
  cpSync(join(corpus, zone.file), path)
  const { status } = await cli(['import', 'zonefile', path, origin, '-o', 'zones', ...options], { cwd })
  return { cwd, path, status }
}

const fails = async (zone: CorpusZone, ...options: string[]): Promise<boolean> => (await importCorpusZone(zone, ...options)).status !== 0

it('all but a few zones are imported', { tags: ['long'] }, async () => {
  expect(ACCEPTED).toHaveLength(62)
  for (const zone of ACCEPTED) {
    const expected = [[...REFUSED, ...WITH_OUTSIDE_DATA], REFUSED].map((some) => some.includes(zone.id))
    expect([zone.id, await fails(zone), await fails(zone, '--lossy')]).toEqual([zone.id, ...expected])
  }
})

describeWithTools(['named-checkzone'], 'the exported zone', () => {
  const load = async (zone: string, path: string) => {
    const lenient = ['-i', 'none', '-k', 'ignore', '-n', 'ignore', '-m', 'ignore', '-M', 'ignore', '-S', 'ignore', '-r', 'ignore']
    const { status, stdout } = await runTool('named-checkzone', ['-q', '-D', '-o', '-', ...lenient, zone, path])
    // Names keep their capital letters only in BIND.
    return { status, lines: stdout.toLowerCase().split('\n') }
  }

  it.each(ACCEPTED.filter(({ id }) => !REFUSED.includes(id)))('$id', async (zone) => {
    const { cwd, path } = await importCorpusZone(zone, '--lossy')
    const given = await load(zone.origin, path)
    expect(await cli(['export', 'zonefile', '-o', 'out'], { cwd })).toMatchObject({ status: 0 })
    const exported = await load(zone.origin, join(cwd, 'out', path.slice(path.lastIndexOf('/') + 1)))
    if (given.status === 0) expect(exported).toEqual(given)
  })
})
