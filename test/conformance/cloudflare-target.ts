import { scriptedTarget } from './scripted-target.ts'

const ACCOUNT = '2'.repeat(32)

/** The provider creates the zone. */
export const CLOUDFLARE = scriptedTarget('cloudflare', {
  options: { zones: [], account: ACCOUNT, plan: 'free', maxRecords: 20_000 },
  settings: `, account_id: '${ACCOUNT}'`,
  rejoinsTexts: true,
})
