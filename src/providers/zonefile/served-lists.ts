/** Keeps the list of zones and the catalog zone of a folder up to date. */
import { dirname, join } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { listed } from '../../base/english.ts'
import { catalogRecords } from '../../dns/catalog-zone.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { contentKey } from '../../dns/record.ts'
import { nextSerial, type SerialNumber, serialNumber } from '../../dns/serial-number.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { removeDeadTemporaries } from '../../files/temporary-file.ts'
import { diagnosticOf, ProviderError } from '../provider.ts'
import { contentBefore, replaceFile, type WithLock } from '../replace-file.ts'
import type { Command } from './run-command.ts'
import type { ZoneFolder } from './zone-folder.ts'
import { type ListFormat, printZoneList, type ServedFile, zonesOfList } from './zone-lists.ts'
import { parseServedZone, printServedZone, type ServedZone } from './zone-text.ts'

/** Zones that a message names. */
const MOST_NAMED = 10

/** A file that the configuration of a server includes. */
export interface ListSettings {
  readonly format: ListFormat
  /** Absolute. */
  readonly file: string
  /** The file as the config names it. */
  readonly shown: string
  /** Lines for each zone, in the syntax of the server. */
  readonly lines: readonly string[]
  /** The folder of the zone files as the server sees it. */
  readonly path: string
  readonly reload: Command | null
}

export interface ListOptions {
  readonly provider: string
  readonly shown: string
  readonly list: ListSettings | null
  readonly catalog: DomainName | null
}

/** Whether the file of a zone exists but does not show its zone: somebody is writing it, or it has an error. Lists keep such a zone, which servers still serve. */
type IsUnread = (zone: DomainName) => boolean

/** Zones that the lists get and lose. */
export interface ListDifference {
  readonly added: readonly DomainName[]
  readonly removed: readonly DomainName[]
}

export interface ServedLists {
  /** Writes the lists that differ from the folder, and returns whether there were any. Throws a `ProviderError`. */
  write(): Promise<boolean>
  /** What `write` would change now. Throws a `ProviderError`. */
  compare(): Promise<ListDifference>
}

export function createServedLists({ provider, shown, list, catalog }: ListOptions, folder: ZoneFolder, withLock: WithLock): ServedLists {
  const writeList = async (settings: ListSettings, members: readonly DomainName[], isUnread: IsUnread): Promise<boolean> => {
    const name = `${provider}: ${settings.shown}`
    const before = contentBefore(settings.file, name)
    const zones = [...new Set([...members, ...zonesOfList(before ?? '').filter(isUnread)])]
    const files = zones.map((zone): ServedFile => ({ zone, path: join(settings.path, folder.fileNameOf(zone)) }))
    const text = printZoneList(files, settings.format, settings.lines)
    if (before === Buffer.from(text).toString('latin1')) return false
    if (before !== null && before !== '' && !isOurs(before))
      throw new ProviderError('file-unwritable', `${name} is not overwritten, since Zonewright did not write it`, {
        hint: 'name another file, or remove it',
      })
    removeDeadTemporaries(dirname(settings.file))
    await replaceFile({ path: settings.file, shown: name, before, text })
    return true
  }

  const writeCatalog = async (name: DomainName, members: readonly DomainName[], isUnread: IsUnread): Promise<boolean> => {
    const fileName = folder.fileNameOf(name)
    const [path, file] = [folder.pathOf(fileName), `${provider}: ${folder.shownPathOf(fileName)}`]
    const before = contentBefore(path, file)
    const existing = await readCatalog(name, fileName)
    const unread = membersOf(existing?.records ?? []).filter(isUnread)
    const records = catalogRecords(name, [...new Set([...members, ...unread])])
    if (existing !== null && keysOf(existing.records) === keysOf(records)) return false
    if (existing?.readOnly)
      throw new ProviderError('zone-read-only', `${file} cannot be changed: ${existing.readOnly.reason}`, { hint: existing.readOnly.hint })
    const serial = existing === null ? serialNumber(1) : nextSerial(existing.soa.serial)
    await replaceFile({ path, shown: file, before, text: printServedZone({ name, soa: catalogSoa(serial), records }) })
    return true
  }

  const readCatalog = async (name: DomainName, fileName: string): Promise<ServedZone | null> => {
    const text = await folder.read(fileName)
    if (text === null) return null
    const zone = parseServedZone(text, name, { file: folder.shownPathOf(fileName), include: folder.include, adopt: false })
    if (zone.ok) return zone.value
    throw new ProviderError('provider-garbled', `${provider}: ${zone.message}`, { hint: 'remove the file: the next apply writes it' })
  }

  /** The zones of the folder. */
  const membersNow = async (): Promise<{ readonly members: readonly DomainName[]; readonly isUnread: IsUnread }> => {
    const files = await folder.list()
    const members = files.flatMap(({ fileName, zone }) =>
      zone !== null && zone !== catalog && folder.fileNameOf(zone) === fileName ? [zone] : [],
    )
    const unread = new Set(files.flatMap(({ fileName, zone }) => (zone === null ? [fileName] : [])))
    return { members, isUnread: (zone) => unread.has(folder.fileNameOf(zone)) }
  }

  return {
    write: () =>
      withLock('zonewright-lists', `${provider}: ${shown}`, async () => {
        const { members, isUnread } = await membersNow()
        const hasNewCatalog = catalog !== null && (await writeCatalog(catalog, members, isUnread))
        if (list === null) return hasNewCatalog
        return (await writeList(list, catalog === null ? members : [...members, catalog], isUnread)) || hasNewCatalog
      }),
    async compare() {
      const { members, isUnread } = await membersNow()
      const lists: (readonly DomainName[])[] = []
      const before = (list && contentBefore(list.file, `${provider}: ${list.shown}`)) ?? ''
      // Whatever else the file has is not shown.
      if (list !== null) lists.push(isOurs(before) ? zonesOfList(before) : [])
      if (catalog !== null) lists.push(membersOf((await readCatalog(catalog, folder.fileNameOf(catalog)))?.records ?? []))
      const present = new Set(members)
      const sets = lists.map((zones) => new Set(zones))
      const removed = lists.flat().filter((zone) => zone !== catalog && !present.has(zone) && !isUnread(zone))
      return { added: members.filter((zone) => sets.some((zones) => !zones.has(zone))), removed: [...new Set(removed)].sort() }
    },
  }
}

/** The zones that the lists get and lose because other programs wrote or removed their files, as notices. */
export async function previewLists(provider: string, lists: ServedLists): Promise<Diagnostic[]> {
  try {
    const { added, removed } = await lists.compare()
    const say = (verb: string, zones: readonly DomainName[], why: string): Diagnostic[] => {
      if (zones.length === 0) return []
      return [
        { severity: 'notice', code: 'zone-list', message: `${provider}: the list of zones ${verb} ${listed(zones, MOST_NAMED)}: ${why}` },
      ]
    }
    return [...say('gets', added, 'the folder has their files'), ...say('loses', removed, 'the folder does not have their files')]
  } catch (error) {
    return [{ ...diagnosticOf(error), severity: 'warning' }]
  }
}

const membersOf = (records: ServedZone['records']): DomainName[] =>
  records.flatMap(({ type, data }) => (type === 'PTR' ? [data as DomainName] : []))

const isOurs = (text: string): boolean => /^(?:\/\/|#) Written by Zonewright\./.test(text)

const keysOf = (records: ServedZone['records']): string => records.map(contentKey).sort().join('\n')

/** The SOA record of a catalog zone: its names have no meaning, and its consumers refresh hourly without a NOTIFY. */
const catalogSoa = (serial: SerialNumber): ServedZone['soa'] => ({
  primary: 'invalid.',
  mailbox: 'invalid.',
  serial,
  times: [3600, 600, 2_147_483_646, 0],
  ttl: 0 as Ttl,
})
