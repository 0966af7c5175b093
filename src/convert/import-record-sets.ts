/** Imports a zone of Route 53 from the output of `aws route53 list-resource-record-sets`. */
import { resolve } from 'node:path'
import { isObject } from '../base/text.ts'
import { isAtOrBelow, parseAbsoluteName } from '../dns/domain-name.ts'
import { displayPath } from '../files/file-path.ts'
import { readText } from '../files/read-text.ts'
import { sourcePolicy } from '../files/source-policy.ts'
import { readListing } from '../providers/registry.ts'
import { parseJson } from './import-tables.ts'
import { failedImport, type Importer, missingZones } from './importer.ts'
import { exportReader } from './provider-entry.ts'

/** Imports one zone: that of the SOA record. Record sets that plans cannot contain stay as they are at Route 53. */
export const importRecordSets: Importer = async ({ source, zones, cwd, config }) => {
  const path = resolve(cwd, source)
  const file = displayPath(path, cwd)
  const refuse = (message: string) => failedImport({ code: 'file-format', message: `${file} ${message}`, hint: SHOW })
  const text = await readText(path, file, sourcePolicy({ ...config, cwd }, 'allowed'))
  if (!text.ok) return failedImport(text.problem)
  const parsed = parseJson(text.text)
  const root = parsed.ok && isObject(parsed.value) ? parsed.value : {}
  const sets = root['ResourceRecordSets']
  if (!Array.isArray(sets)) return refuse('has no list "ResourceRecordSets"')
  if (root['IsTruncated'] === true || root['NextToken'] != null) return refuse('has one page of the zone')
  const apex = sets.filter(isObject).find((set) => set['Type'] === 'SOA')?.['Name']
  const name = typeof apex === 'string' ? parseAbsoluteName(apex) : null
  if (!name?.ok) return refuse('has no SOA record, so it is not a whole zone')
  const { entry, convert } = exportReader(config, { type: 'route53' })
  const listing = await readListing(entry, { name: name.value, id: '' }, sets)
  if (!listing.ok) return refuse(`is malformed: ${listing.message}`)
  const outside = [...listing.value.records, ...(listing.value.unplanned ?? [])].find((one) => !isAtOrBelow(one.name, name.value))
  if (outside !== undefined) return refuse(`has ${outside.name}, which is not in ${name.value}`)
  const { zone, dropped, diagnostics } = convert({ name: name.value, settings: {}, ...listing.value })
  return { zones: [zone], dropped, diagnostics: [...diagnostics, ...missingZones(zones, [zone], file)] }
}

const SHOW = 'make it with: aws route53 list-resource-record-sets --hosted-zone-id ID --output json > zone.json'
