import { createAzure } from '../scripted/azure/service.ts'
import { zoneFileLines } from '../scripted/azure/zone-file-lines.ts'
import { startScriptedTarget } from './scripted-target.ts'
import { type TargetKind, ZONE } from './targets.ts'

const TOKEN = 'azure-test-token'
const SUBSCRIPTION = '11111111-1111-4111-8111-111111111111'

export const AZURE: TargetKind = {
  name: 'azure',
  tools: ['named-checkzone'],
  // Each record set is a request of its own.
  maxSize: 130,
  // The apex keeps the name servers of Azure.
  defects: { '26. NS only APEX': /cannot be removed from the NS record set/ },
  start() {
    const azure = createAzure({ subscription: SUBSCRIPTION, resourceGroup: 'dns', token: TOKEN, zones: [{ name: ZONE }], pageSize: 100 })
    return startScriptedTarget({
      service: azure.service,
      entry: (origin, more) =>
        `{type: azure, subscription: ${SUBSCRIPTION}, resource_group: dns, base_url: '${origin}', token: env:AZURE_TOKEN${more}}`,
      env: { AZURE_TOKEN: TOKEN },
      lines: () => azure.sets(ZONE).flatMap((set) => zoneFileLines(set, ZONE)),
    })
  },
}
