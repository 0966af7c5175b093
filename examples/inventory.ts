/** Makes a zone from an inventory of hosts, and applies it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ApplyOptions, type ApplyResult, apply } from 'zonewright'

export interface Host {
  readonly name: string
  readonly address: string
}

/** Writes the definition of the zone. JSON is YAML, so this needs no library. */
export function writeZone(folder: string, domain: string, hosts: readonly Host[]): void {
  const records = Object.fromEntries(hosts.map(({ name, address }) => [name, { type: 'A', value: address }]))
  const definition = { domain, soa_email: `hostmaster@${domain}`, records }
  mkdirSync(join(folder, 'zones'), { recursive: true })
  writeFileSync(join(folder, 'zones', `${domain}.yaml`), `${JSON.stringify(definition, null, 2)}\n`)
}

/** Applies the zone. An inventory that lost many hosts at once is more likely wrong than right: Zonewright refuses it, and so does `confirm`. */
export async function applyInventory(
  folder: string,
  domain: string,
  hosts: readonly Host[],
  options: ApplyOptions = {},
): Promise<ApplyResult> {
  writeZone(folder, domain, hosts)
  const applied = await apply({
    ...options,
    cwd: folder,
    zones: [domain],
    confirm: ({ summary }) => summary.delete <= 20,
    onProgress: ({ phase, done, total }) => console.error(`${phase} ${done} of ${total}`),
  })
  for (const { severity, code, message } of applied.diagnostics) console.error(`${severity}[${code}] ${message}`)
  return applied
}
