import { randomInt } from 'node:crypto'
import type { NumberType } from 'libphonenumber-js'
import { invalid, type RequestProblem } from '../request-error.ts'

/** Numbers that receive no messages, or at somebody's cost. */
const WITHOUT_MESSAGES: readonly NumberType[] = ['PREMIUM_RATE', 'SHARED_COST', 'TOLL_FREE', 'UAN', 'PAGER', 'VOICEMAIL']

export interface PhoneBody {
  readonly iso_code: string
  readonly phone_number: string
}

/**
 * The number in E.164: `phone_number` as it is written within the country of `iso_code`, or with its calling code. Throws 400 where
 * there is no such country or number. The numbering plans of all countries are loaded with the first.
 */
export async function readPhoneNumber({ iso_code, phone_number }: PhoneBody): Promise<string> {
  const { getCountryCallingCode, isSupportedCountry, parsePhoneNumberFromString } = await import('libphonenumber-js/max')
  const country = iso_code.toUpperCase()
  if (!isSupportedCountry(country)) throw refused('iso_code', 'iso_code is not valid')
  const number = parsePhoneNumberFromString(phone_number, { defaultCountry: country, extract: false })
  if (!number?.isValid() || number.ext !== undefined || number.countryCallingCode !== getCountryCallingCode(country)) {
    throw refused('phone_number', 'phone_number is not valid')
  }
  if (WITHOUT_MESSAGES.includes(number.getType())) throw refused('phone_number', 'This number cannot receive messages.')
  return number.number
}

/** A code of six digits that cannot be guessed. */
export const makePhoneCode = (): string => String(randomInt(1_000_000)).padStart(6, '0')

const refused = (field: RequestProblem['field'], reason: string) => invalid({ field, reason })
