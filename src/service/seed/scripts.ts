import SCRIPT from '../../../schemas/service/seed-scripts.json' with { type: 'json' }
import { problemsOf } from '../api/request-error.ts'
import { readUserDefinedFields } from '../api/scripts/user-defined-fields.ts'
import { findByLabel } from '../store/grant-store.ts'
import { ANY_IMAGE, insertScript, type ScriptContent } from '../store/script-store.ts'
import { defineSeedPart } from './seed-part.ts'

type Entry = Pick<ScriptContent, 'label' | 'script'> & Partial<ScriptContent>

/** Provisioning scripts, by label; the account's first user has made them. */
export const SCRIPTS = defineSeedPart<Entry, ScriptContent>({
  key: 'scripts',
  schema: SCRIPT,
  unique: { owner: ['label'] },
  read: (entry, tell) => {
    for (const { reason } of problemsOf(() => readUserDefinedFields(entry.script))) tell(['script'], reason)
    return { description: '', images: [ANY_IMAGE], is_public: false, rev_note: '', ...entry }
  },
  make: async (connection, { accountId, userId }, content, now) => {
    if ((await findByLabel(connection, 'script', accountId, content.label)).length > 0) return
    await insertScript(connection, { accountId, userId, restricted: false }, content, now)
  },
})
