/** Zones as other programs transfer them. */
import { type TsigKey, transferZone } from '../../support/tools.ts'

export const plain = (lines: readonly string[] = []): string[] => lines.map((line) => line.replace(/\s+/g, ' ')).sort()

/** The full zone from a server, sorted, with one SOA; empty if the server refuses it. */
export const zoneAt = async (host: string, port: number, name: string, key?: TsigKey): Promise<string[]> =>
  plain(await transferZone({ host, port, name, ...(key && { key }), options: ['+onesoa'] }))

export const serialIn = (lines: readonly string[]): number => Number(lines.find((line) => line.includes(' SOA '))?.split(' ')[6])
