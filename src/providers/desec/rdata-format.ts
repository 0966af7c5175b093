/** Rdata as the API writes it: that of dnspython, which reads every canonical text but the names of newer parameters of SVCB. */
import { parseAbsoluteName } from '../../dns/domain-name.ts'
import { canonicalRdata, rdataFields } from '../../dns/rdata/canonical.ts'
import { presentationTokens } from '../../dns/rdata/field.ts'
import { svcParamKey } from '../../dns/rdata/svc-param-forms.ts'
import type { Result } from '../../dns/result.ts'

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

/** Canonical rdata of a record of the API, or an error if it is malformed. */
export function rdataFromApi(type: string, content: string): Result<string> {
  const tokens = presentationTokens(content)
  return tokens.ok ? canonicalRdata(type, tokens.value, parseAbsoluteName) : tokens
}
