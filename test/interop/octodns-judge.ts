/** Runs the real octoDNS, if it is installed, to check what is written for it. The checks of a commit do not need it. */
import { appendFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe } from 'vitest'
import { ok, type Result } from '../../src/base/result.ts'
import { octetsToTxtRdata } from '../../src/dns/character-string.ts'
import { parseDomainName } from '../../src/dns/domain-name.ts'
import { canonicalRdata } from '../../src/dns/rdata/canonical.ts'
import type { ResourceRecord } from '../../src/dns/record.ts'
import type { Ttl } from '../../src/dns/ttl.ts'
import { loadDefinitions } from '../../src/load/load-definitions.ts'
import { configIn } from '../definition/files.ts'
import { findTool, runTool } from '../support/tools.ts'

/** octoDNS's Python, in the folder of `octodns-sync`, which is on the PATH or in the folder ZONEWRIGHT_OCTODNS. */
const folder = process.env['ZONEWRIGHT_OCTODNS']
const program = findTool(folder === undefined ? 'octodns-sync' : join(folder, 'octodns-sync'))
const python = program === null ? null : findTool(join(dirname(program), 'python3'))

/** A suite that runs octoDNS. If octoDNS is not installed, the suite is skipped with a message. */
export function describeWithOctodns(name: string, suite: () => void): void {
  if (python !== null) {
    describe(name, { tags: ['servers'] }, suite)
    return
  }
  const line = `${name} (needs octoDNS: ZONEWRIGHT_OCTODNS names the bin folder of a virtual environment with octodns and octodns-bind)`
  process.stderr.write(`!!! SKIPPED: ${line}\n`)
  const log = process.env['ZONEWRIGHT_SKIP_LOG']
  if (log !== undefined) appendFileSync(log, `${line}\n`)
  describe.skip(name, suite)
}

/** An RRset as loaded by octoDNS. */
export interface LoadedRrset {
  readonly name: string
  readonly type: string
  readonly ttl: number
  /** In presentation form; TXT and SPF as bare text. */
  readonly values: readonly string[]
}

/** The beginning of scripts that print RRsets. */
const SHOWN = `
import json, sys, warnings
warnings.simplefilter('ignore')
from octodns.provider.yaml import YamlProvider
from octodns.zone import Zone
def shown(record):
    # Text without escapes: printing some non-ASCII texts in presentation form never ends.
    text = record._type in ('TXT', 'SPF')
    values = [value.to_raw_text() for value in record.values] if text else list(record.to_rrset().rdatas)
    return {'name': record.fqdn, 'type': record._type, 'ttl': record.ttl, 'values': values}
`

const LOAD = `${SHOWN}
directory, split, *names = sys.argv[1:]
provider = YamlProvider('config', directory, enforce_order=True, escaped_semicolons=True, split_extension=split or False)
for name in names:
    # As in its manager: records of zones below do not belong to this zone.
    zone = Zone(name, {other[: -len(name) - 1] for other in names if other.endswith('.' + name)})
    provider.populate(zone)
    for record in sorted(zone.records):
        print(json.dumps(shown(record)))
`

/** The RRsets that octoDNS loads for zones of a folder with `enforce_order`; with `split`, also from folders with that suffix. Throws octoDNS's error. */
export const loadWithOctodns = (directory: string, zones: readonly string[], split = ''): Promise<LoadedRrset[]> =>
  load(LOAD, [directory, split, ...zones])

async function load(script: string, args: readonly string[]): Promise<LoadedRrset[]> {
  return (await run(script, args))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LoadedRrset)
}

/** Runs a script with octoDNS's Python and returns its output. Throws its error. */
async function run(script: string, args: readonly string[]): Promise<string> {
  const result = await runTool(python as string, ['-c', script, ...args], { timeout: 600_000 })
  if (result.status !== 0) throw new Error(result.stderr)
  return result.stdout
}

/** The records of octoDNS's RRset, one line each. */
export const linesOfLoaded = ({ name, type, ttl, values }: LoadedRrset): string[] =>
  values.map((value) => {
    const owner = parseDomainName(name)
    const data = type === 'TXT' || type === 'SPF' ? ok(octetsToTxtRdata(Buffer.from(value, 'utf8'))) : dataOf(type, value)
    if (!owner.ok || !data.ok) throw new Error(`${name} ${type} ${value}`)
    return recordLine({ name: owner.value, ttl: ttl as Ttl, type, data: data.value })
  })

export const recordLine = ({ name, ttl, type, data }: ResourceRecord): string => `${name} ${ttl} ${type} ${data}`

function dataOf(type: string, rdata: string): Result<string> {
  const tokens = (rdata.match(/"(?:[^"\\]|\\.)*"|[^ "]+/gs) ?? []).map((text) =>
    text.startsWith('"') ? { text: text.slice(1, -1), quoted: true } : { text, quoted: false },
  )
  return canonicalRdata(type, tokens, (text) => parseDomainName(text))
}

/** Runs `answer(manager)` of a script for the configuration in each folder. A text in the result is octoDNS's error. */
const askInFolders = async <T>(answer: string, config: string, folders: readonly string[]): Promise<(T | string)[]> =>
  (await run(`${answer}${IN_FOLDERS}`, [config, ...folders]))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const IN_FOLDERS = `
import json, os, sys, warnings
warnings.simplefilter('ignore')
from octodns.manager import Manager
config, *folders = sys.argv[1:]
for folder in folders:
    os.chdir(folder)
    try:
        print(json.dumps(answer(Manager(config))))
    except Exception as error:
        print(json.dumps(f'{type(error).__name__}: {error}'))
`

const SOURCES = `${SHOWN}
def answer(manager):
    loaded = []
    arpa = manager.processors.get('auto-arpa')
    # As octoDNS does, reverse zones come last if auto_arpa fills them.
    isLate = lambda name: arpa is not None and name.endswith('arpa.')
    for name, settings in sorted(manager._preprocess_zones(manager.config['zones']).items(), key=lambda one: (isLate(one[0]), one[0])):
        origin = settings.get('alias', name)
        zone = Zone(origin, [])
        for source in manager.config['zones'][origin]['sources']:
            manager.providers[source].populate(zone, lenient=True)
        if origin != name:
            alias = Zone(name, [])
            for record in zone.records:
                alias.add_record(record.copy(zone=alias), lenient=True)
            zone = alias
        if arpa is not None:
            arpa.process_source_zone(zone, [])
        loaded += [shown(record) for record in sorted(zone.records)]
    return loaded
`

/**
 * The records that octoDNS loads for all zones of the configuration in each folder, from all their sources; for an alias, from those of its
 * zone. If octoDNS refuses the configuration, its error.
 */
export const loadSourcesOf = (config: string, folders: readonly string[]): Promise<(readonly LoadedRrset[] | string)[]> =>
  askInFolders(SOURCES, config, folders)

/** The same for one folder. Throws octoDNS's error. */
export async function loadSourcesWithOctodns(config: string, cwd: string): Promise<readonly LoadedRrset[]> {
  const [loaded = ''] = await loadSourcesOf(config, [cwd])
  if (typeof loaded === 'string') throw new Error(loaded)
  return loaded
}

const TYPES = `
import json
from octodns.manager import Manager
from octodns.record import Record
print(json.dumps(sorted(Record.registered_types())))
`

/** The record types that the installed octoDNS supports. */
export async function knownTypes(): Promise<string[]> {
  return JSON.parse(await run(TYPES, []))
}

const DUMP = `
import sys, warnings
warnings.simplefilter('ignore')
from octodns.provider.yaml import YamlProvider
from octodns.zone import Zone
directory, dump, split, *names = sys.argv[1:]
source = YamlProvider('config', directory, escaped_semicolons=True)
target = YamlProvider('dump', dump, default_ttl=3600, escaped_semicolons=True, split_extension=split or False)
for name in names:
    zone = Zone(name, [])
    source.populate(zone)
    plan = target.plan(zone)
    if plan is not None:
        target.apply(plan)
`

/** Lets octoDNS write zones of one folder to another, as octodns-dump does; with `split`, to folders with that suffix. A zone without records gets no file. */
export const dumpWithOctodns = (directory: string, dump: string, zones: readonly string[], split = ''): Promise<string> =>
  run(DUMP, [directory, dump, split, ...zones])

const TRANSFER = `
import json, sys, warnings
warnings.simplefilter('ignore')
from octodns.provider.yaml import YamlProvider
from octodns_bind import Rfc2136Provider
from octodns.zone import Zone
directory, port, *names = sys.argv[1:]
source = YamlProvider('config', directory, escaped_semicolons=True)
target = Rfc2136Provider('target', host='127.0.0.1', port=int(port))
plans = {}
for name in names:
    zone = Zone(name, [])
    source.populate(zone)
    plan = target.plan(zone)
    plans[name] = [] if plan is None else [repr(change) for change in plan.changes]
print(json.dumps(plans))
`

/** The changes that octoDNS plans for a name server from which it transfers the zones. */
export async function planOverTransfer(directory: string, port: number, zones: readonly string[]): Promise<Record<string, string[]>> {
  return JSON.parse(await run(TRANSFER, [directory, String(port), ...zones]))
}

const PROCESSED = `
def answer(manager):
    changes = []
    for name, zone in manager._preprocess_zones(manager.config['zones']).items():
        of = lambda names: [manager.providers[name] for name in names]
        plans, _ = manager._populate_and_plan(name, manager._get_processors(name, zone), of(zone['sources']), of(zone['targets']))
        changes += [' '.join([type(change).__name__, change.record.fqdn, change.record._type]) for _, plan in plans for change in plan.changes]
    return sorted(changes)
`

/** The changes that octoDNS plans for the configuration in each folder, sorted, such as `Delete www.example.com. A`; the name of its error if it refuses. */
export async function planWithProcessors(config: string, folders: readonly string[]): Promise<(readonly string[] | string)[]> {
  const answers = await askInFolders<readonly string[]>(PROCESSED, config, folders)
  return answers.map((answer) => (typeof answer === 'string' ? (answer.split(':')[0] ?? '') : answer))
}

/** The records of the definitions in a folder with a config, sorted. */
export async function recordsIn(folder: string): Promise<string[]> {
  const { zones } = await loadDefinitions(await configIn(folder))
  return zones.flatMap(({ zone }) => zone.records.map(recordLine)).sort()
}
