import ZONE_FILE from '../../../../schemas/service/zone-file.json' with { type: 'json' }
import { findDomain } from '../../store/domain-store.ts'
import { findZoneFile } from '../../store/zone-file-store.ts'
import { READS_DOMAIN } from '../grants.ts'
import { notFound } from '../request-error.ts'
import { defineRoute } from '../route.ts'

export const ZONE_FILE_ROUTE = defineRoute({
  method: 'GET',
  path: '/domains/{domainId}/zone-file',
  summary: 'Read the zone as it was rendered last',
  scope: 'domains:read_only',
  needs: READS_DOMAIN,
  response: ZONE_FILE,
  handle: async ({ actor, ids }, { database }) => {
    const file = await database.read(async (connection) => {
      const domain = await findDomain(connection, actor.accountId, ids['domainId'] as number)
      if (domain === null) throw notFound()
      return findZoneFile(connection, domain.id)
    })
    return { zone_file: file === null ? [] : file.text.split('\n') }
  },
})
