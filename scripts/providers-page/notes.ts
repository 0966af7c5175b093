/** What docs/providers.md says about each type of provider beyond its capabilities. */

/** The requests of one `plan` of one zone that exists and does not change. */
export interface PlanRequests {
  /** Requests whatever the size of the zone. */
  readonly fixed: number
  /** Records per further request; null if one request reads any zone. */
  readonly recordsPerRequest: number | null
  /** The requests in words. */
  readonly words: string
}

export interface ProviderNotes {
  readonly title: string
  /** What the zones are that make this the provider to take. */
  readonly when: string
  readonly requests: PlanRequests
  /** What happens to another client's change, if the provider notices it without a precondition. */
  readonly conflict?: string
  /** How zones are created, if a setting decides whether they are. */
  readonly newZones?: string
  /** What other settings make of this type. */
  readonly variant?: { readonly settings: string; readonly when: string; readonly setup: string; readonly requests: string }
  /** Sentences about the provider. */
  readonly remarks: readonly string[]
  /** The place in the documents that shows the setup. */
  readonly setup: string
  /** What the tests compare it with. */
  readonly judges: string
  /** The year of the exchanges with the real service that the tests replay; absent without any, or if the year is unknown. */
  readonly recorded?: number
}

/** A test measures the requests at real servers. */
export const PROVIDER_NOTES: Readonly<Record<string, ProviderNotes>> = {
  axfr: {
    title: 'A name server that is only read',
    when: 'on any name server that allows transfers, and you only compare or import them',
    requests: { fixed: 1, recordsPerRequest: null, words: 'one transfer' },
    remarks: ['`verify` compares the zone with its definition, and `import --from` makes a definition of it. `plan` fails if they differ.'],
    setup: 'configuration.md#providers',
    judges: 'BIND, Knot DNS, NSD',
  },
  azure: {
    title: 'The DNS zones of a resource group at Azure',
    when: 'at Azure DNS',
    requests: { fixed: 0, recordsPerRequest: 500, words: 'one page for every 500 record sets; once a run, one sign-in' },
    remarks: [
      'Azure DNS has no batches: each record set is one request. Up to `parallelism` of them are sent at once, in an order that keeps names answering.',
      'Alias record sets are reported and stay as they are. Metadata of record sets stay when their records change.',
      'The NS records of the apex always have the name servers of Azure; more can be added.',
      'Private zones are managed with `visibility: private`. They are neither created nor deleted, and have no CAA and NS records.',
      "The SOA record is Azure's.",
    ],
    setup: 'providers/azure.md#azure-dns',
    judges: "dns-lexicon, octoDNS's class",
    recorded: 2023,
  },
  cloud: {
    title: 'The Domains interface of Akamai Cloud (Linode), or the service of `zonewright serve`',
    when: 'at Akamai Cloud (Linode), or at your own `zonewright serve`',
    requests: {
      fixed: 2,
      recordsPerRequest: 500,
      words: 'one look-up, one page for every 500 records, one rendered zone file',
    },
    remarks: [
      'Calls are ordered so that a name keeps its answers in between, and up to `parallelism` of them are sent at once.',
      'The interface has no preconditions. Records are compared when they are read for the plan, and the zone is read again after the calls; a change of another client in between may be overwritten.',
      'A zone of type `slave` has no records of its own.',
    ],
    setup: 'configuration.md#providers',
    judges: "the service of Zonewright, which unchanged clients of Akamai's API use; answers of Akamai's API",
  },
  cloudflare: {
    title: 'The zones of a Cloudflare account',
    when: 'at Cloudflare',
    requests: { fixed: 1, recordsPerRequest: 5000, words: 'one look-up, one page for every 5,000 records' },
    conflict: 'is found by a read just before the call',
    newZones: 'created empty, then filled; only with `account_id`',
    remarks: [
      'Up to 200 changes (with `plan: pro` or higher 3,500) are one batch, which Cloudflare carries out as a whole. Its name servers may show the changes of a batch at different moments.',
      'Whether a record is proxied, its comment, its tags and its settings stay as they are. A new address or CNAME beside proxied ones is proxied too.',
      'An ALIAS at the apex is a flattened CNAME at Cloudflare. A record without TTL has the automatic TTL, and a proxied record always does, whatever the definition says.',
      'Zones are created and deleted if `account_id` names the account of the zones. A new zone is pending, and serves its records, until its parent delegates it to the name servers that `doctor` shows. Secondary zones are not managed.',
    ],
    setup: 'providers/cloudflare.md#cloudflare',
    judges: "dns-lexicon, octoDNS's class",
    recorded: 2025,
  },
  desec: {
    title: 'The domains of a deSEC account',
    when: 'at deSEC',
    requests: {
      fixed: 0,
      recordsPerRequest: 500,
      words: 'one page for every 500 record sets; one look-up if the definition has TTLs below 3,600 s',
    },
    conflict: 'is found by a read at most ten seconds before the call',
    remarks: [
      'All changes of a domain are one bulk request, which deSEC carries out as a whole.',
      'Each domain has a minimum TTL, usually 3,600 s, which Zonewright reads if the definition has lower TTLs.',
      'The keys of the domain are those of deSEC. DNSKEY, CDS and CDNSKEY records are added to them.',
      'Record sets of types that are not listed here are reported and stay as they are.',
    ],
    setup: 'providers/desec.md#desec',
    judges: "dns-lexicon, octoDNS's class",
    recorded: 2025,
  },
  digitalocean: {
    title: 'The domains of a DigitalOcean account',
    when: 'at DigitalOcean',
    requests: { fixed: 0, recordsPerRequest: 200, words: 'one page for every 200 records' },
    conflict: 'is found by a read at most ten seconds before the call',
    remarks: [
      'Calls are ordered so that a name keeps its answers in between. A record that changes keeps its identifier.',
      'Texts are stored without quotes: printable ASCII characters without backslashes. At most 509 are possible, counted with the quotes of the definition. CAA values have no parameters.',
      'A new domain has the NS records of DigitalOcean. If its definition has NS records at the apex, the next `apply` removes the others.',
    ],
    setup: 'providers/digitalocean.md#digitalocean',
    judges: "dns-lexicon, octoDNS's class",
    recorded: 2020,
  },
  gandi: {
    title: 'The domains of a Gandi account',
    when: 'at Gandi (LiveDNS)',
    requests: { fixed: 0, recordsPerRequest: 500, words: 'one page for every 500 record sets' },
    conflict: 'is found by a read at most ten seconds before the call',
    remarks: [
      'A call is one record set. Calls are ordered so that a name keeps its answers in between.',
      'A TTL is 300 to 2,592,000 seconds. Texts are printable ASCII characters.',
      'A domain gets its zone when it is registered or added at Gandi, so zones are neither created nor deleted. The SOA record belongs to Gandi.',
    ],
    setup: 'providers/gandi.md#gandi',
    judges: "dns-lexicon, octoDNS's class, lego",
    recorded: 2020,
  },
  google: {
    title: 'The managed zones of a project at Google Cloud DNS',
    when: 'at Google Cloud DNS',
    requests: { fixed: 1, recordsPerRequest: 1000, words: 'one look-up, one page for every 1,000 record sets; once a run, one sign-in' },
    remarks: [
      'A call is one change of Cloud DNS: up to 1,000 record sets and 90,000 characters of data, carried out as a whole. It ends when all name servers of Google serve it.',
      'Record sets with a routing policy are reported and stay as they are.',
      'Private zones are managed with `visibility: private`. They are neither created nor deleted, and have no ALIAS.',
      "DNSSEC, labels and descriptions of zones stay as they are. The SOA record is Google's.",
    ],
    setup: 'providers/google.md#google-cloud-dns',
    judges: "dns-lexicon, octoDNS's class",
    recorded: 2018,
  },
  hetzner: {
    title: 'The zones of a project at Hetzner',
    when: 'at Hetzner (Cloud API, Hetzner Console)',
    requests: { fixed: 1, recordsPerRequest: 100, words: 'one look-up, one page for every 100 record sets' },
    conflict: 'is found by a read just before the call, or by the service if the record set is new',
    remarks: [
      'Hetzner accepts a change and publishes it some seconds later. Zonewright waits for that, for 16 record sets at once.',
      'A change of TTL and data is two requests; if the second one fails, the report says so.',
      'Labels stay, and comments stay with their record. Protected record sets and zones are not changed; the report names them.',
      'A record without TTL has that of the zone, which `ttl_sec` sets. The SOA record belongs to Hetzner.',
      'Secondary zones are created and deleted, and their primaries set. Ports and TSIG keys of primaries stay as they are.',
    ],
    setup: 'providers/hetzner.md#hetzner',
    judges: "dns-lexicon, octoDNS's class",
    recorded: 2026,
  },
  lexicon: {
    title: 'A service of dns-lexicon',
    when: 'anywhere else that dns-lexicon has a service for',
    requests: { fixed: 2, recordsPerRequest: null, words: 'those of dns-lexicon, which signs in, looks the zone up and lists it' },
    conflict: 'is found by a read at most ten seconds before the call',
    remarks: [
      'The table above is that of a service that nobody has tested: plans only create records there. [Its page](providers/lexicon.md) has those of each service.',
      'Zones are neither created nor deleted, and dns-lexicon has no list of them.',
    ],
    judges: 'PowerDNS; for each service that is tested, the server that has confirmed its provider here',
    setup: 'providers/lexicon.md#services-of-dns-lexicon',
  },
  octodns: {
    title: "A folder of octoDNS's zone files",
    when: 'in files that octoDNS will read',
    requests: { fixed: 0, recordsPerRequest: null, words: 'none: it reads one file' },
    variant: {
      settings: 'with `class`',
      when: 'anywhere else that octoDNS has a provider class for',
      setup: 'providers/octodns.md',
      requests: 'those of the class, which reads each zone once',
    },
    remarks: [
      'A file with comments, or with anything else that would be lost, is not changed (`zone-read-only`).',
      'With `class`, the class decides what a zone supports, and the tables above do not apply. `doctor` and [its page](providers/octodns.md) say more.',
    ],
    setup: 'tasks/octodns-and-dnscontrol.md#to-octodns',
    judges: 'octoDNS; with `class`, the classes for BIND, PowerDNS and Route 53, and those of the services here',
  },
  ovh: {
    title: 'The zones of an OVHcloud account',
    when: 'at OVHcloud',
    requests: { fixed: 2, recordsPerRequest: 1, words: 'one, and one for each record; once a run, one for the clock' },
    conflict: 'is found by a read at most ten seconds before the call',
    remarks: [
      'A call changes records one by one; then one request publishes all of them. A record that changes keeps its identifier.',
      'If the publication fails, the report says so, and the next `apply` repeats it. After an `apply` that was interrupted or failed, it is repeated, too.',
      'The types DKIM, DMARC and SPF of OVHcloud are TXT in definitions. Texts are printable ASCII characters without quotes and backslashes.',
      'Zones are ordered at OVHcloud, so they are neither created nor deleted. The SOA record belongs to OVHcloud.',
    ],
    setup: 'providers/ovh.md#ovhcloud',
    judges: "dns-lexicon, octoDNS's class, lego",
    recorded: 2025,
  },
  porkbun: {
    title: 'The domains of a Porkbun account',
    when: 'at Porkbun',
    requests: { fixed: 1, recordsPerRequest: null, words: 'one; another if records could belong to URL forwards' },
    conflict: 'is found by a read at most ten seconds before the call',
    remarks: [
      'Calls are ordered so that a name keeps its answers in between. A record that changes keeps its identifier.',
      'A TTL is at least 600 seconds. Texts are printable ASCII characters without a space at the end. CAA values have no parameters.',
      'A domain gets its zone when it is registered at Porkbun, so zones are neither created nor deleted. The SOA record and the NS records at the apex belong to Porkbun.',
      'Records of URL forwards are reported and stay as they are.',
    ],
    setup: 'providers/porkbun.md#porkbun',
    judges: 'dns-lexicon, lego',
    recorded: 2024,
  },
  powerdns: {
    title: 'The HTTP API of PowerDNS Authoritative',
    when: 'on a PowerDNS server whose HTTP API you can reach',
    requests: { fixed: 1, recordsPerRequest: null, words: 'one request for the whole zone' },
    conflict: 'is found by a read at most ten seconds before the call',
    remarks: [
      'The API has no preconditions. A call is sent only if the zone was read at most ten seconds before, and not if a record set differs from the plan. A change of another client within this time may be overwritten.',
      'Owner names consist of letters, digits, `-`, `_` and `/`, with a leading `*` at most. DNSKEY records are only at the apex, DS records never.',
    ],
    setup: 'tasks/name-servers.md#powerdns-over-its-http-api',
    judges: 'PowerDNS',
  },
  rfc2136: {
    title: 'Dynamic update (RFC 2136)',
    when: 'on BIND, Knot DNS or PowerDNS, and you may send updates with a key',
    requests: { fixed: 1, recordsPerRequest: null, words: 'one transfer' },
    remarks: [
      'The server checks in one step that every record set is as the plan expects, and changes them all or none.',
      'The server raises the serial itself.',
    ],
    setup: 'tasks/name-servers.md#dynamic-update',
    judges: 'BIND, Knot DNS, PowerDNS',
  },
  route53: {
    title: 'The hosted zones of an AWS account',
    when: 'at Amazon Route 53',
    requests: { fixed: 1, recordsPerRequest: 300, words: 'one look-up, one page for every 300 record sets' },
    remarks: [
      'The changes of a plan are one batch that Route 53 carries out as a whole. Larger plans are divided: a batch has at most 1,000 records and 32,000 characters of data, before and after the change together. A batch deletes the record sets as they were read, so Route 53 refuses it if another client changed one.',
      'An ALIAS is one alias record set per address type. It leads to a name of the same zone, or to an AWS resource. It has the TTL of its target, whatever the definition says.',
      'Record sets with a routing policy or a health check, and aliases that plans cannot describe, are listed and left alone.',
      'Public or private zones are managed, as `zone_type` says. Route 53 adds the NS records of a new zone.',
    ],
    setup: 'providers/route53.md#route-53',
    judges: "moto, dns-lexicon, octoDNS's class",
    recorded: 2022,
  },
  scaleway: {
    title: 'The DNS zones of a Scaleway organization',
    when: 'at Scaleway Domains and DNS',
    requests: { fixed: 1, recordsPerRequest: 1000, words: 'one look-up and one page for every 1,000 records' },
    conflict: 'is found by a read at most ten seconds before the call',
    remarks: [
      'All changes of a zone are one list, which is one version of the zone at Scaleway.',
      'Comments stay as they are. Definitions cannot set them.',
      'Record sets with dynamic records (by country, weight, health or view) are reported and stay as they are.',
      'Zones are created and deleted below the domains of the account. The NS records at the apex belong to Scaleway.',
    ],
    setup: 'providers/scaleway.md#scaleway',
    judges: "dns-lexicon, octoDNS's class",
    recorded: 2025,
  },
  vultr: {
    title: 'The DNS domains of a Vultr account',
    when: 'at Vultr',
    requests: { fixed: 0, recordsPerRequest: 500, words: 'one page for every 500 records' },
    conflict: 'is found by a read at most ten seconds before the call',
    remarks: [
      'Calls are ordered so that a name keeps its answers in between. Records of one name and type have one TTL: if it changes, all but one of them are deleted and created again.',
      'Texts are printable ASCII characters without quotes. CAA values have no parameters.',
      'A new domain has the NS records of Vultr. If its definition has NS records at the apex, the others are removed.',
    ],
    setup: 'providers/vultr.md#vultr',
    judges: 'dns-lexicon, lego',
    recorded: 2021,
  },
  zonefile: {
    title: 'A folder of zone files that a name server serves',
    when: 'in files that BIND, NSD, Knot DNS or another server reads, and Zonewright can write into their folder',
    requests: { fixed: 0, recordsPerRequest: null, words: 'none: it reads one file' },
    remarks: [
      'A change replaces the file as a whole, after the `check` command has accepted it. Then `reload` tells the server.',
      'The serial rises with every change.',
    ],
    setup: 'tasks/name-servers.md#a-folder-that-your-server-serves',
    judges: 'named-checkzone, BIND, NSD, Knot DNS',
  },
}

/** The requests of one `plan` of a zone with so many records. */
export const requestsOf = ({ fixed, recordsPerRequest }: PlanRequests, records: number): number =>
  fixed + (recordsPerRequest === null ? 0 : Math.max(1, Math.ceil(records / recordsPerRequest)))
