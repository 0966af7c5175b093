import type { Exporter } from './conversion.ts'

/** Every format that definitions can be exported to, one line each. Its code is read when it is used. */
const EXPORTERS: Readonly<Record<string, () => Promise<Exporter>>> = {
  csv: async () => (await import('./tables/export-csv.ts')).exportCsv,
  dnscontrol: async () => (await import('./dnscontrol/export-dnscontrol.ts')).exportDnscontrol,
  json: async () => (await import('./tables/export-json.ts')).exportJson,
  octodns: async () => (await import('./octodns/export-octodns.ts')).exportOctodns,
  zonefile: async () => (await import('./zone-files/export-zone-files.ts')).exportZoneFiles,
}

export const EXPORT_FORMATS: readonly string[] = Object.keys(EXPORTERS)

/** The exporter of a format; null where there is none. */
export const exporterOf = async (format: string): Promise<Exporter | null> =>
  Object.hasOwn(EXPORTERS, format) ? ((await EXPORTERS[format]?.()) ?? null) : null
