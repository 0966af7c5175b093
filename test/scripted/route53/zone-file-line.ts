/** Prints record sets of the API as lines of a zone file, for judges that read those. */
import type { RecordSet } from './record-sets.ts'

/** Octal escapes as the decimal ones of zone files. */
const decimal = (text: string): string =>
  text.replace(/\\(?:([0-3][0-7]{2})|(.))/gs, (whole, digits: string | undefined) =>
    digits === undefined ? whole : `\\${String(Number.parseInt(digits, 8)).padStart(3, '0')}`,
  )

const ENDS_IN_NAME: ReadonlySet<string> = new Set(['CNAME', 'MX', 'NAPTR', 'NS', 'PTR', 'SRV'])

/** No lines for an alias, which has no form in a zone file. */
export const zoneFileLines = ({ name, type, ttl, values }: RecordSet): string[] =>
  values.map((value) => {
    const text = decimal(value)
    return `${decimal(name)} ${ttl} IN ${type} ${ENDS_IN_NAME.has(type) && !text.endsWith('.') ? `${text}.` : text}`
  })
