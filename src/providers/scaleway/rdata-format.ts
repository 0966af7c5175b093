/** Rdata as the API writes it: in presentation form, with absolute names. */
import { octetsToTxtRdata, txtRdataToOctets } from '../../dns/character-string.ts'
import { parseRdata } from '../../dns/rdata/canonical.ts'
import { ok, type Result } from '../../dns/result.ts'

/** Canonical rdata of a record of the API, or an error if it is malformed. */
export function rdataFromApi(type: string, data: string): Result<string> {
  if (type === 'TXT' && !data.startsWith('"')) return ok(octetsToTxtRdata(Buffer.from(data, 'utf8')))
  const canonical = parseRdata(type, data)
  return canonical.ok && type === 'TXT' ? ok(octetsToTxtRdata(txtRdataToOctets(canonical.value))) : canonical
}
