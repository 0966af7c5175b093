/**
 * Every diagnostic the program can give: a stable code and what it means in one sentence. `docs/diagnostics.md` has an entry
 * for each with a failing and a mended example. Codes are never renamed or given a second meaning.
 */
export const DIAGNOSTIC_CODES = {
  // Files
  'file-unreadable': 'A file that was asked for cannot be read.',
  'file-too-large': 'A file is larger than a definition may be.',
  'no-definitions': 'No definition file matches.',
  // YAML
  'yaml-syntax': 'The file is not well-formed YAML.',
  'yaml-duplicate-key': 'A mapping has the same key twice.',
  'yaml-too-deep': 'Collections are nested more deeply than a definition needs.',
  'yaml-too-many-aliases': 'Aliases expand to more nodes than a definition may hold.',
  'yaml-unsupported': 'The file uses a feature of YAML that definitions do not have.',
  // Layout of a definition or config
  'schema-type': 'A value is of another type than its key needs.',
  'schema-unknown-key': 'A key is not one that can stand here.',
  'schema-missing-key': 'A key that must be there is missing.',
  'schema-value': 'A value is not one of those allowed here.',
  'zone-name': 'The name of a zone is missing or not a domain name.',
  'zone-duplicate': 'Two definitions are of the same zone.',
  'setting-invalid': 'A setting of a zone has a value the zone cannot have.',
  // Records
  'name-invalid': 'An owner name is not a domain name.',
  'name-outside-zone': 'An owner name is not in the zone.',
  'type-unknown': 'A record type is not known.',
  'ttl-invalid': 'A TTL is not a number of seconds between 0 and 2147483647.',
  'value-invalid': 'The value of a record is not what its type needs.',
  'value-missing': 'A record has no value.',
  'target-ambiguous': 'A target name has dots but no final dot.',
  'target-relative': 'A target without the final dot was read as absolute.',
  'record-extra': 'A record carries a setting that no target can express.',
  'type-foreign': 'A record type exists only at another provider.',
  // DNS rules
  'cname-not-alone': 'A CNAME shares its name with other records.',
  'cname-at-apex': 'A CNAME stands at the apex.',
  'cname-loop': 'CNAME records of the zone lead in a circle.',
  'record-duplicate': 'The same record is given twice.',
  'singleton-multiple': 'A type that allows one record at a name has several.',
  'null-mx-not-alone': 'A null MX stands beside other MX records.',
  'soa-in-definition': 'A definition has an SOA record.',
  'target-is-cname': 'NS, MX or SRV leads to a name that is a CNAME.',
  'below-delegation': 'A record is hidden below a delegation.',
  'ttl-mixed': 'Records of one RRset have different TTLs.',
  'txt-long': 'A TXT value is longer than fits in a DNS message without trouble.',
  'unmanaged-collision': 'A definition has a record that an unmanaged selector leaves to others.',
  // Fit to the target
  'ttl-rounded': 'The target stores another TTL than the definition has.',
  'setting-rounded': 'The target stores another time than the definition has.',
  'type-unsupported': 'The target cannot hold records of this type.',
  'record-unsupported': 'The target cannot hold this record.',
  'apex-ns-kept': 'Apex NS records of the definition differ from those the target serves itself.',
  'srv-protocol-subname': 'An SRV record below the apex is stored with its sub-name in the protocol.',
  'record-limit': 'A zone has more records than the target holds.',
  'limit-exceeded': 'A value is longer than the target holds.',
  'setting-unsupported': 'The target has no such setting of a zone.',
  'surplus-duplicate': 'The target holds the same record more than once.',
  // Config and secrets
  'config-missing': 'No configuration file was found.',
  'provider-unknown': 'A target is not among the providers.',
  'target-missing': 'A zone has no target.',
  'secret-missing': 'A secret that the config refers to is not there.',
  'secret-in-config': 'A secret stands in the config in plain text.',
  'insecure-url': 'A provider would be reached without TLS.',
  // Providers
  'provider-unreachable': 'The server cannot be reached.',
  'provider-timeout': 'The server did not answer in time.',
  'provider-unauthorized': 'The server refuses the token.',
  'provider-forbidden': 'The token may not do this.',
  'provider-not-found': 'The server does not know the path or object.',
  'provider-rejected': 'The server refuses the request.',
  'provider-rate-limited': 'The server wants fewer requests.',
  'provider-failed': 'The server failed.',
  'provider-garbled': 'The answer is not what the interface promises.',
  'zone-missing': 'The zone does not exist at the target.',
  // Plan and apply
  refused: 'A safety limit refuses the plan.',
  'not-confirmed': 'Nobody confirmed the plan.',
  'verify-differs': 'What is live differs from the definition.',
  'rendered-stale': 'The rendered zone file is older than the records.',
  'apply-unconfirmed': 'After applying, the records are not what the plan made.',
  // Usage
  usage: 'The command line is wrong.',
} as const satisfies Record<string, string>

export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES
