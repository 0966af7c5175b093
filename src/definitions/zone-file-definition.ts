import { parseZoneFile, type ZoneFileOptions } from '../formats/zone-file/parse-zone-file.ts'
import { checkZoneDigest } from '../formats/zone-file/zone-digest.ts'
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts'
import { type DomainName, isAtOrBelow, labelsOf, nameFromLabels, parseDomainName, ROOT } from '../model/domain-name.ts'
import { rdataFields } from '../model/rdata/canonical.ts'
import type { DefinedRecord, ResourceRecord } from '../model/record.ts'
import { type DesiredZone, UNSAID, type ZoneSettings } from '../model/zone.ts'

export interface ZoneFileDefinition {
  /** Null where nothing says which zone the file is of. */
  readonly zone: DesiredZone | null
  readonly includedFiles: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * A zone file as a definition. The zone is the owner of the SOA, else the first `$ORIGIN`, else `zoneName`. The SOA becomes settings
 * of the zone (its serial is the target's affair); records outside the zone are faults.
 */
export function zoneFileDefinition(
  text: string,
  zoneName: DomainName | null,
  options: Omit<ZoneFileOptions, 'origin' | 'defaultTtl'>,
): ZoneFileDefinition {
  const parsed = parseZoneFile(text, { ...options, origin: zoneName })
  const { includedFiles } = parsed
  const name = parsed.records.find((record) => record.type === 'SOA')?.name ?? firstOrigin(text, zoneName) ?? parsed.origin
  const start = { file: options.file, line: 1, column: 1 }
  if (name === null || name === ROOT) {
    const message = 'nothing says which zone the file is of'
    const hint = 'write $ORIGIN, or name the file after its zone, such as example.com.zone'
    return {
      zone: null,
      includedFiles,
      diagnostics: [...parsed.diagnostics, { severity: 'error', code: 'zone-name', message, at: start, hint }],
    }
  }
  const soa = parsed.records.find((record) => record.type === 'SOA' && record.name === name)
  const records: DefinedRecord[] = []
  const diagnostics: Diagnostic[] = [...parsed.diagnostics]
  for (const record of parsed.records) {
    if (!isAtOrBelow(record.name, name)) diagnostics.push(outside(record, name))
    // A zone transfer written down ends with the SOA it began with.
    else if (!soa || record.type !== 'SOA' || record.name !== name || record.data !== soa.data) records.push(record)
  }
  // Without the records that have faults no digest could fit.
  if (!hasErrors(diagnostics)) diagnostics.push(...checkZoneDigest(parsed.records, name))
  const zone: DesiredZone = {
    ...UNSAID,
    name,
    at: soa?.at ?? start,
    settings: soa ? settingsOfSoa(soa) : {},
    records,
  }
  return { zone, includedFiles, diagnostics }
}

/** The first `$ORIGIN`, unless it only leads below the zone that the file is named after. */
function firstOrigin(text: string, zoneName: DomainName | null): DomainName | null {
  const origin = parseDomainName(/^\$ORIGIN[ \t]+([^\s;]+)/im.exec(text)?.[1] ?? '', zoneName)
  if (!origin.ok) return zoneName
  return zoneName !== null && isAtOrBelow(origin.value, zoneName) ? zoneName : origin.value
}

const outside = (record: DefinedRecord, zone: DomainName): Diagnostic => ({
  severity: 'error',
  code: 'name-outside-zone',
  message: `${record.name} ${record.type} is not in the zone ${zone}`,
  at: record.at,
})

/** The fields of an SOA as settings: `minimum`, the time a missing name is remembered (RFC 2308), is the zone's default TTL. */
export function settingsOfSoa(soa: ResourceRecord): ZoneSettings {
  const [, rname = '', , refresh, retry, expire, minimum] = rdataFields(soa.data)
  const email = mailboxOf(rname as DomainName)
  return {
    ...(email !== null && { soa_email: email }),
    refresh_sec: Number(refresh),
    retry_sec: Number(retry),
    expire_sec: Number(expire),
    ttl_sec: Number(minimum),
  }
}

/** The mail address that a name stands for: its first label is what comes before the `@` (RFC 1035 section 8). */
function mailboxOf(rname: DomainName): string | null {
  const [user, ...host] = labelsOf(rname)
  if (!user || host.length === 0) return null
  return `${Buffer.from(user).toString('utf8')}@${nameFromLabels(host).slice(0, -1)}`
}
