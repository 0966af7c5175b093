/** A scripted DigitalOcean with the domain example.com, and a folder with a config for it. */
import type { DigitalOceanRecord } from '../../scripted/digitalocean/records.ts'
import { createDigitalOcean, type DigitalOceanOptions } from '../../scripted/digitalocean/service.ts'
import { type ScriptedScene, type ScriptedSceneOptions, startScriptedScene } from '../scripted-scene.ts'

export const TOKEN = 'secret-digitalocean-token'
const DOMAIN = 'example.com'

export interface DigitalOceanScene extends ScriptedScene {
  /** Those of the domain, without SOA and NS records of the apex; null if it does not exist. */
  records(domain?: string): readonly DigitalOceanRecord[] | null
}

/** A record that exists at the start. */
export const record = (
  id: number,
  name: string,
  type: string,
  data: string,
  more: Partial<DigitalOceanRecord> = {},
): DigitalOceanRecord => ({
  id,
  name,
  type,
  data,
  priority: null,
  port: null,
  ttl: 3600,
  weight: null,
  flags: null,
  tag: null,
  ...more,
})

export async function startDigitalOceanScene({
  definition,
  records,
  answer,
  ...options
}: Partial<Omit<DigitalOceanOptions, 'records'>> &
  Pick<ScriptedSceneOptions, 'answer'> & {
    readonly definition: string
    readonly records?: readonly DigitalOceanRecord[]
  }): Promise<DigitalOceanScene> {
  const digitalOcean = createDigitalOcean({
    token: TOKEN,
    domains: [DOMAIN],
    ...(records && { records: new Map([[DOMAIN, records]]) }),
    ...options,
  })
  const scene = await startScriptedScene({
    service: digitalOcean.service,
    entry: (origin) => `{type: digitalocean, base_url: '${origin}/v2', token: env:TOKEN}`,
    token: TOKEN,
    answer,
  })
  scene.define(definition)
  return {
    ...scene,
    records: (domain = DOMAIN) =>
      digitalOcean.records(domain)?.filter(({ type, name }) => type !== 'SOA' && !(type === 'NS' && name === '@')) ?? null,
  }
}
