const MOMENT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?$/i

/**
 * A moment from a request as the interface writes it: UTC to the second, without a zone suffix. Without a zone it is UTC; with
 * one (ISO 8601, RFC 3339) it is converted. Null where it is no moment of the calendar between the years 1970 and 9999.
 */
export function readMoment(text: string): string | null {
  const [, local, zone = 'Z'] = MOMENT.exec(text) ?? []
  if (local === undefined) return null
  const written = local.toUpperCase()
  const atUtc = Date.parse(`${written}Z`)
  // The thirtieth of February would be taken for the second of March.
  if (Number.isNaN(atUtc) || new Date(atUtc).toISOString().slice(0, 19) !== written) return null
  const moment = new Date(`${written}${zone.toUpperCase().replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')}`)
  const year = moment.getUTCFullYear()
  return year >= 1970 && year <= 9999 ? moment.toISOString().slice(0, 19) : null
}
