/** A scripted DigitalOcean with the domain example.com, and records for it. */
import type { DigitalOceanRecord } from '../../scripted/digitalocean/records.ts'
import type { DigitalOceanOptions } from '../../scripted/digitalocean/service.ts'
import { type SceneOptions, startCloudScene } from '../scripted-scene.ts'

const DOMAIN = 'example.com'
const NONE = { priority: null, port: null, weight: null, flags: null, tag: null }

/** A record that exists at the start. */
export const record = (id: number, name: string, type: string, data: string, more: Partial<DigitalOceanRecord> = {}) =>
  ({ id, name, type, data, ttl: 3600, ...NONE, ...more }) satisfies DigitalOceanRecord

export async function startDigitalOceanScene({
  records,
  ...options
}: SceneOptions & Partial<Omit<DigitalOceanOptions, 'records'>> & { readonly records?: readonly DigitalOceanRecord[] }) {
  const scene = await startCloudScene('digitalocean', { ...(records && { records: new Map([[DOMAIN, records]]) }), ...options })
  return {
    ...scene,
    /** Those of the domain, without SOA and NS records of the apex; null if it does not exist. */
    records: (domain = DOMAIN) =>
      scene.scripted.records(domain)?.filter(({ type, name }) => type !== 'SOA' && !(type === 'NS' && name === '@')) ?? null,
  }
}
