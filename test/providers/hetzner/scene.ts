/** A scripted Hetzner with the zone example.com, and a folder with a config for it. */
import type { HetznerRrset } from '../../scripted/hetzner/rrsets.ts'
import { createHetzner, type HetznerOptions } from '../../scripted/hetzner/service.ts'
import { defaultRrsets, type HetznerZone } from '../../scripted/hetzner/zones.ts'
import { send } from '../../scripted/replay.ts'
import { type ScriptedScene, type ScriptedSceneOptions, startScriptedScene } from '../scripted-scene.ts'

export const TOKEN = 'secret-hetzner-token'
export const ZONE = 53_091

export interface HetznerScene extends ScriptedScene {
  rrsets(zone?: number): readonly HetznerRrset[]
  zones(): readonly HetznerZone[]
  /** Sends a request as another client does. */
  send(method: string, path: string, body?: object): Promise<void>
}

/** A record set that exists at the start. */
export const rrset = (name: string, type: string, values: readonly string[], more: Partial<HetznerRrset> = {}): HetznerRrset => ({
  id: `${name}/${type}`,
  name,
  type,
  ttl: 3600,
  labels: {},
  protection: { change: false },
  records: values.map((value) => ({ value, comment: '' })),
  zone: ZONE,
  ...more,
})

export async function startHetznerScene({
  definition,
  rrsets = [],
  settings = '',
  answer,
  ...options
}: Partial<HetznerOptions> &
  Pick<ScriptedSceneOptions, 'answer'> & {
    readonly definition: string
    /** More settings of the provider, such as `, timeout: 1`. */
    readonly settings?: string
  }): Promise<HetznerScene> {
  const hetzner = createHetzner({
    token: TOKEN,
    zones: [{ id: ZONE, name: 'example.com' }],
    rrsets: [...defaultRrsets(ZONE), ...rrsets],
    stepsOf: () => null,
    ...options,
  })
  const scene = await startScriptedScene({
    service: hetzner.service,
    entry: (origin) => `{type: hetzner, base_url: '${origin}/v1', token: env:TOKEN${settings}}`,
    token: TOKEN,
    answer,
  })
  scene.define(definition)
  return {
    ...scene,
    rrsets: (zone = ZONE) => hetzner.rrsets(zone).filter(({ type, name }) => type !== 'SOA' && !(type === 'NS' && name === '@')),
    zones: hetzner.zones,
    async send(method, path, body) {
      const text = body === undefined ? '' : JSON.stringify(body)
      const answered = await send(`${scene.server.origin}/v1${path}`, method, text, { authorization: `Bearer ${TOKEN}` })
      if (answered.status >= 300) throw new Error(answered.body)
    },
  }
}
