import { describe } from 'vitest'
import { faultTests } from './fault-suite.ts'
import { MEMORY_BATCHES, MEMORY_MESSAGES, MEMORY_RECORDS, MEMORY_RRSETS, MEMORY_ZONES } from './memory-target.ts'
import { CLOUD_SKIPS, conformanceTests } from './provider-suite.ts'

conformanceTests(MEMORY_RECORDS, CLOUD_SKIPS)

const ANY_TYPE = { '42. SOA': 7, 'TTL of the zone': 3 }

faultTests(MEMORY_RRSETS)

describe('the other kinds of targets', { tags: ['long'] }, () => {
  for (const kind of [MEMORY_RRSETS, MEMORY_MESSAGES, MEMORY_BATCHES, MEMORY_ZONES]) conformanceTests(kind, ANY_TYPE)
  for (const kind of [MEMORY_RECORDS, MEMORY_BATCHES, MEMORY_MESSAGES, MEMORY_ZONES]) faultTests(kind)
})
