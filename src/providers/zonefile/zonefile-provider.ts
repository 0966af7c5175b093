/** A provider whose zones are the zone files of a folder that a name server serves: BIND, NSD, Knot DNS or any other. */
import type { Result } from '../../base/result.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { nextSerial, type SerialNumber } from '../../dns/serial-number.ts'
import type { ZoneSettings } from '../../dns/zone.ts'
import { chooseSerial } from '../../dns/zone-file/choose-serial.ts'
import type { PathScope } from '../../files/allowed-paths.ts'
import { differingSettings } from '../../plan/domain-change.ts'
import type { ReadOnlyReason } from '../../plan/make-plan.ts'
import type { DomainChange } from '../../plan/plan.ts'
import { changedSincePlan, replaceRrsets } from '../changed-rrsets.ts'
import {
  type AppliedCall,
  assertMayWrite,
  type Provider,
  type ProviderCall,
  type ProviderCallOptions,
  ProviderError,
  type UnusableZone,
  type ZoneReference,
  type ZoneSnapshot,
} from '../provider.ts'
import { contentBefore, locksOf, removeFile, replaceFile, type WithLock } from '../replace-file.ts'
import { masterZone } from '../zone-lists.ts'
import { canBeServed, zonefileCapabilities } from './capabilities.ts'
import { examineFolder } from './examine.ts'
import { createPublisher, type FileChange, type Publisher } from './publish.ts'
import { type Command, type CommandRun, fillIn, runCommand } from './run-command.ts'
import { createServedLists, type ListSettings, previewLists } from './served-lists.ts'
import type { ZoneFolder } from './zone-folder.ts'
import { createZoneFolder } from './zone-folder.ts'
import { newSoa, parseServedZone, printServedZone, type ServedZone, settingsOf, withSettings } from './zone-text.ts'

export interface ZonefileOptions {
  /** Its name in the config. */
  readonly provider: string
  /** Absolute. */
  readonly directory: string
  /** The folder as the config names it. */
  readonly shown: string
  readonly fileName: string
  readonly scope: PathScope
  /** The lowest serial of a changed zone; null for just the next one. */
  readonly serialFloor: () => SerialNumber | null
  readonly check: Command | null
  readonly reload: Command | null
  readonly list: ListSettings | null
  readonly catalog: DomainName | null
  /** The primary in the SOA record of new zones; null for the first name server of each. */
  readonly primary: DomainName | null
  readonly adopt: boolean
  readonly parallelism: number
  readonly commands: Omit<CommandRun, 'signal'>
  /** Replaces the secrets of the run in a text. */
  readonly redact: (text: string) => string
}

/** The parts that share the settings of one provider. */
interface Served {
  readonly options: ZonefileOptions
  readonly folder: ZoneFolder
  readonly publisher: Publisher
  readonly withLock: WithLock
  /** Zones that were read to find them, with their texts, until they are read for a plan. */
  readonly found: Map<DomainName, FoundZone>
}

interface FoundZone {
  readonly text: string
  readonly zone: ServedZone
}

export function createZonefileProvider(options: ZonefileOptions): Provider {
  const { provider, shown, directory, catalog } = options
  const folder = createZoneFolder(options)
  const withLock = locksOf(directory)
  const lists = options.list === null && catalog === null ? null : createServedLists(options, folder, withLock)
  const publisher = createPublisher({ ...options, folder, writeLists: lists?.write ?? null, listReload: options.list?.reload ?? null })
  const served: Served = { options, folder, publisher, withLock, found: new Map() }
  return {
    name: provider,
    type: 'zonefile',
    address: `file:${shown}`,
    capabilities: zonefileCapabilities(catalog),
    parallelism: options.parallelism,
    async findZones(names) {
      folder.assertExists()
      const found = new Map<DomainName, ZoneReference>()
      for (const name of names) {
        const reference = canBeServed(name) && name !== catalog ? await referenceOrUnread(served, name) : null
        if (reference !== null) found.set(name, reference)
      }
      return found
    },
    async listZones() {
      const zones: ZoneReference[] = []
      const unusable: UnusableZone[] = []
      for (const { fileName, zone } of await folder.list()) {
        if (zone !== null && zone === catalog) continue
        const reason =
          zone === null
            ? 'its file has no SOA record'
            : folder.fileNameOf(zone) === fileName
              ? null
              : `its file is that of ${zone} by its content, and must be named ${folder.fileNameOf(zone)}`
        const found = zone === null || reason !== null ? null : await referenceOrUnread(served, zone)
        if (found !== null) zones.push(found)
        else unusable.push({ name: fileName, id: fileName, reason: reason ?? 'its file was removed' })
      }
      return { zones, unusable }
    },
    readZone: (zone) => snapshotOf(served, zone.name),
    examine: (usage) => examineFolder({ options, folder, publisher, readZone: (name) => readServed(served, name) }, usage),
    apply: (zone, call, more) => applyCall(served, zone, call, more),
    completeCalls: () => publisher.complete(),
    ...(lists === null ? {} : { previewCompletion: () => previewLists(provider, lists) }),
    close: async () => undefined,
  }
}

const referenceTo = (zone: ServedZone): ZoneReference => ({ name: zone.name, id: zone.name, settings: settingsOf(zone.soa) })

/** The zone of a file; null without a file. A file that cannot be read is an error of its zone, when that is read, not of all zones. */
async function referenceOrUnread(served: Served, name: DomainName): Promise<ZoneReference | null> {
  try {
    const zone = await readServed(served, name)
    return zone === null ? null : referenceTo(zone)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return masterZone(name, name)
  }
}

/** BIND plays its journal on the file at each start, so a file that was written beside it loses the updates in it, or is lost itself. */
const journalReason = (shown: string, name: DomainName): ReadOnlyReason => {
  const zone = name === '.' ? name : name.slice(0, -1)
  return {
    reason: `the server keeps changes of its own: ${shown}.jnl exists`,
    hint: `if the journal comes from "ixfr-from-differences yes" alone, set that option to no and run rndc sync -clean ${zone}; otherwise use a provider of type rfc2136, or make the file the only source: rndc freeze ${zone}, rndc sync -clean ${zone}, then remove allow-update or update-policy and run rndc thaw ${zone}`,
  }
}

/** The zone in its file; null without a file. Throws a `ProviderError` if the file is not that of the zone, or if another file seems to be served. */
async function readServed(served: Served, name: DomainName): Promise<ServedZone | null> {
  const { options, folder, found } = served
  const fileName = folder.fileNameOf(name)
  const text = await folder.read(fileName)
  if (text === null) {
    const other = await folder.otherFileOf(name)
    if (other === null) return null
    const shown = folder.shownPathOf(other.fileName)
    throw new ProviderError('zone-exists', `${options.provider}: ${name} has no file ${fileName}, but the file ${shown}`, {
      hint: `set file_name: '${other.pattern}' in a provider for the zones whose files are named like that, or rename the file`,
    })
  }
  const known = found.get(name)
  found.delete(name)
  if (known?.text === text && !folder.isOutside(fileName) && !folder.hasJournal(fileName)) return known.zone
  const zone = parseServedZone(text, name, { file: folder.shownPathOf(fileName), include: folder.include, adopt: options.adopt })
  if (!zone.ok)
    throw new ProviderError('provider-garbled', `${options.provider}: ${zone.message}`, {
      hint: 'correct the file, or remove it: the next apply writes it',
    })
  if (folder.hasJournal(fileName)) return { ...zone.value, readOnly: journalReason(folder.shownPathOf(fileName), name) }
  if (!folder.isOutside(fileName)) {
    if (!hasIncludes(text)) found.set(name, { text, zone: zone.value })
    return zone.value
  }
  const reason = `${folder.shownPathOf(fileName)} is a symbolic link to a place outside the folder`
  return { ...zone.value, readOnly: { reason, hint: 'move the file into the folder' } }
}

/** Included files may change while the text does not. */
const hasIncludes = (text: string): boolean => /^\$INCLUDE\b/im.test(text)

async function snapshotOf(served: Served, name: DomainName): Promise<ZoneSnapshot> {
  const { options, publisher } = served
  const zone = await readServed(served, name)
  if (zone === null) throw new ProviderError('provider-not-found', `${options.provider}: ${name} has no file any more`)
  const message = `${options.provider}: ${name} was written by an earlier run, but servers were not told`
  return {
    ...referenceTo(zone),
    id: name,
    records: zone.records,
    serial: zone.soa.serial,
    readOnly: zone.readOnly,
    ...(publisher.isPending(name) && {
      warnings: [{ severity: 'warning', code: 'reload-failed', message, hint: 'apply again: that repeats the command' }],
    }),
  }
}

/** Milliseconds that renaming or removing a file may take. */
const RENAME_LIMIT = 1000

async function applyCall(
  served: Served,
  zone: ZoneReference | null,
  call: ProviderCall,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { provider } = served.options
  const [first] = call.changes
  const name = zone?.name ?? (first?.name as DomainName)
  const fileName = served.folder.fileNameOf(name)
  const shown = `${provider}: ${served.folder.shownPathOf(fileName)}`
  return served.withLock(fileName, shown, async () => {
    if (options?.stop?.aborted || options?.signal?.aborted)
      throw new ProviderError('provider-stopped', `${provider}: the run was stopped before the file was written`, { notSent: true })
    const file = { path: served.folder.pathOf(fileName), shown, before: contentBefore(served.folder.pathOf(fileName), shown) }
    const current = await readServed(served, name)
    const domain = first?.subject === 'domain' ? first : null
    if (domain?.action === 'create') {
      if (current !== null) throw conflict(served, name, 'was created after the plan was made')
      const created = createdZone(served, name, domain, call)
      const serial = options?.lastSerial === undefined ? created.soa.serial : raised(served, options.lastSerial)
      return write(served, file, { ...created, soa: { ...created.soa, serial } }, 'created', options)
    }
    if (current === null) throw conflict(served, name, 'was deleted after it was read for the plan')
    const { readOnly } = current
    if (readOnly)
      throw new ProviderError('zone-read-only', `${provider}: ${name} cannot be changed: ${readOnly.reason}`, { hint: readOnly.hint })
    assertAsExpected(served, current, call)
    if (domain?.action === 'delete') {
      await assertMayWrite(provider, options, RENAME_LIMIT)
      return remove(served, file, name)
    }
    const settings: ZoneSettings = domain?.desired ?? {}
    const changed = { ...current, soa: withSettings(current.soa, settings), records: replaceRrsets(current.records, call.rrsets) }
    return write(served, file, { ...changed, soa: { ...changed.soa, serial: raised(served, current.soa.serial) } }, 'changed', options)
  })
}

const conflict = ({ options: { provider } }: Served, name: DomainName, what: string): ProviderError =>
  new ProviderError('provider-conflict', `${provider}: ${name} ${what}`, { hint: 'plan again to see the change' })

function createdZone({ options }: Served, name: DomainName, { desired }: DomainChange, { rrsets }: ProviderCall): ServedZone {
  const records = replaceRrsets([], rrsets)
  const soa = newSoa(name, desired ?? {}, records, options.primary)
  return { name, records, soa: { ...soa, serial: options.serialFloor() ?? soa.serial } }
}

/** The serial of a changed file (RFC 1982): at least the next one. */
function raised({ options }: Served, serial: SerialNumber): SerialNumber {
  const existing = { serial, isChanged: true, isReplaceable: true }
  const chosen: Result<SerialNumber> = chooseSerial({ atLeast: options.serialFloor() }, null, existing)
  return chosen.ok ? chosen.value : nextSerial(serial)
}

/** Throws unless the RRsets and settings that the call changes are as they were read for the plan; for a deletion, all RRsets. */
function assertAsExpected(served: Served, { name, records, soa }: ServedZone, call: ProviderCall): void {
  const changed = changedSincePlan(call, records)
  if (changed !== null) throw conflict(served, name, changed)
  const [first] = call.changes
  if (first?.subject !== 'domain' || first.action !== 'update') return
  const settings = differingSettings(settingsOf(soa), first.existing ?? {})
  if (settings.length > 0) throw conflict(served, name, `has other settings than those read for the plan: ${settings.join(', ')}`)
}

interface FileOfZone {
  readonly path: string
  readonly shown: string
  readonly before: string | null
}

async function write(
  served: Served,
  file: FileOfZone,
  zone: ServedZone,
  change: FileChange,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { publisher, options: settings } = served
  await replaceFile({
    ...file,
    text: printServedZone(zone),
    async check(temporary) {
      await checkFile(served, zone.name, temporary, options?.signal)
      // The check may have taken long.
      await assertMayWrite(settings.provider, options, RENAME_LIMIT)
    },
    beforeRename: () => publisher.mark(zone.name, change),
  })
  return { zone: referenceTo(zone), problems: await publisher.publish(zone.name, change) }
}

async function remove({ publisher }: Served, file: FileOfZone, name: DomainName): Promise<AppliedCall> {
  await removeFile({ ...file, beforeRename: () => publisher.mark(name, 'deleted') })
  return { problems: await publisher.publish(name, 'deleted') }
}

/** Throws unless the check command accepts the file. */
async function checkFile({ options }: Served, zone: DomainName, file: string, signal: AbortSignal | undefined): Promise<void> {
  const { check, provider, commands } = options
  if (check === null) return
  const problem = await runCommand(fillIn(check, { zone: zone === '.' ? zone : zone.slice(0, -1), file }), { ...commands, signal })
  if (problem === null) return
  throw new ProviderError('check-failed', options.redact(`${provider}: ${zone} was not written: "${check[0]}" ${problem}`), {
    hint: 'correct the definition, or the check command in the config',
  })
}
