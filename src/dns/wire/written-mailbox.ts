import type { Result } from '../result.ts'
import { skipName } from './decode-message.ts'
import { HEADER_OCTETS } from './message.ts'
import { createReader, readOctets, readU16, readWrittenName } from './reader.ts'
import { decoding } from './wire-problem.ts'

/**
 * The mailbox of the SOA record that is the first answer of a message, with the capital letters it has there: they are part of the mail address (RFC 5321
 * section 2.4), and decoded names have none. Of another record it is nothing of use.
 */
export const writtenMailbox = (octets: Uint8Array): Result<string> =>
  decoding(() => {
    const reader = createReader(octets)
    readOctets(reader, 4)
    const questions = readU16(reader)
    readOctets(reader, HEADER_OCTETS - 6)
    for (let i = 0; i < questions; i += 1) {
      skipName(reader)
      readOctets(reader, 4)
    }
    skipName(reader)
    // Type, class, TTL and the length of the data, which begin with the name of the primary.
    readOctets(reader, 10)
    skipName(reader)
    return readWrittenName(reader)
  })
