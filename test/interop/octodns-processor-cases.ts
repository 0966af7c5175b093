/** One octoDNS configuration per processor, with the expected rule and the expected report of what is dropped. */

/** The definition files of every case. */
export const DESIRED = `'':
  - {type: MX, value: {preference: 10, exchange: mx.example.net.}}
  - {type: NS, values: [ns1.example.net., ns2.example.net.]}
  - {type: TXT, value: v=spf1 -all}
kept: {type: A, value: 192.0.2.1}
new: {type: A, value: 192.0.2.2}
changed: {type: A, value: 192.0.2.3}
alias: {type: CNAME, value: www.example.net.}
`

/** The existing records of the target. */
export const EXISTING = `'':
  - {type: MX, value: {preference: 20, exchange: mx.example.net.}}
  - {type: NS, values: [ns1.example.net., ns3.example.net.]}
  - {type: TXT, value: v=spf1 ~all}
kept: {type: A, value: 192.0.2.1}
changed: {type: A, value: 192.0.2.4}
gone: {type: A, value: 192.0.2.5}
web-1: {type: A, value: 10.1.2.3}
web-2: {type: CNAME, value: other.example.net.}
'*.wild': {type: A, value: 192.0.2.6}
meta: {type: TXT, value: time=1}
octodns-meta: {type: TXT, value: provider=x}
_acme-challenge: {type: TXT, value: a}
_acme-challenge.www: {type: TXT, value: b}
_acme-challenge.gone: {type: CNAME, value: c.example.net.}
_owner.a.gone: {type: TXT, value: '*octodns*'}
www.example.com: {type: A, value: 192.0.2.7}
`

export interface ProcessorCase {
  readonly name: string
  /** The settings of the processor `one`. With `manager`, the zone has no processor, and the manager has these settings. */
  readonly processor: string
  readonly manager?: string
  readonly more?: string
  /** The report of what is dropped; undefined if both plan the same changes. */
  readonly dropped?: RegExp
  /** Whether the report is only a warning, because no record is lost. */
  readonly keepsRecords?: true
  readonly rule: RegExp
  /** True if octoDNS refuses the whole zone. */
  readonly refused?: true
}

const filter = (settings: string): string => `{class: octodns.processor.filter.${settings}}`

export const PROCESSOR_CASES: readonly ProcessorCase[] = [
  { name: 'IgnoreRootNsFilter', processor: filter('IgnoreRootNsFilter'), rule: /^ {6}- \{name: '', type: NS\}$/m },
  {
    name: 'ExcludeRootNsChanges without an error',
    processor: filter('ExcludeRootNsChanges, error: false'),
    rule: /^ {6}- \{name: '', type: NS\}$/m,
  },
  { name: 'ExcludeRootNsChanges', processor: filter('ExcludeRootNsChanges'), rule: /targets: \[linode\]\n[a-z]/, refused: true },
  {
    name: 'TypeRejectlistFilter',
    processor: filter('TypeRejectlistFilter, rejectlist: [CNAME, MX]'),
    rule: /^ {6}- \{type: CNAME\}\n {6}- \{type: MX\}$/m,
  },
  {
    name: 'TypeAllowlistFilter',
    processor: filter('TypeAllowlistFilter, allowlist: [A]'),
    rule: /- \{type: CNAME\}\n(?:.*\n)*.*- \{type: TXT\}/,
  },
  {
    name: 'TypeRejectlistFilter for files without such records',
    processor: filter('TypeRejectlistFilter, rejectlist: [AAAA], include_target: false'),
    rule: /targets: \[linode\]\n[a-z]/,
  },
  {
    name: 'TypeRejectlistFilter for the files only',
    processor: filter('TypeRejectlistFilter, rejectlist: [CNAME, MX], include_target: false'),
    rule: /targets: \[linode\]\n[a-z]/,
    dropped: /on example\.com\.: 2 record sets, which it deletes at the target/,
  },
  {
    name: 'NameRejectlistFilter',
    processor: filter("NameRejectlistFilter, rejectlist: [gone, '', /^web-/, /acme.*e\\\\.www$/, /^changed$/]").replaceAll('\\\\', '\\'),
    rule: /- \{name: gone\}\n {6}- \{name: ''\}\n {6}- \{name: 'web-\*'\}\n {6}- \{name: '\*acme\*e\.www'\}\n {6}- \{name: changed\}$/m,
  },
  {
    name: 'NameRejectlistFilter with an expression that no selector can express',
    processor: filter("NameRejectlistFilter, rejectlist: ['/^web-[0-9]$/']"),
    rule: /^ {4}policy: upsert-only$/m,
    dropped: /the names that it ignores, which no selector can express/,
    keepsRecords: true,
  },
  {
    name: 'NameRejectlistFilter with such an expression that matches the files',
    processor: filter("NameRejectlistFilter, rejectlist: ['/^chang[ed]+$/', '*.wild']"),
    rule: /^ {4}policy: create-only$/m,
    dropped: /the names that it ignores, which no selector can express/,
  },
  {
    name: 'NameAllowlistFilter of all names in the files',
    processor: filter("NameAllowlistFilter, allowlist: ['', kept, new, changed, alias]"),
    rule: /^ {4}policy: upsert-only$/m,
    dropped: /which are all except those it lists/,
    keepsRecords: true,
  },
  {
    name: 'NameAllowlistFilter',
    processor: filter('NameAllowlistFilter, allowlist: [kept, gone]'),
    rule: /^ {4}policy: create-only$/m,
    dropped: /which are all except those it lists/,
  },
  {
    name: 'ValueRejectlistFilter',
    processor: filter('ValueRejectlistFilter, rejectlist: [192.0.2.4, /example/]'),
    rule: /^ {4}policy: create-only$/m,
    dropped: /because of a value/,
  },
  {
    name: 'NetworkValueRejectlistFilter',
    processor: filter('NetworkValueRejectlistFilter, rejectlist: [10.0.0.0/8]'),
    rule: /^ {4}policy: create-only$/m,
    dropped: /because of a value/,
  },
  { name: 'ZoneNameFilter without an error', processor: filter('ZoneNameFilter, error: false'), rule: /- \{name: '\*example\.com'\}$/m },
  {
    name: 'ZoneNameFilter',
    processor: filter('ZoneNameFilter'),
    rule: /- \{name: '\*example\.com'\}$/m,
    dropped: /its refusal of names that end in the zone name/,
    keepsRecords: true,
    refused: true,
  },
  {
    name: 'AcmeManagingProcessor',
    processor: '{class: octodns.processor.acme.AcmeManagingProcessor}',
    rule: /- \{name: '_acme-challenge\*', type: TXT\}$/m,
  },
  {
    name: 'AcmeManagingProcessor with a challenge in the files',
    processor: '{class: octodns.processor.acme.AcmeMangingProcessor}',
    more: '_acme-challenge.www: {type: TXT, value: mine}\n',
    rule: /- \{name: '_acme-challenge\*', type: TXT\}$/m,
    dropped: /1 record set of TXT at _acme-challenge, which it manages/,
  },
  {
    name: 'OwnershipProcessor',
    processor: '{class: octodns.processor.ownership.OwnershipProcessor}',
    rule: /^ {4}policy: upsert-only$/m,
    dropped: /it deletes its own record sets/,
    keepsRecords: true,
  },
  {
    name: 'MetaProcessor',
    processor: '{class: octodns.processor.meta.MetaProcessor}',
    rule: /- \{name: meta, type: TXT\}$/m,
    dropped: /the TXT record meta, which it rewrites/,
    keepsRecords: true,
  },
  {
    name: 'include_meta',
    processor: '',
    manager: 'include_meta: true',
    rule: /- \{name: octodns-meta, type: TXT\}$/m,
    dropped: /the TXT record octodns-meta, which it rewrites/,
    keepsRecords: true,
  },
  {
    name: 'TtlRestrictionFilter',
    processor: '{class: octodns.processor.restrict.TtlRestrictionFilter, min_ttl: 60}',
    rule: /targets: \[linode\]\n[a-z]/,
    dropped: /its refusal of TTLs/,
    keepsRecords: true,
  },
  {
    name: 'TtlClampProcessor',
    processor: '{class: octodns.processor.clamp.TtlClampProcessor, min_ttl: 60}',
    rule: /targets: \[linode\]\n[a-z]/,
    dropped: /its limit of TTLs to 60 to 86400/,
    keepsRecords: true,
  },
  {
    name: 'Templating',
    processor: '{class: octodns.processor.templating.Templating}',
    more: "tpl: {type: TXT, value: 'in {zone_name}'}\n",
    rule: /^ {4}policy: create-only$/m,
    dropped: /the values that it fills in for 1 record set/,
  },
  { name: 'Templating of nothing', processor: '{class: octodns.processor.templating.Templating}', rule: /targets: \[linode\]\n[a-z]/ },
  {
    name: 'EnsureTrailingDots',
    processor: '{class: octodns.processor.trailing_dots.EnsureTrailingDots}',
    more: 'dotless: {type: CNAME, value: www.example.net, octodns: {lenient: true}}\n',
    rule: /targets: \[linode\]\n[a-z]/,
  },
  {
    name: 'a filter that removes the name servers of the apex from the files',
    processor: filter('TypeAllowlistFilter, allowlist: [A, MX, TXT, CNAME], include_target: false'),
    rule: /- \{name: '', type: NS\}$/m,
    dropped: /1 record set, which it deletes at the target/,
  },
  {
    name: 'a global processor and a post-processor',
    processor: filter('TypeRejectlistFilter, rejectlist: [MX]'),
    manager: 'processors: [one], post_processors: [two]',
    rule: /- \{type: MX\}\n {6}- \{name: '', type: NS\}$/m,
  },
]
