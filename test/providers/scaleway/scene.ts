/** A scripted Scaleway with the zone example.com, and a folder with a config for it. */

import { send } from '../../scripted/replay.ts'
import type { ScalewayRecord } from '../../scripted/scaleway/records.ts'
import { createScaleway, type ScalewayOptions } from '../../scripted/scaleway/service.ts'
import { type ScriptedScene, type ScriptedSceneOptions, startScriptedScene } from '../scripted-scene.ts'

export const KEY = 'secret-scaleway-key'

export interface ScalewayScene extends ScriptedScene {
  records(zone?: string): readonly ScalewayRecord[] | null
  /** Adds records as another client does. */
  add(records: readonly object[]): Promise<void>
}

export async function startScalewayScene({
  definition,
  added = [],
  answer,
  settings = '',
  ...options
}: Partial<ScalewayOptions> &
  Pick<ScriptedSceneOptions, 'answer'> & {
    readonly definition: string
    /** Records to add at the start. */
    readonly added?: readonly object[]
    /** More settings of the provider, such as `, project_id: …`. */
    readonly settings?: string
  }): Promise<ScalewayScene> {
  const scaleway = createScaleway({ token: KEY, zones: [{ domain: 'example.com' }], ...options })
  const scene = await startScriptedScene({
    service: scaleway.service,
    entry: (origin) => `{type: scaleway, base_url: '${origin}/domain/v2beta1', secret_key: env:TOKEN${settings}}`,
    token: KEY,
    answer,
  })
  const add = async (records: readonly object[]): Promise<void> => {
    const url = `${scene.server.origin}/domain/v2beta1/dns-zones/example.com/records`
    const { status, body } = await send(url, 'PATCH', JSON.stringify({ changes: [{ add: { records } }] }), { 'x-auth-token': KEY })
    if (status !== 200) throw new Error(body)
  }
  if (added.length > 0) await add(added)
  scene.define(definition)
  return { ...scene, records: (zone = 'example.com') => scaleway.records(zone), add }
}
