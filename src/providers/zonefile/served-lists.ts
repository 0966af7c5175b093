/** Keeps the list of zones and the catalog zone of a folder up to date. */
import { join } from 'node:path'
import { readText } from '../../definition/files/read-text.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { contentKey } from '../../dns/record.ts'
import { nextSerial, type SerialNumber, serialNumber } from '../../dns/serial-number.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { ProviderError } from '../provider.ts'
import { contentBefore, replaceFile, withLock } from '../replace-file.ts'
import type { Command } from './run-command.ts'
import type { ZoneFolder } from './zone-folder.ts'
import { catalogRecords, type ListFormat, printZoneList, type ServedFile } from './zone-lists.ts'
import { parseServedZone, printServedZone, type ServedZone } from './zone-text.ts'

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
  readonly directory: string
  readonly shown: string
  readonly list: ListSettings | null
  readonly catalog: DomainName | null
}

/** Creates a function that writes the lists that differ from the folder, and returns whether there were any. It throws a `ProviderError`. */
export function createListWriter({ provider, directory, shown, list, catalog }: ListOptions, folder: ZoneFolder): () => Promise<boolean> {
  const writeList = async (settings: ListSettings, files: readonly ServedFile[]): Promise<boolean> => {
    const name = `${provider}: ${settings.shown}`
    const before = contentBefore(settings.file, name)
    const text = printZoneList(files, settings.format, settings.lines)
    if (before === Buffer.from(text).toString('latin1')) return false
    if (before !== null && before !== '' && !(await isOurList(settings.file)))
      throw new ProviderError('file-unwritable', `${name} is not overwritten, since Zonewright did not write it`, {
        hint: 'name another file, or remove it',
      })
    await replaceFile({ path: settings.file, shown: name, before, text })
    return true
  }

  const writeCatalog = async (name: DomainName, members: readonly DomainName[]): Promise<boolean> => {
    const fileName = folder.fileNameOf(name)
    const [path, file] = [folder.pathOf(fileName), `${provider}: ${folder.shownPathOf(fileName)}`]
    const before = contentBefore(path, file)
    const existing = await readCatalog(name, fileName)
    const records = catalogRecords(name, members)
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
    throw new ProviderError('provider-garbled', `${provider}: ${zone.message}`, { hint: 'remove the file to have it written' })
  }

  return () =>
    withLock(directory, 'zonewright-lists', `${provider}: ${shown}`, async () => {
      const listed = (await folder.list()).flatMap(({ fileName, zone }) =>
        zone !== null && folder.fileNameOf(zone) === fileName ? [{ fileName, zone }] : [],
      )
      const members = listed.map(({ zone }) => zone).filter((zone) => zone !== catalog)
      const hasNewCatalog = catalog !== null && (await writeCatalog(catalog, members))
      if (list === null) return hasNewCatalog
      const withCatalog = catalog === null ? members : [...members, catalog]
      const files = withCatalog.map((zone) => ({ zone, path: join(list.path, folder.fileNameOf(zone)) }))
      return (await writeList(list, files)) || hasNewCatalog
    })
}

const isOurList = async (path: string): Promise<boolean> => {
  const text = await readText(path, path, null)
  return text.ok && /^(?:\/\/|#) Written by Zonewright\./.test(text.text)
}

const keysOf = (records: ServedZone['records']): string => records.map(contentKey).sort().join('\n')

/** The SOA record of a catalog zone: its names have no meaning, and its consumers refresh hourly without a NOTIFY. */
const catalogSoa = (serial: SerialNumber): ServedZone['soa'] => ({
  primary: 'invalid.',
  mailbox: 'invalid.',
  serial,
  times: [3600, 600, 2_147_483_646, 0],
  ttl: 0 as Ttl,
})
