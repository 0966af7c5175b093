import PREFERENCES from '../../../../schemas/service/preferences.json' with { type: 'json' }
import { clientOf } from '../../store/access-store.ts'
import { findPreferences, savePreferences } from '../../store/account-store.ts'
import { defineRoute } from '../route.ts'
import { preferencesText } from './preferences.ts'

const get = defineRoute({
  method: 'GET',
  path: '/profile/preferences',
  summary: 'Read the preferences that are kept for the client of the acting token',
  scope: 'account:read_only',
  needs: null,
  response: PREFERENCES,
  handle: async ({ actor }, { database }) => {
    const text = await database.read(async (connection) =>
      findPreferences(connection, actor.userId, await clientOf(connection, actor.appId)),
    )
    return text === null ? {} : JSON.parse(text)
  },
})

const update = defineRoute<object>({
  method: 'PUT',
  path: '/profile/preferences',
  summary: 'Replace all preferences that are kept for the client of the acting token',
  scope: 'account:read_write',
  needs: null,
  body: PREFERENCES,
  response: PREFERENCES,
  handle: async ({ actor, body }, { database }) => {
    const text = preferencesText(body)
    await database.write(async (connection) => savePreferences(connection, actor.userId, await clientOf(connection, actor.appId), text))
    return JSON.parse(text)
  },
})

export const PREFERENCE_ROUTES = [get, update] as const
