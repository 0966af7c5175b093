/** All formats of import and export. */
import type { Exporter } from './exporter.ts'
import type { Importer } from './importer.ts'

/** Every format that zones can be imported from. A format's code is loaded on first use. */
const IMPORTERS: Readonly<Record<string, () => Promise<Importer>>> = {
  axfr: async () => (await import('./import-transfer.ts')).importByTransfer,
  cloudflare: async () => (await import('./zone-files/import-cloudflare-export.ts')).importCloudflareExport,
  csv: async () => (await import('./import-tables.ts')).importCsv,
  dnscontrol: async () => (await import('./dnscontrol/import-dnscontrol.ts')).importDnscontrol,
  json: async () => (await import('./import-tables.ts')).importJson,
  octodns: async () => (await import('./octodns/import-octodns.ts')).importOctodns,
  provider: async () => (await import('./provider/import-provider.ts')).importFromProvider,
  route53: async () => (await import('./import-record-sets.ts')).importRecordSets,
  terraform: async () => (await import('./terraform/import-terraform.ts')).importTerraform,
  zonefile: async () => (await import('./zone-files/import-zone-files.ts')).importZoneFiles,
}

/** Every format that definitions can be exported to. A format's code is loaded on first use. */
const EXPORTERS: Readonly<Record<string, () => Promise<Exporter>>> = {
  csv: async () => (await import('./export-tables.ts')).exportCsv,
  dnscontrol: async () => (await import('./dnscontrol/export-dnscontrol.ts')).exportDnscontrol,
  json: async () => (await import('./export-tables.ts')).exportJson,
  octodns: async () => (await import('./octodns/export-octodns.ts')).exportOctodns,
  zonefile: async () => (await import('./zone-files/export-zone-files.ts')).exportZoneFiles,
}

export const IMPORT_FORMATS: readonly string[] = Object.keys(IMPORTERS)

export const EXPORT_FORMATS: readonly string[] = Object.keys(EXPORTERS)

/** The importer of a format; null if there is none. */
export const importerOf = (format: string): Promise<Importer | null> => load(IMPORTERS, format)

/** The exporter of a format; null if there is none. */
export const exporterOf = (format: string): Promise<Exporter | null> => load(EXPORTERS, format)

const load = async <T>(formats: Readonly<Record<string, () => Promise<T>>>, format: string): Promise<T | null> =>
  Object.hasOwn(formats, format) ? ((await formats[format]?.()) ?? null) : null
