import { expect, it } from 'vitest'
import { CLOUD_CAPABILITIES } from '../../../src/providers/cloud/capabilities.ts'
import { zoneOfProvider } from '../../../src/sync/exchange/provider-zone.ts'
import { ORIGIN } from '../../support/plan.ts'
import { existingZone } from '../../support/records.ts'

const NONE = { defaults: { settings: {}, ttl: null } }

it.each([
  [
    'a mailbox that is none',
    { soa_email: 'not an email', group: 'dns' },
    { group: 'dns' },
    ['the setting soa_email: not an email is no mail address'],
  ],
  ['an address that is none', { axfr_ips: ['192.0.2.1', 'ns1', '::1'] }, {}, ['the setting axfr_ips: ns1 among its addresses']],
  [
    'nothing but what can be held',
    { soa_email: 'h@example.com', axfr_ips: ['::1'] },
    { soa_email: 'h@example.com', axfr_ips: ['::1'] },
    [],
  ],
])('settings of a provider: %s', (_, settings, expected, lost) => {
  const converted = zoneOfProvider({ ...existingZone(ORIGIN, ''), settings }, NONE, { target: 'cloud', capabilities: CLOUD_CAPABILITIES })
  expect(converted.zone.settings).toEqual(expected)
  expect(converted.lost.map(({ what }) => what)).toEqual(lost)
})
