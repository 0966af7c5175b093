/**
 * A provider that stores each zone as a JSON file of a folder: `example.com.json` is a list of RRsets. Replace `readZoneFile` and `writeZoneFile`
 * by the calls of your server, and adapt the capabilities.
 *
 * @typedef {import('zonewright/provider').ProviderPackage} ProviderPackage
 * @typedef {{ name: string, type: string, ttl: number, data: string[] }} Rrset
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ProviderError } from 'zonewright/provider'

const SUFFIX = '.json'

/** Seconds, for records without a TTL. */
const DEFAULT_TTL = 3600

/** @type {ProviderPackage} */
export const provider = {
  // The version of the interface that this package is written for. Zonewright refuses a package that is written for another.
  apiVersion: 1,
  settings: {
    type: 'object',
    required: ['folder'],
    properties: { folder: { description: 'The folder of the files, relative to the config.', type: 'string', minLength: 1 } },
    additionalProperties: false,
  },
  capabilities: {
    calls: { unit: 'rrset', maxUnits: null, maxOctets: null, atomic: true, hasPrecondition: true, createsZoneWithRecords: false },
    fallbackTtl: DEFAULT_TTL,
    createsZones: true,
    // Only names that are safe as the name of a file.
    canCreateZone: (name) => /^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.$/.test(name),
  },
  create({ name: provider, settings, folder: configFolder }) {
    const folder = resolve(configFolder, String(settings.folder))
    const pathOf = (/** @type {string} */ zone) => join(folder, `${zone.slice(0, -1)}${SUFFIX}`)

    /** @type {(zone: string) => Promise<Rrset[]>} */
    const readZoneFile = async (zone) => JSON.parse(await readFile(pathOf(zone), 'utf8'))
    /** The file appears completely or not at all. @type {(zone: string, rrsets: readonly Rrset[]) => Promise<void>} */
    const writeZoneFile = async (zone, rrsets) => {
      await mkdir(folder, { recursive: true })
      const temporary = `${pathOf(zone)}.tmp`
      await writeFile(temporary, `${JSON.stringify(rrsets, null, 2)}\n`)
      await rename(temporary, pathOf(zone))
    }

    return {
      address: `file://${folder}`,
      // One call at a time: each replaces a whole file.
      parallelism: 1,
      async listZones() {
        const files = await readdir(folder).catch(() => [])
        return files.filter((file) => file.endsWith(SUFFIX)).map((file) => ({ name: `${file.slice(0, -SUFFIX.length)}.` }))
      },
      async readZone({ name }) {
        const rrsets = await readZoneFile(name)
        return rrsets.flatMap(({ data, ...rrset }) => data.map((one) => ({ ...rrset, data: one })))
      },
      async apply(zone, { changes, rrsets }) {
        const [change] = changes
        if (change?.subject === 'domain') {
          if (change.action === 'create') await writeZoneFile(change.name, [])
          else await rm(pathOf(change.name))
        }
        if (zone === null || change?.subject === 'domain') return undefined
        const stored = new Map((await readZoneFile(zone.name)).map((rrset) => [`${rrset.name} ${rrset.type}`, rrset]))
        for (const { name, type, existing, desired } of rrsets) {
          const key = `${name} ${type}`
          // Another client may have changed the RRset after it was read for the plan.
          const isAsExpected = JSON.stringify(stored.get(key)?.data.toSorted() ?? []) === JSON.stringify(existing?.data ?? [])
          if (!isAsExpected) throw new ProviderError('provider-conflict', `${provider}: ${key} was changed by another client`)
          if (desired === null) stored.delete(key)
          else stored.set(key, { name, type, ttl: desired.ttl ?? DEFAULT_TTL, data: [...desired.data] })
        }
        await writeZoneFile(zone.name, [...stored.values()])
        return undefined
      },
      async close() {},
    }
  },
}
