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

/** Rules: only the target, and the policies that keep existing records. */
const NO_RULE = /targets: \[linode\]\n[a-z]/
const UPSERT_ONLY = /^ {4}policy: upsert-only$/m
const CREATE_ONLY = /^ {4}policy: create-only$/m
const of = (settings: string): string => `{class: octodns.processor.${settings}}`
const filter = (settings: string): string => of(`filter.${settings}`)
type More = Partial<ProcessorCase>
const drops = (dropped: RegExp): More => ({ dropped })
const warned = (dropped: RegExp): More => ({ dropped, keepsRecords: true })
const UNMATCHED = /the names that it ignores, which no selector can express/

const CASES: readonly (readonly [name: string, processor: string, rule: RegExp, more?: More])[] = [
  ['IgnoreRootNsFilter', filter('IgnoreRootNsFilter'), /^ {6}- \{name: '', type: NS\}$/m],
  ['ExcludeRootNsChanges without an error', filter('ExcludeRootNsChanges, error: false'), /^ {6}- \{name: '', type: NS\}$/m],
  ['ExcludeRootNsChanges', filter('ExcludeRootNsChanges'), NO_RULE, { refused: true }],
  ['TypeRejectlistFilter', filter('TypeRejectlistFilter, rejectlist: [CNAME, MX]'), /^ {6}- \{type: CNAME\}\n {6}- \{type: MX\}$/m],
  ['TypeAllowlistFilter', filter('TypeAllowlistFilter, allowlist: [A]'), /- \{type: CNAME\}\n(?:.*\n)*.*- \{type: TXT\}/],
  ['TypeRejectlistFilter without such records', filter('TypeRejectlistFilter, rejectlist: [AAAA], include_target: false'), NO_RULE],
  [
    'TypeRejectlistFilter for the files only',
    filter('TypeRejectlistFilter, rejectlist: [CNAME, MX], include_target: false'),
    NO_RULE,
    drops(/on example\.com\.: 2 record sets, which it deletes at the target/),
  ],
  [
    'NameRejectlistFilter',
    filter("NameRejectlistFilter, rejectlist: [gone, '', /^web-/, /acme.*e\\\\.www$/, /^changed$/]").replaceAll('\\\\', '\\'),
    /- \{name: gone\}\n {6}- \{name: ''\}\n {6}- \{name: 'web-\*'\}\n {6}- \{name: '\*acme\*e\.www'\}\n {6}- \{name: changed\}$/m,
  ],
  [
    'NameRejectlistFilter with an expression that no selector can express',
    filter("NameRejectlistFilter, rejectlist: ['/^web-[0-9]$/']"),
    UPSERT_ONLY,
    warned(UNMATCHED),
  ],
  [
    'NameRejectlistFilter with such an expression that matches the files',
    filter("NameRejectlistFilter, rejectlist: ['/^chang[ed]+$/', '*.wild']"),
    CREATE_ONLY,
    drops(UNMATCHED),
  ],
  [
    'NameAllowlistFilter of all names in the files',
    filter("NameAllowlistFilter, allowlist: ['', kept, new, changed, alias]"),
    UPSERT_ONLY,
    warned(/which are all except those it lists/),
  ],
  ['NameAllowlistFilter', filter('NameAllowlistFilter, allowlist: [kept, gone]'), CREATE_ONLY, drops(/are all except those it lists/)],
  ['ValueRejectlistFilter', filter('ValueRejectlistFilter, rejectlist: [192.0.2.4, /example/]'), CREATE_ONLY, drops(/because of a value/)],
  ['NetworkValueRejectlistFilter', filter('NetworkValueRejectlistFilter, rejectlist: [10.0.0.0/8]'), CREATE_ONLY, drops(/of a value/)],
  ['ZoneNameFilter without an error', filter('ZoneNameFilter, error: false'), /- \{name: '\*example\.com'\}$/m],
  [
    'ZoneNameFilter',
    filter('ZoneNameFilter'),
    /- \{name: '\*example\.com'\}$/m,
    { dropped: /its refusal of names that end in the zone name/, keepsRecords: true, refused: true },
  ],
  ['AcmeManagingProcessor', of('acme.AcmeManagingProcessor'), /- \{preset: acme\}$/m],
  [
    'AcmeManagingProcessor with a challenge in the files',
    of('acme.AcmeMangingProcessor'),
    /- \{preset: acme\}$/m,
    {
      more: '_acme-challenge.www: {type: TXT, value: mine}\n',
      dropped: /1 record set of TXT at _acme-challenge, which it manages/,
      keepsRecords: true,
    },
  ],
  ['OwnershipProcessor', of('ownership.OwnershipProcessor'), UPSERT_ONLY, warned(/it deletes its own record sets/)],
  ['MetaProcessor', of('meta.MetaProcessor'), /- \{name: meta, type: TXT\}$/m, warned(/the TXT record meta, which it rewrites/)],
  [
    'include_meta',
    '',
    /- \{name: octodns-meta, type: TXT\}$/m,
    { manager: 'include_meta: true', dropped: /the TXT record octodns-meta, which it rewrites/, keepsRecords: true },
  ],
  ['TtlRestrictionFilter', of('restrict.TtlRestrictionFilter, min_ttl: 60'), NO_RULE, warned(/its refusal of TTLs/)],
  ['TtlClampProcessor', of('clamp.TtlClampProcessor, min_ttl: 60'), NO_RULE, warned(/its limit of TTLs to 60 to 86400/)],
  [
    'Templating',
    of('templating.Templating'),
    CREATE_ONLY,
    { more: "tpl: {type: TXT, value: 'in {zone_name}'}\n", dropped: /the values that it fills in for 1 record set/ },
  ],
  ['Templating of nothing', of('templating.Templating'), NO_RULE],
  [
    'EnsureTrailingDots',
    of('trailing_dots.EnsureTrailingDots'),
    NO_RULE,
    { more: 'dotless: {type: CNAME, value: www.example.net, octodns: {lenient: true}}\n' },
  ],
  [
    'a filter that removes the name servers of the apex from the files',
    filter('TypeAllowlistFilter, allowlist: [A, MX, TXT, CNAME], include_target: false'),
    /- \{name: '', type: NS\}$/m,
    drops(/1 record set, which it deletes at the target/),
  ],
  [
    'a global processor and a post-processor',
    filter('TypeRejectlistFilter, rejectlist: [MX]'),
    /- \{type: MX\}\n {6}- \{name: '', type: NS\}$/m,
    { manager: 'processors: [one], post_processors: [two]' },
  ],
]

export const PROCESSOR_CASES: readonly ProcessorCase[] = CASES.map(([name, processor, rule, more]) => ({ name, processor, rule, ...more }))
