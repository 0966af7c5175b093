import { repeat, serviceTests } from '../service-tests.ts'
import { GOOGLE_ZONE } from '../services.ts'

const ZONES = '/dns/v1/projects/test-project/managedZones'
const ZONE = `${ZONES}/${GOOGLE_ZONE.id}`
const A = { name: 'www.example.com.', type: 'A', ttl: 300, rrdatas: ['192.0.2.1'] }
const CNAME = { ...A, type: 'CNAME', rrdatas: ['other.example.com.'] }
const NS = { name: 'example.com.', type: 'NS', ttl: 21_600, rrdatas: [1, 2, 3, 4].map((n) => `ns-cloud-a${n}.googledomains.com.`) }
const TEXT = { ...A, type: 'TXT', rrdatas: [`"${'x'.repeat(250)}"`] }
const add = (...additions: readonly object[]): object => ({ additions })
const hosts = (count: number, of: object = A): object[] => repeat(count, (at) => ({ ...of, name: `h${at}.example.com.` }))
const error = (status: number, reason: string): object => ({ status, body: { error: { code: status, errors: [{ reason }] } } })
const STATUSES: Readonly<Record<string, number>> = { alreadyExists: 409, notFound: 404, conditionNotMet: 412, quotaExceeded: 403 }

serviceTests('google', {
  write: (change) => ['POST', `${ZONE}/changes`, change],
  refused: (reason) => error(STATUSES[reason] ?? 400, String(reason)),
  refusals: [
    ['an empty change', [], {}, 'required'],
    ['a record set that exists', [add(A)], add({ ...A, ttl: 600 }), 'alreadyExists'],
    ['the deletion of a record set that does not exist', [], { deletions: [A] }, 'notFound'],
    ['the deletion of another TTL', [add(A)], { deletions: [{ ...A, ttl: 600 }] }, 'conditionNotMet'],
    ['the deletion of other data', [add(A)], { deletions: [{ ...A, rrdatas: ['192.0.2.2'] }] }, 'conditionNotMet'],
    ['a CNAME beside an address', [add(A)], add(CNAME), 'cnameResourceRecordSetConflict'],
    ['an address beside a CNAME', [add(CNAME)], add(A), 'cnameResourceRecordSetConflict'],
    ['a CNAME at the apex', [], add({ ...CNAME, name: 'example.com.' }), 'recordTypeDisallowedAtZoneApex'],
    ['two CNAMEs', [], add({ ...CNAME, rrdatas: ['a.example.', 'b.example.'] }), 'invalidRecordCount'],
    ['a wildcard NS', [], add({ ...A, name: '*.example.com.', type: 'NS', rrdatas: ['ns.example.net.'] }), 'wildcardNotAllowed'],
    ['an ALIAS below the apex', [], add({ ...A, type: 'ALIAS', rrdatas: ['a.example.'] }), 'invalid'],
    ['an address that is none', [], add({ ...A, rrdatas: ['192.0.2.256'] }), 'invalid'],
    ['a relative target', [], add({ ...A, type: 'MX', rrdatas: ['10 mail'] }), 'invalid'],
    ['a name of another zone', [], add({ ...A, name: 'www.example.net.' }), 'invalid'],
    ['an unknown type', [], add({ ...A, type: 'HINFO' }), 'invalid'],
    ['a TTL below 0', [], add({ ...A, ttl: -1 }), 'invalid'],
    ['no data', [], add({ ...A, rrdatas: [] }), 'invalid'],
    ['a zone without NS', [], { deletions: [NS] }, 'invalidZoneApex'],
    ['too many additions', [], add(...hosts(1001)), 'quotaExceeded'],
    ['too much data', [], add(...hosts(450, TEXT)), 'quotaExceeded'],
    ['a change of which one part is refused', [add(A)], { deletions: [A], additions: [CNAME, { ...A, rrdatas: ['x'] }] }, 'invalid'],
  ],
  requests: [
    ['a wrong token', ['GET', ZONES, undefined, { authorization: 'Bearer other' }], error(401, 'authError')],
    ['another project', ['GET', ZONES.replace('test-project', 'other')], error(403, 'forbidden')],
    ['an unknown zone', ['GET', `${ZONES}/6/rrsets`], error(404, 'notFound')],
    ['a name that is taken', ['POST', ZONES, { ...GOOGLE_ZONE, description: '' }], error(409, 'alreadyExists')],
    ['a zone without a description', ['POST', ZONES, GOOGLE_ZONE], error(400, 'required')],
  ],
  throttled: [['GET', ZONES], error(429, 'rateLimitExceeded')],
})
