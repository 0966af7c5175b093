import { createScaleway } from '../scripted/scaleway/service.ts'
import { startScriptedTarget } from './scripted-target.ts'
import { type TargetKind, ZONE } from './targets.ts'

const KEY = 'scaleway-test-key'

export const SCALEWAY: TargetKind = {
  name: 'scaleway',
  tools: ['named-checkzone'],
  rejoinsTexts: true,
  start() {
    const scaleway = createScaleway({ token: KEY, zones: [{ domain: ZONE }] })
    return startScriptedTarget({
      service: scaleway.service,
      entry: (origin, more) => `{type: scaleway, base_url: '${origin}/domain/v2beta1', secret_key: env:SCW_SECRET_KEY${more}}`,
      env: { SCW_SECRET_KEY: KEY },
      // An ALIAS has no form in a zone file.
      lines: () =>
        (scaleway.records(ZONE) ?? []).flatMap(({ name, ttl, type, data }) =>
          type === 'ALIAS' || (type === 'NS' && name === '') ? [] : [`${name === '' ? '@' : name} ${ttl} IN ${type} ${data}`],
        ),
    })
  },
}
