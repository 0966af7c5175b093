import type { Importer } from './importer.ts'

/** Every format that zones can be imported from, one line each. Its code is read when it is used. */
const IMPORTERS: Readonly<Record<string, () => Promise<Importer>>> = {
  axfr: async () => (await import('./transfer/import-transfer.ts')).importByTransfer,
  dnscontrol: async () => (await import('./dnscontrol/import-dnscontrol.ts')).importDnscontrol,
  octodns: async () => (await import('./octodns/import-octodns.ts')).importOctodns,
  provider: async () => (await import('./provider/import-provider.ts')).importFromProvider,
  zonefile: async () => (await import('./zone-files/import-zone-files.ts')).importZoneFiles,
}

export const IMPORT_FORMATS: readonly string[] = Object.keys(IMPORTERS)

/** The importer of a format; null where there is none. */
export const importerOf = async (format: string): Promise<Importer | null> =>
  Object.hasOwn(IMPORTERS, format) ? ((await IMPORTERS[format]?.()) ?? null) : null
