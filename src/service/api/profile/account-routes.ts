/** The operations on the account that clients of the hosting service call before others: what it is, and what it can use in each region. */
import ACCOUNT from '../../../../schemas/service/account.json' with { type: 'json' }
import AVAILABILITY from '../../../../schemas/service/account-availability.json' with { type: 'json' }
import type { Region } from '../../catalogue/regions.ts'
import { selectItems } from '../../filter/filter.ts'
import { findUser } from '../../store/account-store.ts'
import { pageOf, pageSchema } from '../paging.ts'
import { orNotFound } from '../request-error.ts'
import { defineRoute, type Route } from '../route.ts'

/** Nobody pays for this service, so it asks for no address. */
const WITHOUT_BILLING = {
  ...{ company: '', first_name: '', last_name: '', address_1: '', address_2: '', city: '', state: '', zip: '', country: '' },
  ...{ phone: '', tax_id: '', balance: 0, balance_uninvoiced: 0, active_promotions: [], credit_card: { last_four: null, expiry: null } },
}

const getAccount = defineRoute({
  method: 'GET',
  path: '/account',
  summary: 'Read the account',
  scope: 'account:read_only',
  grants: null,
  response: ACCOUNT,
  handle: async ({ actor }, { database, regions }) => {
    const { email, created } = await database.read(async (connection) => {
      const account = connection.selectFrom('accounts').select('created').where('id', '=', actor.accountId)
      return { email: (await findUser(connection, actor.userId)).email, ...(await account.executeTakeFirstOrThrow()) }
    })
    const capabilities = [...new Set(regions.flatMap((region) => region.capabilities))]
    return { ...WITHOUT_BILLING, email, active_since: created, capabilities }
  },
})

const availabilityOf = ({ id, capabilities }: Region) => ({ region: id, available: capabilities, unavailable: [] })

const listAvailability = defineRoute({
  method: 'GET',
  path: '/account/availability',
  summary: 'List what the account can use in each region',
  scope: 'account:read_only',
  grants: null,
  filter: {},
  response: pageSchema(AVAILABILITY),
  handle: async ({ query }, { regions }) => pageOf(query, selectItems(regions.map(availabilityOf), query, {})),
})

const getAvailability = defineRoute({
  method: 'GET',
  path: '/account/availability/{regionId}',
  textParameters: ['regionId'],
  summary: 'Read what the account can use in a region',
  scope: 'account:read_only',
  grants: null,
  response: AVAILABILITY,
  handle: async ({ texts }, { regions }) => availabilityOf(orNotFound(regions.find(({ id }) => id === texts['regionId']) ?? null)),
})

/** The Account section of the API. */
export const ACCOUNT_ROUTES: readonly Route[] = [getAccount, listAvailability, getAvailability]
