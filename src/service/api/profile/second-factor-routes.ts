import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import TFA_CONFIRM from '../../../../schemas/service/tfa-confirm.json' with { type: 'json' }
import TFA_SCRATCH from '../../../../schemas/service/tfa-scratch.json' with { type: 'json' }
import TFA_SECRET from '../../../../schemas/service/tfa-secret.json' with { type: 'json' }
import { removeSecondFactor } from '../../store/user-secret-store.ts'
import { defineRoute } from '../route.ts'
import { confirmSecret, issueSecret } from './second-factor.ts'
import { loadTotp, makeScratch } from './totp.ts'

const enable = defineRoute({
  method: 'POST',
  path: '/profile/tfa-enable',
  summary: 'Create a secret for a second factor, to be confirmed before it expires',
  name: 'createProfileSecondFactor',
  scope: 'account:read_write',
  needs: null,
  response: TFA_SECRET,
  handle: async ({ actor }, { database, secrets, clock }) => {
    const secret = (await loadTotp()).makeSecret()
    const expiry = await database.write((connection) => issueSecret(connection, secrets, secret, { userId: actor.userId, now: clock() }))
    return { secret, expiry }
  },
})

const confirm = defineRoute<{ readonly tfa_code: string }>({
  method: 'POST',
  path: '/profile/tfa-enable-confirm',
  summary: 'Confirm the secret with a code of it, and have the second factor from then on',
  name: 'confirmProfileSecondFactor',
  scope: 'account:read_write',
  needs: null,
  body: TFA_CONFIRM,
  response: TFA_SCRATCH,
  handle: async ({ actor, body }, { database, secrets, clock }) => {
    const totp = await loadTotp()
    const scratch = makeScratch()
    // As authenticators show it, in groups.
    const code = body.tfa_code.replace(/\s+/g, '')
    const refusal = await database.write((connection) =>
      confirmSecret(connection, secrets, totp, { userId: actor.userId, now: clock(), code, scratch }),
    )
    if (refusal !== null) throw refusal
    return { scratch }
  },
})

const disable = defineRoute({
  method: 'POST',
  path: '/profile/tfa-disable',
  summary: 'Switch the second factor off, and forget its secret',
  name: 'disableProfileSecondFactor',
  scope: 'account:read_write',
  needs: null,
  response: EMPTY,
  handle: async ({ actor }, { database }) => {
    await database.write((connection) => removeSecondFactor(connection, actor.userId))
    return {}
  },
})

export const SECOND_FACTOR_ROUTES = [enable, confirm, disable] as const
