import type { Exporter } from '../../model/exchange.ts'

/** Every format that definitions can be exported to, one line each. Its code is read when it is used. */
const EXPORTERS: Readonly<Record<string, () => Promise<Exporter>>> = {
  csv: async () => (await import('../../formats/tables/export-csv.ts')).exportCsv,
  dnscontrol: async () => (await import('../../formats/dnscontrol/export-dnscontrol.ts')).exportDnscontrol,
  json: async () => (await import('../../formats/tables/export-json.ts')).exportJson,
  octodns: async () => (await import('../../formats/octodns/export-octodns.ts')).exportOctodns,
  zonefile: async () => (await import('../../formats/zone-file/export-zone-files.ts')).exportZoneFiles,
}

export const EXPORT_FORMATS: readonly string[] = Object.keys(EXPORTERS)

/** The exporter of a format; null where there is none. */
export const exporterOf = async (format: string): Promise<Exporter | null> =>
  Object.hasOwn(EXPORTERS, format) ? ((await EXPORTERS[format]?.()) ?? null) : null
