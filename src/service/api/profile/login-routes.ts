import LOGIN from '../../../../schemas/service/login.json' with { type: 'json' }
import { clockText } from '../../clock-text.ts'
import { findLogin, LOGIN_DAYS, listLogins, type StoredLogin } from '../../store/access-store.ts'
import { offsetOf, pageOf, pageSchema } from '../paging.ts'
import { orNotFound } from '../request-error.ts'
import { defineRoute, type Service } from '../route.ts'

const list = defineRoute({
  method: 'GET',
  path: '/profile/logins',
  summary: "List the user's logins of the last 90 days",
  scope: 'account:read_only',
  needs: null,
  filter: {},
  response: pageSchema(LOGIN),
  handle: async ({ actor, paging, filter }, { database, clock }) => {
    const query = { filter, offset: offsetOf(paging), limit: paging.pageSize }
    const { items, total } = await database.read((connection) => listLogins(connection, actor.userId, beginning(clock), query))
    return pageOf(paging, total, items.map(answerOf))
  },
})

const get = defineRoute({
  method: 'GET',
  path: '/profile/logins/{loginId}',
  summary: 'Read a login of the last 90 days',
  scope: 'account:read_only',
  needs: null,
  response: LOGIN,
  handle: async ({ actor, ids }, { database, clock }) => {
    const id = ids['loginId'] as number
    return answerOf(orNotFound(await database.read((connection) => findLogin(connection, actor.userId, id, beginning(clock)))))
  },
})

export const LOGIN_ROUTES = [list, get] as const

const beginning = (clock: Service['clock']): string => clockText(clock() - LOGIN_DAYS * 86_400_000)

const answerOf = ({ restricted, ...login }: StoredLogin): object => ({ ...login, restricted: restricted !== 0 })
