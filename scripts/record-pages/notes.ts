/** What docs/records/ says about each record type beyond the rdata table. */

export interface RecordNotes {
  /** What a record of the type says, as a noun phrase. */
  readonly title: string
  /** The document that defines it. */
  readonly source: string
  /** Examples in the form of zone files, relative to example.com. */
  readonly examples: readonly string[]
  readonly remarks?: readonly string[]
}

const notes = (title: string, source: string, examples: string | readonly string[], ...remarks: readonly string[]): RecordNotes => ({
  title,
  source,
  examples: typeof examples === 'string' ? [examples] : examples,
  ...(remarks.length > 0 && { remarks }),
})

const KEY = 'mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ=='
const SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const SIGNED =
  'A definition rarely has it: whoever signs the zone makes it. Zonewright reads and writes it like any other record, and does not check signatures.'
const OBSOLETE = 'Obsolete. It is here so that old zones can be moved.'
const EXPERIMENTAL = 'Rarely used. It is here so that every zone can be moved.'
const FINAL_DOT =
  'In the layout with `domain:`, a single label is in the zone, and `@` is the apex. A name with dots is refused without a final dot.'

export const RECORD_NOTES: Readonly<Record<string, RecordNotes>> = {
  A: notes(
    'IPv4 address',
    'RFC 1035 section 3.4.1',
    ['www 3600 IN A 192.0.2.1', 'www 3600 IN A 192.0.2.2'],
    'With `auto_ptr: true`, addresses get [PTR records](../tasks/reverse-zones.md) in the reverse zones that are defined.',
    'With `from:` instead of values, addresses come from [a live inventory](../tasks/sources.md#addresses-from-a-live-inventory).',
  ),
  AAAA: notes(
    'IPv6 address',
    'RFC 3596',
    'www 3600 IN AAAA 2001:db8::1',
    'Addresses are compared as numbers: `2001:DB8:0::1` is the same as `2001:db8::1`.',
  ),
  CNAME: notes(
    'Alias of another name',
    'RFC 1034 section 3.6.2',
    'www 3600 IN CNAME host.example.net.',
    'A name with a CNAME has no other records, and the apex of a zone cannot have one: use [ALIAS](ALIAS.md) there.',
    FINAL_DOT,
  ),
  ALIAS: notes(
    'Alias at a name with other records, such as the apex',
    'no RFC; some providers have it',
    '@ 3600 IN ALIAS host.example.net.',
    'The provider answers with the addresses of the target. Cloudflare calls it a flattened CNAME; Route 53 and Google have their own names for it. In definitions it is always ALIAS.',
  ),
  MX: notes(
    'Mail server of a domain',
    'RFC 5321 section 5.1',
    ['@ 3600 IN MX 10 mail.example.com.', '@ 3600 IN MX 20 backup.example.net.'],
    'Senders try the lowest preference first. `0 .` says that the domain accepts no mail (RFC 7505).',
    'The target needs an address and may not be a CNAME.',
  ),
  TXT: notes(
    'Text: SPF, DKIM, DMARC, proofs of ownership',
    'RFC 1035 section 3.3.14',
    [
      '@ 3600 IN TXT "v=spf1 include:_spf.example.net -all"',
      '_dmarc 3600 IN TXT "v=DMARC1; p=reject"',
      'mail._domainkey 3600 IN TXT "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="',
    ],
    'Write the whole text, however long, such as a 2048-bit DKIM key. Zonewright cuts it into strings of 255 octets. `{rdata: \'"a" "b"\'}` gives the strings as in a zone file.',
    "Quote a text in YAML if it has `: `, a `#` after a space or (between braces) a comma, or begins with a quotation mark; `;` needs no quotes. In octoDNS's layout, `;` is written `\\;`.",
  ),
  NS: notes(
    'Name server of a zone or of a delegation',
    'RFC 1035 section 3.3.11',
    ['team 3600 IN NS ns1.example.net.', 'team 3600 IN NS ns2.example.net.'],
    'NS records of the apex stay as the provider has them, unless the definition says `apex_ns: manage`.',
    'A name server inside the delegated zone needs glue: address records at its name in the parent zone.',
  ),
  SOA: notes(
    'Start of authority',
    'RFC 1035 section 3.3.13',
    [],
    'A definition has no SOA record. Its contents come from `soa_email`, `refresh_sec`, `retry_sec`, `expire_sec`, `ttl_sec` and [`soa`](../definitions.md#soa), as far as the provider allows that.',
  ),
  PTR: notes(
    'Name of an address, in a reverse zone',
    'RFC 1035 section 3.3.12',
    'host 3600 IN PTR www.example.net.',
    'The zone is a network: `domain: 192.0.2.0/24` is `2.0.192.in-addr.arpa`. See [reverse zones](../tasks/reverse-zones.md), also for PTR records that are made from A and AAAA records.',
  ),
  SRV: notes(
    'Location of a service: host and port',
    'RFC 2782',
    [
      '_sip._tcp 3600 IN SRV 10 60 5060 sip.example.com.',
      '_ldap._tcp 3600 IN SRV 10 60 389 ldap1.example.com.',
      '_ldap._tcp 3600 IN SRV 10 40 389 ldap2.example.com.',
    ],
    'The name is `_SERVICE._PROTOCOL`. Clients take the lowest priority, and share load by weight. Target `.` says that the service does not exist.',
    FINAL_DOT,
    'The target needs an address and may not be a CNAME.',
  ),
  CAA: notes(
    'Certification authorities that may issue certificates',
    'RFC 8659',
    ['@ 3600 IN CAA 0 issue "letsencrypt.org"', '@ 3600 IN CAA 0 iodef "mailto:security@example.com"'],
    'Tags: `issue`, `issuewild` (wildcards), `issuemail` (S/MIME), `iodef` (reports). `flags` is 0 if it is left out; 128 makes a tag critical.',
    '`issue ";"` forbids all. The records of a name also apply to the names below it that have none.',
  ),
  HTTPS: notes(
    'How to reach a web server: protocols, ports, address hints',
    'RFC 9460',
    ['www 3600 IN HTTPS 1 . alpn="h3,h2" ipv4hint=192.0.2.1'],
    'Priority 0 is the alias form: `0 target` without parameters, also at the apex. `.` as target is the name itself.',
    'A parameter is a text, a list of texts, or nothing for a key without a value (`no-default-alpn:`).',
  ),
  SVCB: notes(
    'How to reach a service: protocols, ports, address hints',
    'RFC 9460',
    ['_dns 3600 IN SVCB 1 dns.example.com. alpn=dot port=853'],
    'Like [HTTPS](HTTPS.md), for other protocols. Their RFCs define the name of the record.',
  ),
  DS: notes(
    'Digest of a key of a signed child zone, in the parent',
    'RFC 4034 section 5',
    `team 3600 IN DS 60485 13 2 ${SHA256}`,
    'Put it beside the NS records of the delegation. You get it from the operator of the child zone.',
    'A digest whose length does not fit its type is a warning (`digest-length`).',
  ),
  TLSA: notes(
    'Certificate or key of a TLS server (DANE)',
    'RFC 6698',
    `_443._tcp.www 3600 IN TLSA 3 1 1 ${SHA256}`,
    "The name is `_PORT._PROTOCOL.HOST`. `3 1 1`, the SHA-256 of the server's own key, is what mail servers use. The zone must be signed.",
  ),
  SSHFP: notes(
    'Fingerprint of an SSH host key',
    'RFC 4255',
    `host 3600 IN SSHFP 4 2 ${SHA256}`,
    'Algorithms: 1 RSA, 3 ECDSA, 4 Ed25519. Types: 1 SHA-1, 2 SHA-256. `ssh-keygen -r HOST` prints them.',
  ),
  NAPTR: notes(
    'Rule that rewrites a name or number, for SIP and ENUM',
    'RFC 3403',
    [
      '@ 3600 IN NAPTR 10 100 "S" "SIP+D2U" "" _sip._udp.example.com.',
      '@ 3600 IN NAPTR 20 100 "U" "E2U+sip" "!^.*$!sip:info@example.com!" .',
    ],
    'Either `regexp` or `replacement` says the result; the other one is empty, or `.`.',
  ),
  DNAME: notes(
    'Alias of all names below a name',
    'RFC 6672',
    'old 3600 IN DNAME new.example.net.',
    'The name itself may have other records, but nothing may be defined below it.',
  ),
  LOC: notes(
    'Geographical location',
    'RFC 1876',
    'office 3600 IN LOC 52 22 23.000 N 4 53 32.000 E -2.00m 1m 10000m 10m',
    'Lengths are in metres.',
  ),
  URI: notes('URI of a service', 'RFC 7553', '_http._tcp 3600 IN URI 10 1 "https://www.example.com/path"'),
  OPENPGPKEY: notes(
    'OpenPGP key of a mail address',
    'RFC 7929',
    '5f0f2b2a9bda1b8dd54c1f6c2f2e1d4a7c1b3d1e9f0a2b4c6d8e0f12._openpgpkey 3600 IN OPENPGPKEY mQENBFVHm5sBCACk',
    'The name is the hash of the part before the @, then `_openpgpkey`.',
  ),
  SMIMEA: notes(
    'S/MIME certificate of a mail address',
    'RFC 8162',
    `5f0f2b2a9bda1b8dd54c1f6c2f2e1d4a7c1b3d1e9f0a2b4c6d8e0f12._smimecert 3600 IN SMIMEA 3 1 1 ${SHA256}`,
  ),
  CERT: notes('Certificate or list of revoked ones', 'RFC 4398', 'mail 3600 IN CERT 1 0 0 MIIB0DCCATmgAwIBAgI='),
  CDS: notes(
    'DS that the parent should publish',
    'RFC 7344',
    `@ 3600 IN CDS 60485 13 2 ${SHA256}`,
    SIGNED,
    '`0 0 0 00` asks the parent to remove the DS (RFC 8078).',
  ),
  CDNSKEY: notes(
    'DNSKEY that the parent should use',
    'RFC 7344',
    `@ 3600 IN CDNSKEY 257 3 13 ${KEY}`,
    SIGNED,
    '`0 3 0 AA==` asks the parent to remove the DS (RFC 8078).',
  ),
  DNSKEY: notes('Public key that signs the zone', 'RFC 4034 section 2', `@ 3600 IN DNSKEY 257 3 13 ${KEY}`, SIGNED),
  CSYNC: notes('What the parent should copy from the child', 'RFC 7477', '@ 3600 IN CSYNC 2026010101 3 A NS AAAA'),
  DSYNC: notes('Where to send a NOTIFY about CDS and CSYNC', 'RFC 9859', '*._dsync 3600 IN DSYNC CDS NOTIFY 5300 rr-endpoint.example.com.'),
  ZONEMD: notes(
    'Digest of the whole zone',
    'RFC 8976',
    `@ 3600 IN ZONEMD 2026010101 1 1 ${'ab'.repeat(48)}`,
    'A digest that does not match a zone file is a warning (`zonemd-mismatch`).',
  ),
  RP: notes(
    'Responsible person',
    'RFC 1183 section 2.2',
    '@ 3600 IN RP admin.example.com. people.example.com.',
    'The mailbox is written as a name: `admin.example.com.` is admin@example.com.',
  ),
  HINFO: notes(
    'Processor and operating system of a host',
    'RFC 1035 section 3.3.2, RFC 8482',
    'host 3600 IN HINFO "ARM64" "Linux"',
    'Servers also use it to answer questions for all types.',
  ),
  DHCID: notes(
    'Owner of a name that a DHCP server registered',
    'RFC 4701',
    'host 3600 IN DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=',
    'The DHCP server writes it. Leave such names alone with `unmanaged: [{preset: dhcp}]`.',
  ),
  SPF: notes(
    'SPF policy in an obsolete type of its own',
    'RFC 7208 section 3.1',
    '@ 3600 IN SPF "v=spf1 -all"',
    'Obsolete. Mail servers read only [TXT](TXT.md).',
  ),
  LUA: notes(
    'Script that PowerDNS runs for each answer',
    'the documentation of PowerDNS',
    "www 60 IN LUA A \"ifportup(443, {'192.0.2.1', '192.0.2.2'})\"",
  ),
  URLFWD: notes('Web redirect', 'no RFC; some providers have it', ['old 3600 IN URLFWD "/" "https://www.example.com/" 301 0 0']),
  AFSDB: notes('Server of an AFS cell', 'RFC 1183 section 1', '@ 3600 IN AFSDB 1 afs.example.com.'),
  AMTRELAY: notes('Relay for multicast', 'RFC 8777', 'relay 3600 IN AMTRELAY 10 0 1 203.0.113.15'),
  APL: notes('Address prefixes', 'RFC 3123', 'nets 3600 IN APL 1:192.0.2.0/24 !1:192.0.2.64/28', EXPERIMENTAL),
  AVC: notes('Application visibility', 'the registry of IANA', 'app 3600 IN AVC "app-name:WOLFGANG"', EXPERIMENTAL),
  BRID: notes('Endorsements of an unmanned aircraft', 'RFC 9886', 'drone 3600 IN BRID hAECAwQ=', EXPERIMENTAL),
  CLA: notes('Convergence layer of a delay-tolerant network', 'the registry of IANA', 'node 3600 IN CLA "TCP-v4-v6"', EXPERIMENTAL),
  DLV: notes('Look-aside digest of a key', 'RFC 4431', `team 3600 IN DLV 60485 13 2 ${SHA256}`, OBSOLETE),
  DOA: notes('Digital object', 'an expired Internet-Draft', 'object 3600 IN DOA 0 1 2 "text/plain" aGVsbG8=', EXPERIMENTAL),
  EID: notes('Endpoint identifier of Nimrod', 'an expired Internet-Draft', 'host 3600 IN EID 0102ab', OBSOLETE),
  EUI48: notes('48-bit hardware address', 'RFC 7043', 'host 3600 IN EUI48 00-00-5e-00-53-2a'),
  EUI64: notes('64-bit hardware address', 'RFC 7043', 'host 3600 IN EUI64 00-00-5e-ef-10-00-00-2a'),
  GID: notes('Group number', 'the registry of IANA', 'host 3600 IN GID 100', OBSOLETE),
  GPOS: notes('Geographical position', 'RFC 1712', 'office 3600 IN GPOS "-32.6882" "116.8652" "10.0"', OBSOLETE),
  HHIT: notes('Hierarchical host identity tag', 'RFC 9886', 'drone 3600 IN HHIT hAECAwQ=', EXPERIMENTAL),
  HIP: notes(
    'Host identity',
    'RFC 8005',
    'host 3600 IN HIP 2 200100107b1a74df365639cc39f1d578 AwEAAbdxyhNuSutc5EMzxTs9LBPCIkOFH8cIvM4p rvs.example.com.',
    EXPERIMENTAL,
  ),
  IPN: notes('Node number of a delay-tolerant network', 'the registry of IANA', 'node 3600 IN IPN 3026417930', EXPERIMENTAL),
  IPSECKEY: notes(
    'Key and gateway for IPsec',
    'RFC 4025',
    'host 3600 IN IPSECKEY 10 1 2 192.0.2.38 AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==',
  ),
  ISDN: notes('ISDN number', 'RFC 1183 section 3.2', 'host 3600 IN ISDN "150862028003217" "004"', OBSOLETE),
  KEY: notes('Public key of a host or zone', 'RFC 2535 section 3', 'host 3600 IN KEY 256 3 13 AQIDBAUGBwg=', OBSOLETE),
  KX: notes('Key exchanger', 'RFC 2230', 'host 3600 IN KX 10 kx.example.com.', EXPERIMENTAL),
  L32: notes('32-bit locator of ILNP', 'RFC 6742 section 2.2', 'host 3600 IN L32 10 10.1.2.0', EXPERIMENTAL),
  L64: notes('64-bit locator of ILNP', 'RFC 6742 section 2.3', 'host 3600 IN L64 10 2001:db8:1140:1000', EXPERIMENTAL),
  LP: notes('Name of a locator of ILNP', 'RFC 6742 section 2.4', 'host 3600 IN LP 10 l64-subnet1.example.com.', EXPERIMENTAL),
  MB: notes('Mailbox', 'RFC 1035 section 3.3.3', 'alice 3600 IN MB mail.example.com.', OBSOLETE),
  MD: notes('Mail destination', 'RFC 1035 section 3.3.4', 'old 3600 IN MD mail.example.com.', OBSOLETE),
  MF: notes('Mail forwarder', 'RFC 1035 section 3.3.5', 'old 3600 IN MF mail.example.com.', OBSOLETE),
  MG: notes('Member of a mail group', 'RFC 1035 section 3.3.6', 'staff 3600 IN MG alice.example.com.', OBSOLETE),
  MINFO: notes(
    'Mailboxes responsible for a mail group',
    'RFC 1035 section 3.3.7',
    'staff 3600 IN MINFO owner.example.com. errors.example.com.',
    OBSOLETE,
  ),
  MR: notes('New name of a mailbox', 'RFC 1035 section 3.3.8', 'alice 3600 IN MR alicia.example.com.', OBSOLETE),
  NID: notes('Node identifier of ILNP', 'RFC 6742 section 2.1', 'host 3600 IN NID 10 14:4fff:ff20:ee64', EXPERIMENTAL),
  NIMLOC: notes('Locator of Nimrod', 'an expired Internet-Draft', 'host 3600 IN NIMLOC 32251a', OBSOLETE),
  NINFO: notes('State of a zone', 'an expired Internet-Draft', '@ 3600 IN NINFO "signed"', EXPERIMENTAL),
  NSAP: notes('OSI address', 'RFC 1706', 'host 3600 IN NSAP 0x47000580005a0000000001e133ffffff00016100', OBSOLETE),
  'NSAP-PTR': notes('Name of an OSI address', 'RFC 1706', 'host 3600 IN NSAP-PTR www.example.com.', OBSOLETE),
  NSEC: notes('Next name of a signed zone', 'RFC 4034 section 4', 'www 3600 IN NSEC zzz.example.com. A RRSIG NSEC', SIGNED),
  NSEC3: notes(
    'Next hashed name of a signed zone',
    'RFC 5155 section 3',
    '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom 3600 IN NSEC3 1 0 0 - 2t7b4g4vsa5smi47k61mv5bv1a22bojr A RRSIG',
    SIGNED,
  ),
  NSEC3PARAM: notes('Parameters of hashed names', 'RFC 5155 section 4', '@ 3600 IN NSEC3PARAM 1 0 0 -', SIGNED),
  PX: notes(
    'Mapping between X.400 and mail addresses',
    'RFC 2163',
    'net2 3600 IN PX 10 net2.example.com. prmd-net2.admd-p400.c-it.example.com.',
    OBSOLETE,
  ),
  RESINFO: notes('What a resolver can do', 'RFC 9606', 'resolver 3600 IN RESINFO "qnamemin" "exterr=15-17"'),
  RKEY: notes('Resource key', 'an expired Internet-Draft', 'host 3600 IN RKEY 0 1 13 AQIDBAUGBwg=', EXPERIMENTAL),
  RRSIG: notes(
    'Signature of a record set',
    'RFC 4034 section 3',
    'www 3600 IN RRSIG A 13 3 3600 20261231000000 20261201000000 60485 example.com. AQIDBAUGBwg=',
    SIGNED,
  ),
  RT: notes('Intermediate host of a route', 'RFC 1183 section 3.3', 'host 3600 IN RT 10 relay.example.com.', OBSOLETE),
  SIG: notes(
    'Signature',
    'RFC 2535 section 4',
    'www 3600 IN SIG A 13 3 3600 20261231000000 20261201000000 60485 example.com. AQIDBAUGBwg=',
    OBSOLETE,
  ),
  TA: notes('Trust authority', 'the registry of IANA', `team 3600 IN TA 60485 13 2 ${SHA256}`, EXPERIMENTAL),
  TALINK: notes('Chain of trust anchors', 'an expired Internet-Draft', '@ 3600 IN TALINK . h1.example.com.', EXPERIMENTAL),
  UID: notes('User number', 'the registry of IANA', 'alice 3600 IN UID 1000', OBSOLETE),
  UINFO: notes('Information about a user', 'the registry of IANA', 'alice 3600 IN UINFO "Alice"', OBSOLETE),
  WALLET: notes(
    'Address of a wallet',
    'the registry of IANA',
    'pay 3600 IN WALLET "ETH" "0x0000000000000000000000000000000000000000"',
    EXPERIMENTAL,
  ),
  X25: notes('X.25 address', 'RFC 1183 section 3.1', 'host 3600 IN X25 "311061700956"', OBSOLETE),
}
