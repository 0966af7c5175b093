import { expect, it } from 'vitest'
import { convertProviderZone } from '../../src/convert/provider/import-provider.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { ZONEFILE_CAPABILITIES } from '../../src/providers/zonefile/capabilities.ts'
import { ORIGIN } from '../support/plan.ts'
import { existing, existingZone } from '../support/records.ts'

const NONE = { defaults: { settings: {}, ttl: null } }

it.each([
  ['a bad mailbox', { soa_email: 'no email', group: 'd' }, { group: 'd' }, ['the setting soa_email: no email is not an e-mail address']],
  ['an address that is none', { axfr_ips: ['192.0.2.1', 'ns1', '::1'] }, {}, ['the setting axfr_ips: ns1 among its addresses']],
  ['nothing unsupported', { soa_email: 'h@example.com', axfr_ips: ['::1'] }, { soa_email: 'h@example.com', axfr_ips: ['::1'] }, []],
])('settings of a provider: %s', (_, settings, expected, dropped) => {
  const converted = convertProviderZone({ ...existingZone(ORIGIN, ''), settings }, NONE, {
    target: 'cloud',
    capabilities: CLOUD_CAPABILITIES,
  })
  expect(converted.zone.settings).toEqual(expected)
  expect(converted.dropped.map(({ what }) => what)).toEqual(dropped)
})

it('selects thousands of wildcard records as unmanaged, and no other record', () => {
  const count = 2_000
  const lines = Array.from({ length: count }, (_, i) => `*.h${i} CNAME *.h${i}\na.g${i} A 192.0.2.1`)
  const existing = existingZone(ORIGIN, [...lines, 'a.h7 CNAME www', '*.h8 A 192.0.2.8'].join('\n'))
  const value = convertProviderZone(existing, NONE, { target: 'cloud', capabilities: CLOUD_CAPABILITIES })
  const selectors = value.zone.unmanaged ?? []
  expect(selectors).toHaveLength(count)
  expect(selectors).toContainEqual({ name: '*.h6', type: 'CNAME' })
  // A selector without the target would match the other record of that name too.
  expect(selectors).toContainEqual({ name: '*.h7', type: 'CNAME', target: '*.h7.example.com.' })
  expect(value.zone.records).toHaveLength(count + 2)
})

it('takes data that has only the generic form', () => {
  const data = ['AMTRELAY \\# 2 0a04', 'GID \\# 2 0102', 'UID \\# 1 01', 'UINFO \\# 2 0561', 'CDS \\# 4 00000000', 'CDNSKEY \\# 4 00000300']
  const records = existing(ORIGIN, data.map((_, i) => `h${i} A 192.0.2.1`).join('\n')).map((record, i) => {
    const [type = '', ...rest] = data[i]?.split(' ') ?? []
    return { ...record, type, data: rest.join(' ') }
  })
  const { zone, dropped } = convertProviderZone({ ...existingZone(ORIGIN, ''), records }, NONE, {
    target: 'ns',
    capabilities: ZONEFILE_CAPABILITIES,
  })
  expect([zone.records.map((record) => `${record.type} ${record.data}`), dropped]).toEqual([data, []])
})
