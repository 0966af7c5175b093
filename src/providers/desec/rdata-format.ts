import { rdataFields } from '../../dns/rdata/canonical.ts'
import { svcParamKey } from '../../dns/rdata/svc-param-forms.ts'

/** The last parameter of SVCB whose name every version knows: ipv6hint. */
const LAST_NAMED_KEY = 6

/** Rdata for a request. The data must be canonical. */
export function rdataToApi(type: string, data: string): string {
  if (type !== 'SVCB' && type !== 'HTTPS') return data
  const [priority, target, ...parameters] = rdataFields(data)
  const numbered = parameters.map((parameter) =>
    parameter.replace(/^[a-z0-9-]+/, (name) => {
      const key = svcParamKey(name) ?? 0
      return key > LAST_NAMED_KEY ? `key${key}` : name
    }),
  )
  return [priority, target, ...numbered].join(' ')
}
