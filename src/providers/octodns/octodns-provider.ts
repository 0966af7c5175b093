/** A provider that stores its zones in a folder, as files of octoDNS's YamlProvider. */
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isError } from '../../base/diagnostic.ts'
import { counted, listed } from '../../base/english.ts'
import { quoted } from '../../base/text.ts'
import type { ProviderConfig } from '../../config/config.ts'
import { parseDefinition } from '../../definition/parse/parse-definition.ts'
import { octodnsFileName, printOctodnsZone } from '../../definition/print/octodns-zone.ts'
import { commentsOf } from '../../definition/yaml/comments.ts'
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { type DefinedRecord, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import type { RrsetTargets } from '../../dns/zone.ts'
import type { PathScope } from '../../files/allowed-paths.ts'
import { readText } from '../../files/read-text.ts'
import { linkPolicy } from '../../files/source-policy.ts'
import type { ReadOnlyReason } from '../../plan/make-plan.ts'
import { changedSincePlan, replaceRrsets } from '../changed-rrsets.ts'
import { createFindings, MAX_LISTED } from '../examine-zones.ts'
import {
  type AppliedCall,
  type CreatedProvider,
  type Provider,
  type ProviderCall,
  type ProviderCallOptions,
  type ProviderContext,
  ProviderError,
  type UnusableZone,
  type ZoneReference,
} from '../provider.ts'
import { assertFolder, contentBefore, isWritableFolder, locksOf, removeFile, replaceFile, type WithLock } from '../replace-file.ts'
import { masterZone } from '../zone-lists.ts'
import { DEFAULT_TTL, OCTODNS_CAPABILITIES } from './capabilities.ts'

const DEFAULT_PARALLELISM = 4

export async function createFromFolder({ name, settings }: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const shown = String(settings['directory']).replace(/(?<=.)\/+$/, '')
  const parallelism = context.parallelism ?? Number(settings['parallelism'] ?? DEFAULT_PARALLELISM)
  return {
    provider: createOctodnsProvider({
      provider: name,
      directory: resolve(context.secrets.folder, shown),
      shown,
      scope: context.secrets,
      parallelism,
    }),
    diagnostics: [],
  }
}

interface OctodnsOptions {
  readonly provider: string
  /** Absolute. */
  readonly directory: string
  /** The folder as the config names it. */
  readonly shown: string
  readonly scope: PathScope
  readonly parallelism: number
}

/** The parts of a file that Zonewright keeps when it writes the file. */
interface OctodnsFile {
  readonly records: readonly ResourceRecord[]
  readonly rrsetTargets: readonly RrsetTargets[]
  /** RRsets with `octodns: {lenient: true}`, by `rrsetKey`. */
  readonly lenient: ReadonlySet<string>
  readonly readOnly?: ReadOnlyReason | undefined
}

const NEW_FILE: OctodnsFile = { records: [], rrsetTargets: [], lenient: new Set() }

function createOctodnsProvider(options: OctodnsOptions): Provider {
  const { provider, directory, shown, parallelism } = options
  const read = (name: DomainName): Promise<OctodnsFile> => readZoneFile(options, name)
  const withLock = locksOf(directory)
  const provided: Provider = {
    name: provider,
    type: 'octodns',
    address: `file:${shown}`,
    capabilities: OCTODNS_CAPABILITIES,
    parallelism,
    async findZones(names) {
      assertFolder(options)
      return new Map(names.filter((name) => existsSync(pathOf(options, name))).map((name) => [name, referenceTo(name)]))
    },
    async listZones() {
      assertFolder(options)
      const zones: ZoneReference[] = []
      const unusable: UnusableZone[] = []
      for (const file of readdirSync(directory).sort()) {
        const name = /^[^.].*\.yaml$/.test(file) ? parseAbsoluteName(file.slice(0, -'yaml'.length)) : null
        if (name?.ok && file === octodnsFileName({ name: name.value })) zones.push(referenceTo(name.value))
        else if (name !== null) unusable.push({ name: file, id: file, reason: 'the name of its file is not a zone name in lower case' })
      }
      return { zones, unusable }
    },
    async readZone({ name }) {
      const { records, readOnly } = await read(name)
      return { ...referenceTo(name), records, readOnly }
    },
    examine: (usage) => examineFolder(provided, directory, usage),
    apply: (zone, call, more) => applyCall(options, withLock, zone, call, more),
    close: async () => undefined,
  }
  return provided
}

const referenceTo = (name: DomainName) => masterZone(name, name)

const pathOf = ({ directory }: OctodnsOptions, name: DomainName): string => join(directory, `${name}yaml`)

const shownPath = ({ provider, shown }: OctodnsOptions, name: DomainName): string => `${provider}: ${shown}/${name}yaml`

async function readZoneFile(options: OctodnsOptions, name: DomainName): Promise<OctodnsFile> {
  const { provider, shown } = options
  const file = `${shown}/${name}yaml`
  const text = await readText(pathOf(options, name), file, linkPolicy(options.scope))
  if (!text.ok) throw new ProviderError('file-unreadable', `${provider}: ${text.problem.message}`, { hint: text.problem.hint })
  const parsed = parseDefinition(text.text, { file, zoneName: name, octodnsDefaultTtl: DEFAULT_TTL })
  const error = parsed.diagnostics.find(isError)
  const place = error?.at === undefined ? '' : `${error.at.file}:${error.at.line}:${error.at.column}: `
  // The message of the error may quote the file, and the file may contain secrets instead of a zone.
  if (error !== undefined)
    throw new ProviderError('provider-garbled', `${provider}: ${place}this is not a zone file of octoDNS (${error.code})`, {
      hint: 'correct the file; "zonewright import octodns" says what is wrong with it',
    })
  const { zone, layout } = parsed
  if (zone === null || layout !== 'octodns')
    throw new ProviderError('provider-garbled', `${provider}: ${file} is not a zone file of octoDNS`, {
      hint: 'name another folder in the config',
    })
  const reason = whyReadOnly(text.text, parsed)
  return {
    records: zone.records.map(({ name: owner, type, ttl, data }) => ({ name: owner, type, ttl, data })),
    rrsetTargets: zone.rrsetTargets,
    lenient: parsed.lenient,
    ...(reason !== null && {
      readOnly: { reason: `${file} has ${reason}, which would be lost`, hint: 'remove it from the file, or change the file by hand' },
    }),
  }
}

/** The first part of a file that writing would drop; null if there is none. */
function whyReadOnly(text: string, { zone, unsupportedKeys, includedFiles }: ReturnType<typeof parseDefinition>): string | null {
  const [comment] = commentsOf(text)
  if (comment !== undefined) return `the comment ${quoted(comment.trim())}`
  const [key] = unsupportedKeys
  if (key !== undefined) return `the key ${key.key} at ${key.name} ${key.type}`
  const [foreign] = zone?.providerSpecific ?? []
  if (foreign !== undefined) return `the record type ${foreign.type} of another provider`
  const ownSettings = zone?.records.find(({ providerSettings }) => providerSettings !== undefined)
  if (ownSettings !== undefined) return `settings of one type of provider at ${ownSettings.name} ${ownSettings.type}`
  return includedFiles.length > 0 || /(?:^|\s)!include\b/m.test(text) ? 'included files' : null
}

async function applyCall(
  options: OctodnsOptions,
  withLock: WithLock,
  zone: ZoneReference | null,
  call: ProviderCall,
  more?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { provider } = options
  const [first] = call.changes
  const name = zone?.name ?? (first?.name as DomainName)
  const [path, shown] = [pathOf(options, name), shownPath(options, name)]
  assertFolder(options)
  return withLock(`${name}yaml`, shown, async () => {
    if (more?.stop?.aborted || more?.signal?.aborted)
      throw new ProviderError('provider-stopped', `${provider}: the run was stopped before the file was written`, { notSent: true })
    const before = contentBefore(path, shown)
    const creates = first?.subject === 'domain' && first.action === 'create'
    if (creates !== (before === null))
      throw conflict(provider, name, creates ? 'was created after the plan was made' : 'was deleted after it was read')
    const current = before === null ? NEW_FILE : await readZoneFile(options, name)
    if (current.readOnly)
      throw new ProviderError('zone-read-only', `${provider}: ${name} cannot be changed: ${current.readOnly.reason}`, {
        hint: current.readOnly.hint,
      })
    const changed = changedSincePlan(call, current.records)
    if (changed !== null) throw conflict(provider, name, changed)
    if (first?.subject === 'domain' && first.action === 'delete') {
      await removeFile({ path, shown, before })
      return {}
    }
    await replaceFile({ path, shown, before, text: textOf(name, current, replaceRrsets(current.records, call.rrsets)) })
    return creates ? { zone: referenceTo(name) } : {}
  })
}

const conflict = (provider: string, name: DomainName, what: string): ProviderError =>
  new ProviderError('provider-conflict', `${provider}: ${name} ${what}`, { hint: 'plan again to see the change' })

/** The text of the file with these records. RRsets that remain keep their keys below `octodns:`. */
function textOf(name: DomainName, { rrsetTargets, lenient }: OctodnsFile, records: readonly ResourceRecord[]): string {
  const at = { file: '', line: 1, column: 1 }
  const placed = records.map((record): DefinedRecord => ({ ...record, at }))
  const { text, dropped } = printOctodnsZone({ name, records: placed, rrsetTargets, lenient, defaultTtl: DEFAULT_TTL })
  const [lost] = dropped
  if (lost === undefined) return text
  throw new ProviderError('provider-rejected', `${rrsetKey(lost)}: octoDNS cannot express ${lost.what}`)
}

/** `directory`: the absolute path of the folder. */
async function examineFolder(provider: Provider, directory: string, { zones }: ProviderUsage): Promise<DoctorFinding[]> {
  const { findings, add, attempt } = createFindings()
  await attempt(
    async () => {
      const found = await provider.findZones(zones)
      const { zones: all } = await provider.listZones()
      add('ok', 'connection', `${provider.address} has ${counted(all.length, 'zone file')}`)
      if (!isWritableFolder(directory))
        add('error', 'connection', `${provider.address} cannot be written`, 'give this user the permission to write into it')
      const missing = zones.filter((zone) => !found.has(zone))
      if (missing.length > 0) add('ok', 'zones', `an apply would create ${listed(missing, MAX_LISTED)}`)
      for (const zone of found.values())
        await attempt(
          async () => {
            const { readOnly } = await provider.readZone(zone)
            if (readOnly) add('warning', 'zones', `${zone.name} cannot be changed: ${readOnly.reason}`, readOnly.hint)
          },
          () => 'zones',
        )
    },
    () => 'connection',
  )
  return findings
}
