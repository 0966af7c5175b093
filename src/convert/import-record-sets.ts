/** Imports a zone of Route 53 from the output of `aws route53 list-resource-record-sets`. */
import { resolve } from 'node:path'
import type { Diagnostic } from '../base/diagnostic.ts'
import { isObject } from '../base/text.ts'
import { type DomainName, parseAbsoluteName } from '../dns/domain-name.ts'
import { displayPath } from '../files/file-path.ts'
import { readText } from '../files/read-text.ts'
import { sourcePolicy } from '../files/source-policy.ts'
import { readListing } from '../providers/registry.ts'
import { parseJson } from './import-tables.ts'
import { type Importer, missingZones } from './importer.ts'
import { convertProviderZone } from './provider/import-provider.ts'
import { targetOfExport } from './provider-entry.ts'

/** Imports one zone: that of the SOA record. Record sets that plans cannot contain stay as they are at Route 53. */
export const importRecordSets: Importer = async ({ source, zones, cwd, config }) => {
  const path = resolve(cwd, source)
  const file = displayPath(path, cwd)
  const refuse = (message: string, hint: string) => refusal({ code: 'file-format', message: `${file} ${message}`, hint })
  const text = await readText(path, file, sourcePolicy({ ...config, cwd }, 'allowed'))
  if (!text.ok) return refusal(text.problem)
  const parsed = parseJson(text.text)
  const root = parsed.ok && isObject(parsed.value) ? parsed.value : {}
  const sets = root['ResourceRecordSets']
  if (!Array.isArray(sets)) return refuse('has no list "ResourceRecordSets"', SHOW)
  if (root['IsTruncated'] === true || root['NextToken'] != null) return refuse('has one page of the zone', SHOW)
  const name = apexOf(sets)
  if (name === null) return refuse('has no SOA record, so it is not a whole zone', SHOW)
  const missing = missingZones(zones, [{ name }], file)
  if (missing.length > 0) return { zones: [], dropped: [], diagnostics: missing }
  const { entry, zoneTarget } = targetOfExport(config, { type: 'route53' })
  const listing = await readListing(entry, { name, id: '' }, sets)
  if (!listing.ok) return refuse(`is malformed: ${listing.message}`, SHOW)
  const { zone, dropped, diagnostics } = convertProviderZone({ name, settings: {}, ...listing.value }, config, zoneTarget)
  return { zones: [zone], dropped, diagnostics }
}

const SHOW = 'make it with: aws route53 list-resource-record-sets --hosted-zone-id ID --output json > zone.json'

const refusal = (problem: Omit<Diagnostic, 'severity'>) => ({
  zones: [],
  dropped: [],
  diagnostics: [{ severity: 'error', ...problem } as const],
})

function apexOf(sets: readonly unknown[]): DomainName | null {
  const soa = sets.filter(isObject).find((set) => set['Type'] === 'SOA')
  const name = soa && parseAbsoluteName(String(soa['Name']))
  return name?.ok ? name.value : null
}
