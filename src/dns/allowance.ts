/** What `--allow` and the key `allow` lift: a safety limit, or the limit `in-use` for one name. */
import { parseAbsoluteName } from './domain-name.ts'
import { quoted } from './excerpt.ts'
import { failure, ok, type Result } from './result.ts'
import { type Allowance, REFUSAL_NAMES } from './zone.ts'

const OF_NAME = 'in-use:'

/** Parses an allowance. A name may lack its final dot and be in Unicode. */
export function parseAllowance(text: string): Result<Allowance> {
  const known = REFUSAL_NAMES.find((name) => name === text)
  if (known !== undefined) return ok(known)
  if (!text.startsWith(OF_NAME)) return failure(`${quoted(text)} is not one of ${REFUSAL_NAMES.join(', ')} and in-use:NAME`)
  const name = parseAbsoluteName(text.slice(OF_NAME.length))
  return name.ok ? ok<Allowance>(`in-use:${name.value}`) : failure(`${quoted(text)}: ${name.message}`)
}
