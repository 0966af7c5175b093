import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import PHONE_NUMBER from '../../../../schemas/service/phone-number.json' with { type: 'json' }
import PHONE_VERIFY from '../../../../schemas/service/phone-verify.json' with { type: 'json' }
import { RequestError } from '../request-error.ts'
import { defineRoute } from '../route.ts'
import { forgetPhone, type SentCode, sendingOf, verifyPhone } from './phone-code.ts'
import { type PhoneBody, readPhoneNumber } from './phone-number.ts'

const send = defineRoute<PhoneBody>({
  method: 'POST',
  path: '/profile/phone-number',
  summary: 'Send a verification code by SMS; the same again while it is valid',
  name: 'sendProfilePhoneNumberCode',
  scope: 'account:read_write',
  needs: null,
  body: PHONE_NUMBER,
  response: EMPTY,
  handle: async ({ actor, body }, { database, secrets, clock, sms }) => {
    const to = await readPhoneNumber(body)
    const now = clock()
    const sent: SentCode = await database.write((connection) => sendingOf(connection, secrets, { userId: actor.userId, to, now }))
    try {
      await sms({ to, text: `Your Zonewright verification code is ${sent.code}. It is valid for ${minutes(sent.expires - now)}.` })
    } catch {
      throw new RequestError(502, [{ field: null, reason: 'The message could not be sent. The same request sends it again.' }])
    }
    return {}
  },
})

const verify = defineRoute<{ readonly otp_code: string }>({
  method: 'POST',
  path: '/profile/phone-number/verify',
  summary: 'Verify the number that a code was sent to',
  scope: 'account:read_write',
  needs: null,
  body: PHONE_VERIFY,
  response: EMPTY,
  handle: async ({ actor, body }, { database, secrets, clock }) => {
    const code = body.otp_code.trim()
    const refusal = await database.write((connection) => verifyPhone(connection, secrets, { userId: actor.userId, code, now: clock() }))
    if (refusal !== null) throw refusal
    return {}
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/profile/phone-number',
  summary: 'Delete the verified phone number',
  scope: 'account:read_write',
  needs: null,
  response: EMPTY,
  handle: async ({ actor }, { database, clock }) => {
    await database.write((connection) => forgetPhone(connection, actor.userId, clock()))
    return {}
  },
})

export const PHONE_ROUTES = [send, verify, remove] as const

const minutes = (milliseconds: number): string => {
  const whole = Math.max(1, Math.floor(milliseconds / 60_000))
  return whole === 1 ? '1 minute' : `${whole} minutes`
}
