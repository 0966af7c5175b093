/** Record types beyond the everyday ones. A step is skipped if the provider does not have its type. */
import type { ConformanceGroup, ConformanceStep } from '../step.ts'
import { group, step } from '../step.ts'

const DIGEST_1 = 'a'.repeat(40)
const DIGEST_1B = 'b'.repeat(40)
const DIGEST_2 = '0123456789abcdef'.repeat(4)
const DIGEST_2B = 'fedcba9876543210'.repeat(4)
const ECH_1 = 'AEn+DQBFKwAgACABWIHUGj4u+PIggYXcR5JF0gYk3dCRioBW8uJq9H4mKAAIAAEAAQABAANAEnB1YmxpYy50bHMtZWNoLmRldgAA'
const ECH_2 = 'AEn+DQBFKwAgACAguVE0bnUXeUZEa3oPMNSFHRPtJsbFpW9qYpMbGxCiSwAIAAEAAQABAANAEnB1YmxpYy50bHMtZWNoLmRldgAA'
const KEY_1 = 'AwEAAaHIwpx3w4VHKi6i1LHnTaWeHCL154Jug0Rtc9ji5qwPXpBo6A5sRv7cSsPQKPIwxLpyCrbJ4mr2L0EPOdvP6z6YfljK2ZmTbogU9aSU2fiq'
const KEY_2 = 'AwEAAdGk3jlTYmKoJ5jAzdDHlkb7nTQ8hCZd2pZ1J0uB9aVtRCX2mMIDnoIVwCE2QSn0sc4HjVrrHp4TBFHTzB9OgoJ4JzcmAEnQ4Ki0hOBqEFgN'

/** Steps of a binding, from a type whose owner must be a service. */
function bindingSteps(owner: string, type: 'SVCB' | 'HTTPS'): ConformanceStep[] {
  const at = (rdata: string): string => `${owner} ${type} ${rdata}`
  return [
    step(`Create a ${type} record`, at('1 test.example.net. port="80"')),
    step(`Change ${type} priority`, at('2 test.example.net. port="80"')),
    step(`Change ${type} target`, at('2 . port="80"')),
    step(`Change ${type} params`, at('2 . port="99"')),
    step(`Change ${type} params-empty`, at('2 .')),
    step(`Change ${type} all`, at('3 example.net. port="100"')),
  ]
}

const https = (name: string, ...rdata: readonly string[]) => step(name, ...rdata.map((one) => `https HTTPS ${one}`))

function associationSteps(owner: string, type: 'TLSA' | 'SMIMEA'): ConformanceStep[] {
  const at = (rdata: string): string => `${owner} ${type} ${rdata}`
  return [
    step(`${type} record`, at(`3 1 1 ${DIGEST_2}`)),
    step(`${type} change usage`, at(`2 1 1 ${DIGEST_2}`)),
    step(`${type} change selector`, at(`2 0 1 ${DIGEST_2}`)),
    step(`${type} change matchingtype`, at(`2 0 2 ${DIGEST_2}${DIGEST_2}`)),
    step(`${type} change certificate`, at(`2 0 2 ${DIGEST_2B}${DIGEST_2}`)),
  ]
}

/** DS records at a delegation. The parent side of a delegation has NS records beside them. */
const ds = (name: string, ...records: readonly string[]): ConformanceStep =>
  step(
    name,
    ...[...new Set(records.map((record) => record.split(' ', 1)[0]))].map((owner) => `${owner} NS ns101.example.net.`),
    ...records.map((record) => record.replace(' ', ' DS ')),
  )

function dsSteps(prefix: string): ConformanceStep[] {
  return [
    ds(`${prefix} create`, `child 1 13 1 ${DIGEST_1}`),
    ds(`${prefix} change`, `child 8857 8 2 ${DIGEST_2}`),
    ds(`${prefix} change f1`, `child 3 8 2 ${DIGEST_2}`),
    ds(`${prefix} change f2`, `child 3 13 2 ${DIGEST_2}`),
    ds(`${prefix} change f3+4`, `child 3 13 1 ${DIGEST_1}`),
    ds(`${prefix} delete 1, create child`, `another-child 44 13 2 ${DIGEST_2}`),
  ]
}
const ADD_DS = [`another-child 44 13 2 ${DIGEST_2}`, `another-child 1501 13 1 ${DIGEST_1}`, `another-child 1502 8 2 ${DIGEST_2B}`]

const srv = (name: string, ...rdata: readonly string[]): ConformanceStep => step(name, ...rdata.map((one) => `_sip._tcp SRV ${one}`))
const caa = (name: string, ...rdata: readonly string[]): ConformanceStep => step(name, ...rdata.map((one) => `@ CAA ${one}`))
const naptr = (name: string, ...rdata: readonly string[]): ConformanceStep => step(name, ...rdata.map((one) => `test NAPTR ${one}`))

export const TYPE_GROUPS: readonly ConformanceGroup[] = [
  group(8, 'RP', rpSteps()),
  group(9, 'RP', rpSteps()),
  group(18, 'HTTPS', bindingSteps('@', 'HTTPS')),
  group(19, 'Ech', [
    https('Create a HTTPS record', '1 example.net. alpn="h2,h3"'),
    https('Add an ECH key', `1 example.net. alpn="h2,h3" ech="${ECH_1}"`),
    https('Ignore the ECH key while changing other values', `1 example.net. port="80" ech="${ECH_1}"`),
    https('Change the ECH key and other values', `1 example.org. port="80" ech="${ECH_2}"`),
    step(
      'Another domain with a different ECH value',
      `https HTTPS 1 example.org. port="80" ech="${ECH_2}"`,
      `ech HTTPS 1 example.net. ech="${ECH_1}"`,
    ),
  ]),
  group(20, 'SVCB', bindingSteps('@', 'SVCB')),
  group(38, 'CAA', [
    caa('CAA record', '0 issue "letsencrypt.org"'),
    caa('CAA change tag', '0 issuewild "letsencrypt.org"'),
    caa('CAA change target', '0 issuewild "example.net"'),
    caa('CAA change flag', '128 issuewild "example.net"'),
    caa('CAA many records', '0 issue "letsencrypt.org"', '0 issuewild ";"', '0 iodef "mailto:test@example.net"'),
    caa('CAA whitespace', '0 issue "letsencrypt.org; validationmethods=dns-01; accounturi=https://ca.example/acct/1234"'),
  ]),
  group(39, 'LOC', [
    step('Single LOC record', '@ LOC 52 14 05.000 N 00 08 50.000 E 10m 10m 10m 10m'),
    step('Update single LOC record', '@ LOC 52 14 05.000 S 00 08 50.000 W 10m 1m 2m 10m'),
    step(
      'Multiple LOC records-create a-d modify apex',
      '@ LOC 52 14 05.000 N 00 08 50.000 E 10m 10m 10m 10m',
      'a LOC 52 00 00.000 N 00 00 00.000 E -100000m 0m 0m 0m',
      'b LOC 90 00 00.000 S 180 00 00.000 W 42849672m 1000m 1000m 1000m',
      'c LOC 00 00 00.001 N 00 00 00.001 E 0m 1m 10000m 10m',
      'd LOC 42 21 54.500 N 71 06 18.000 W -24m 30m 10000m 10m',
    ),
  ]),
  group(40, 'NAPTR', [
    naptr('NAPTR record', '100 10 "U" "E2U+sip" "!^.*$!sip:customer-service@example.com!" .'),
    naptr(
      'NAPTR second record',
      '100 10 "U" "E2U+sip" "!^.*$!sip:customer-service@example.com!" .',
      '102 10 "U" "E2U+email" "!^.*$!mailto:information@example.com!" .',
    ),
    naptr('NAPTR delete second record', '100 10 "U" "E2U+sip" "!^.*$!sip:customer-service@example.com!" .'),
    naptr('NAPTR change order', '103 10 "U" "E2U+sip" "!^.*$!sip:customer-service@example.com!" .'),
    naptr('NAPTR change preference', '103 20 "U" "E2U+sip" "!^.*$!sip:customer-service@example.com!" .'),
    naptr('NAPTR change flags', '103 20 "A" "E2U+sip" "!^.*$!sip:customer-service@example.com!" .'),
    naptr('NAPTR change service', '103 20 "A" "E2U+email" "!^.*$!sip:customer-service@example.com!" .'),
    naptr('NAPTR change regexp', '103 20 "A" "E2U+email" "!^.*$!mailto:information@example.com!" .'),
    naptr('NAPTR remove regexp and add target', '103 20 "A" "E2U+email" "" target.example.net.'),
    naptr('NAPTR change target', '103 20 "A" "E2U+email" "" target2.example.net.'),
  ]),
  group(41, 'PTR', [step('Create PTR record', '4 PTR foo.example.net.'), step('Modify PTR record', '4 PTR bar.example.net.')]),
  group(42, 'SOA', soaSteps(), { needs: { what: 'the fields of an SOA record', isMet: ({ storesSoaFields }) => storesSoaFields } }),
  group(43, 'SRV', [
    srv('SRV record', '5 6 7 foo.example.net.'),
    srv('Second SRV record, same prio', '5 6 7 foo.example.net.', '5 60 70 foo2.example.net.'),
    srv('3 SRV', '5 6 7 foo.example.net.', '5 60 70 foo2.example.net.', '15 65 75 foo3.example.net.'),
    srv('Delete one', '5 6 7 foo.example.net.', '15 65 75 foo3.example.net.'),
    srv('Change Target', '5 6 7 foo.example.net.', '15 65 75 foo4.example.net.'),
    srv('Change Priority', '52 6 7 foo.example.net.', '15 65 75 foo4.example.net.'),
    srv('Change Weight', '52 62 7 foo.example.net.', '15 65 75 foo4.example.net.'),
    srv('Change Port', '52 62 72 foo.example.net.', '15 65 75 foo4.example.net.'),
    srv('Null Target', '0 0 0 .'),
  ]),
  group(44, 'SRV', [
    step('Create SRV333', '_sip._tcp 333 SRV 5 6 7 foo.example.net.'),
    step('Change TTL999', '_sip._tcp 999 SRV 5 6 7 foo.example.net.'),
  ]),
  group(45, 'SSHFP', [
    step('SSHFP record', `@ SSHFP 1 1 ${DIGEST_1}`),
    step('SSHFP change algorithm', `@ SSHFP 2 1 ${DIGEST_1}`),
    step('SSHFP change fingerprint and type', `@ SSHFP 2 2 ${DIGEST_2}`),
  ]),
  group(46, 'TLSA', associationSteps('_443._tcp', 'TLSA')),
  group(47, 'DS', [
    ...dsSteps('DS'),
    ds('add 2 more DS', ...ADD_DS),
    ds('DSchild create', `child 1 13 1 ${DIGEST_1B}`),
    ...dsSteps('DSchild').slice(1),
  ]),
  group(48, 'DS (children only)', [...dsSteps('DSchild'), ds('add 2 more DSchild', ...ADD_DS)]),
  group(49, 'DS (children only) CLOUDNS', [
    ds('create DS', `child 35632 13 1 ${DIGEST_1}`),
    ds('modify field 1', `child 2075 13 1 ${DIGEST_1}`),
    ds('modify field 3', `child 2075 13 2 ${DIGEST_2}`),
    ds('modify field 2+3', `child 2075 8 1 ${DIGEST_1}`),
    ds('modify field 2', `child 2075 13 1 ${DIGEST_1}`),
    ds('delete 1, create 1', `another-child 2075 13 4 ${DIGEST_2.slice(0, 32)}${DIGEST_2}`),
    ds('add 2 more DS', ...ADD_DS),
  ]),
  group(50, 'DHCID', [
    step('Create DHCID record', 'test DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA='),
    step('Modify DHCID record', 'test DHCID AAAAAAAAuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA='),
  ]),
  group(51, 'DNAME', [
    step('Create DNAME record', 'test DNAME example.net.'),
    step('Modify DNAME record', 'test DNAME example.org.'),
    step('Create DNAME record in non-FQDN', 'a DNAME b'),
  ]),
  group(52, 'DNSKEY', [
    step('Create DNSKEY record', `test DNSKEY 257 3 13 ${KEY_1}`),
    step('Modify DNSKEY record 1', `test DNSKEY 256 3 13 ${KEY_1}`),
    step('Modify DNSKEY record 2', `test DNSKEY 256 3 8 ${KEY_1}`),
    step('Modify DNSKEY record 3', `test DNSKEY 256 3 8 ${KEY_2}`),
  ]),
  group(53, 'ALIAS on apex', [step('ALIAS at root', '@ ALIAS foo.example.net.'), step('change it', '@ ALIAS foo2.example.net.')]),
  group(54, 'ALIAS to nonfqdn', [step('ALIAS at root', 'foo A 192.0.2.4', '@ ALIAS foo')]),
  group(55, 'ALIAS on subdomain', [
    step('ALIAS at subdomain', 'test ALIAS foo.example.net.'),
    step('change it', 'test ALIAS foo2.example.net.'),
  ]),
  group(102, 'OPENPGPKEY', [
    step('OPENPGPKEY records', 'test OPENPGPKEY mDMEZ0lAfBYJKwYBBAHaRw8BAQdA'),
    step('OPENPGPKEY record change same format', 'test OPENPGPKEY mDMEZ0lAfBYJKwYBBAHaRw8BAQdB'),
    step('OPENPGPKEY record change different formats', `test OPENPGPKEY ${KEY_2}`),
  ]),
  group(103, 'SMIMEA', associationSteps(`${'0123456789abcdef'.repeat(3)}01234567._smimecert`, 'SMIMEA')),
  group(null, 'types without a form of their own', [
    step('generic form', String.raw`private TYPE65280 \# 4 0a000001`),
    step('changed', String.raw`private TYPE65280 \# 3 0a0000`),
    step('URI and HINFO', '_http._tcp URI 10 1 "https://www.example.net/path"', 'host HINFO "PC" "Linux; x86"'),
  ]),
]

function rpSteps(): ConformanceStep[] {
  return [
    step('Create RP', 'foo RP user.example.net. bar.example.net.'),
    step('Create RP', 'foo RP other.example.net. bar.example.net.'),
    step('Create RP', 'foo RP other.example.net. bar2.example.net.'),
  ]
}

function soaSteps(): ConformanceStep[] {
  const soa = (name: string, rdata: string): ConformanceStep => step(name, `@ SOA ${rdata}`, '@ A 192.0.2.1')
  return [
    soa('Create SOA record', 'kim.ns.example.net. dns.example.net. 2037190000 10000 2400 604800 3600'),
    soa('Modify SOA ns', 'mmm.ns.example.net. dns.example.net. 2037190001 10000 2400 604800 3600'),
    soa('Modify SOA mbox', 'mmm.ns.example.net. eee.example.net. 2037190002 10000 2400 604800 3600'),
    soa('Modify SOA refres', 'mmm.ns.example.net. eee.example.net. 2037190003 10001 2400 604800 3600'),
    soa('Modify SOA retry', 'mmm.ns.example.net. eee.example.net. 2037190004 10001 2401 604800 3600'),
    soa('Modify SOA expire', 'mmm.ns.example.net. eee.example.net. 2037190005 10001 2401 604801 3600'),
    soa('Modify SOA minttl', 'mmm.ns.example.net. eee.example.net. 2037190006 10001 2401 604801 3601'),
  ]
}
