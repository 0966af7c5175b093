import { expect, test } from 'vitest'
import { CLOUD_CAPABILITIES } from '../../../src/providers/cloud/capabilities.ts'
import { obstructiveUnmanagedRecords } from '../../../src/run/saved/reread-zones.ts'
import { ORIGIN, planOf } from '../../support/plan.ts'
import { desiredZone, existingZone } from '../../support/records.ts'

const UNMANAGED = [{ type: 'TXT' }, { name: 'theirs*' }]

type Case = { before: string; desired: string; now: string; limit?: number; summary: string | null; details?: readonly string[] }

const MAIL = 'mail A 192.0.2.1'

test.each<[string, Case]>([
  ['no new record', { before: MAIL, desired: `${MAIL}\nwww CNAME mail`, now: MAIL, summary: null }],
  ['a TXT record at an unchanged name', { before: MAIL, desired: `${MAIL}\nwww CNAME mail`, now: `${MAIL}\nother TXT "x"`, summary: null }],
  ['TXT record beside planned A record', { before: MAIL, desired: `${MAIL}\nwww A 192.0.2.2`, now: `${MAIL}\nwww TXT "x"`, summary: null }],
  [
    'a TXT record at the name of a planned CNAME',
    {
      before: MAIL,
      desired: `${MAIL}\nwww CNAME mail`,
      now: `${MAIL}\nwww TXT "x"`,
      summary: '1 unmanaged record is in conflict with the plan',
      details: ['www.example.com. TXT "x" conflicts with the planned CNAME mail.example.com.'],
    },
  ],
  [
    'a CNAME at a name like that of a planned A record',
    {
      before: 'mail A 192.0.2.1\na A 192.0.2.5',
      desired: `${MAIL}\ntheir A 192.0.2.5`,
      now: 'mail A 192.0.2.1\na A 192.0.2.5\ntheirs CNAME mail',
      summary: null,
    },
  ],
  [
    'a TXT record at a name whose CNAME is removed',
    { before: `${MAIL}\nwww CNAME mail`, desired: `${MAIL}\nweb A 192.0.2.2`, now: `${MAIL}\nwww TXT "x"`, summary: null },
  ],
  ['enough room for the creation', { before: MAIL, desired: `${MAIL}\na A 192.0.2.2`, now: `${MAIL}\nx TXT "x"`, limit: 3, summary: null }],
  [
    'no room left for the creations',
    {
      before: MAIL,
      desired: `${MAIL}\na A 192.0.2.2\nb AAAA 2001:db8::1`,
      now: `${MAIL}\nx TXT "x"`,
      limit: 3,
      summary: '1 unmanaged record more leaves no room for 2 creations: the zone can have 3 records',
    },
  ],
  [
    'more unmanaged records in a full zone, and no creation',
    { before: MAIL, desired: 'mail A 192.0.2.2', now: `${MAIL}\nx TXT "x"\ny TXT "y"`, limit: 3, summary: null },
  ],
  [
    'fewer unmanaged records in a full zone',
    {
      before: `${MAIL}\nx TXT "x"\nold CNAME mail`,
      desired: `${MAIL}\nwww A 192.0.2.3`,
      now: `${MAIL}\nold CNAME mail`,
      limit: 3,
      summary: null,
    },
  ],
])('%s', (_, { before, desired, now, limit = 12_000, summary, details = [] }) => {
  const capabilities = { ...CLOUD_CAPABILITIES, maxRecords: limit }
  const plan = planOf(before, '', { capabilities, desired: desiredZone(ORIGIN, desired, { unmanaged: UNMANAGED }) })
  expect(plan.changes.length).toBeGreaterThan(0)
  const moved = obstructiveUnmanagedRecords(plan, existingZone(ORIGIN, before), existingZone(ORIGIN, now), capabilities)
  expect(moved).toEqual(summary === null ? null : { summary, details })
})
