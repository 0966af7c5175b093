/** A scripted deSEC with the domain example.com, and a folder with a config for it. */
import type { DesecRrset } from '../../scripted/desec/rrsets.ts'
import { createDesec, type DesecOptions } from '../../scripted/desec/service.ts'
import { send } from '../../scripted/replay.ts'
import { type ScriptedScene, type ScriptedSceneOptions, startScriptedScene } from '../scripted-scene.ts'

export const TOKEN = 'secret-desec-token'

export interface DesecScene extends ScriptedScene {
  rrsets(domain?: string): readonly DesecRrset[] | null
  /** Changes RRsets as another client does. */
  patch(rrsets: readonly object[]): Promise<void>
}

export async function startDesecScene({
  definition,
  rrsets = [],
  answer,
  answerHeaders,
  ...options
}: Partial<DesecOptions> &
  Pick<ScriptedSceneOptions, 'answer' | 'answerHeaders'> & {
    readonly definition: string
    /** Bulk requests to create RRsets at the start. */
    readonly rrsets?: readonly object[]
  }): Promise<DesecScene> {
  const desec = createDesec({ token: TOKEN, domains: [{ name: 'example.com' }], ...options })
  const scene = await startScriptedScene({
    service: desec.service,
    entry: (origin) => `{type: desec, base_url: '${origin}/api/v1', token: env:TOKEN}`,
    token: TOKEN,
    answer,
    answerHeaders,
  })
  const patch = async (changes: readonly object[]): Promise<void> => {
    const url = `${scene.server.origin}/api/v1/domains/example.com/rrsets/`
    const { status, body } = await send(url, 'PATCH', JSON.stringify(changes), { authorization: `Token ${TOKEN}` })
    if (status !== 200) throw new Error(body)
  }
  for (let at = 0; at < rrsets.length; at += 2000) await patch(rrsets.slice(at, at + 2000))
  scene.define(definition)
  return { ...scene, rrsets: (domain = 'example.com') => desec.rrsets(domain), patch }
}
