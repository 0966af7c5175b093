/** The operations on the account that clients of the hosting service call before others: what it is, and what it can use in each region. */
import ACCOUNT from '../../../../schemas/service/account.json' with { type: 'json' }
import AVAILABILITY from '../../../../schemas/service/account-availability.json' with { type: 'json' }
import { findUser } from '../../store/account-store.ts'
import { catalogueRoutes } from '../catalogue/catalogue-routes.ts'
import { resource } from '../resource.ts'
import type { Route } from '../route.ts'

/** Nobody pays for this service, so it asks for no address. */
const WITHOUT_BILLING = {
  ...{ company: '', first_name: '', last_name: '', address_1: '', address_2: '', city: '', state: '', zip: '', country: '' },
  ...{ phone: '', tax_id: '', balance: 0, balance_uninvoiced: 0, active_promotions: [], credit_card: { last_four: null, expiry: null } },
}

/** The Account section of the API. */
export const ACCOUNT_ROUTES: readonly Route[] = [
  resource({ path: '/account', family: 'account', schema: ACCOUNT }).action(
    'GET',
    '/account',
    'Read the account',
    async ({ actor }, { database, regions }) => {
      const { email, created } = await database.read(async (connection) => {
        const account = connection.selectFrom('accounts').select('created').where('id', '=', actor.accountId)
        return { email: (await findUser(connection, actor.userId)).email, ...(await account.executeTakeFirstOrThrow()) }
      })
      const capabilities = [...new Set(regions.flatMap((region) => region.capabilities))]
      return { ...WITHOUT_BILLING, email, active_since: created, capabilities }
    },
    { response: ACCOUNT },
  ),
  ...catalogueRoutes({
    path: '/account/availability',
    parameter: 'regionId',
    list: 'List what the account can use in each region',
    get: 'Read what the account can use in a region',
    scope: 'account:read_only',
    schema: AVAILABILITY,
    items: ({ regions }) => regions,
    view: ({ id, capabilities }) => ({ region: id, available: capabilities, unavailable: [] }),
  }),
]
