/** What a provider supports is known from its settings and the facts of an earlier run alone: without its secret, and without the provider. */
import { expect, test } from 'vitest'
import { noSecrets } from '../../src/base/secret-guard.ts'
import { readConfig } from '../../src/config/read-config.ts'
import type { DefinedRecord } from '../../src/dns/record.ts'
import type { Capabilities } from '../../src/plan/capabilities.ts'
import { capabilitiesOf, createProvider, PROVIDER_TYPES } from '../../src/providers/registry.ts'
import { name, records } from '../support/records.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const SETTINGS: Readonly<Record<string, string>> = {
  axfr: 'server: 192.0.2.1',
  azure: `token: env:TOKEN, resource_group: dns, visibility: private, subscription: ${'1'.repeat(8)}-1111-1111-1111-${'1'.repeat(12)}`,
  cloud: 'base_url: https://cloud.test, token: env:TOKEN',
  cloudflare: 'token: env:TOKEN, plan: business',
  desec: 'token: env:TOKEN',
  digitalocean: 'token: env:TOKEN',
  gandi: 'token: env:TOKEN',
  google: 'token: env:TOKEN, project: lab, visibility: private',
  hetzner: 'token: env:TOKEN',
  octodns: 'directory: folder',
  ovh: 'application_key: env:TOKEN, application_secret: env:TOKEN, consumer_key: env:TOKEN',
  porkbun: 'api_key: env:TOKEN, secret_api_key: env:TOKEN',
  powerdns: 'base_url: https://powerdns.test, api_key: env:TOKEN, new_zones: {nameservers: [ns1.example.net.]}',
  rfc2136: 'server: 192.0.2.1, tsig: {name: k, algorithm: hmac-sha256, secret: env:TOKEN}',
  route53: 'access_key_id: env:TOKEN, secret_access_key: env:TOKEN, zone_type: private, alias_zones: {lb.example.net.: Z1}',
  scaleway: 'secret_key: env:TOKEN',
  vultr: 'api_key: env:TOKEN',
  zonefile: 'directory: folder, catalog: catalog.example',
}

const entryOf = (type: string, settings: string) => {
  const folder = temporaryDirectory()
  const { config, diagnostics } = readConfig(`providers: {one: {type: ${type}, ${settings}}}\n`, {
    file: 'zonewright.yaml',
    folder,
    cwd: folder,
  })
  const entry = config?.providers.get('one')
  if (entry === undefined) throw new Error(JSON.stringify(diagnostics))
  return { entry, folder }
}

const ZONES = ['example.com.', 'catalog.example.', '.', 'a_b.example.'].map((text) => name(text))
const PROBES: readonly DefinedRecord[] = [
  ...records(
    name('example.com.'),
    'www 1 A 192.0.2.1\n@ CNAME other.example.net.\na ALIAS lb.example.net.\nt TXT "\\\\"\ns SRV 1 1 1 x\np PTR a.',
  ),
  ...[100, 400].map((length) => ({
    ...(records(name('example.com.'), 'c 300 A 192.0.2.1')[0] as DefinedRecord),
    settings: { comment: 'x'.repeat(length) },
  })),
]

/** Capabilities as data: the results of its functions for a few values. */
const viewOf = ({ canCreateZone, settingProblems, rules, ...rest }: Capabilities): unknown => ({
  data: JSON.parse(JSON.stringify(rest, (_, value) => (value instanceof Set ? [...value].sort() : value))),
  zones: ZONES.map(canCreateZone),
  problems: [{ type: 'slave' } as const, { ttl_sec: 1 }].map(settingProblems),
  rules: PROBES.map((probe) => rules.map((rule) => rule(probe, ZONES[0] as (typeof ZONES)[number]))),
})

// That of `lexicon` needs Python: it is in test/providers/lexicon.
test.each(PROVIDER_TYPES.filter((type) => type !== 'lexicon'))('%s', async (type) => {
  const { entry, folder } = entryOf(type, SETTINGS[type] ?? '')
  const secrets = { folder, env: { TOKEN: 'dG9rZW4tMDEyMzQ1Njc4OQ==' }, loaded: noSecrets() }
  const { provider, diagnostics } = await createProvider(entry, { secrets })
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  const facts = provider?.capabilityFacts?.(ZONES)
  expect(viewOf(capabilitiesOf(entry, facts) as Capabilities)).toEqual(viewOf(provider?.capabilities as Capabilities))
  await provider?.close()
})

test.each<[string, string, string, object, (capabilities: Capabilities) => unknown, unknown]>([
  [
    'the minimum TTL of a domain at deSEC',
    'desec',
    'token: env:TOKEN',
    { minimumTtls: { 'example.com.': 60, 'a_b.example.': -5 } },
    ({ rules }) => ZONES.map((zone) => rules.at(-1)?.(PROBES[0] as DefinedRecord, zone).record?.ttl),
    [60, 3600, 3600, 3600],
  ],
  [
    'the types of a class of octoDNS',
    'octodns',
    'class: octodns_x.Provider',
    { types: ['A', 'TXT', 'NO-TYPE'], hasRootNs: true, hasMultivaluePtr: true },
    ({ types, servesApexNs }) => [[...(types ?? [])], servesApexNs],
    [['A', 'TXT'], false],
  ],
  ['another form', 'octodns', 'class: octodns_x.Provider', { types: 5 }, ({ types }) => (types?.size ?? 0) > 5, true],
  [
    'another form of minimum TTLs',
    'desec',
    'token: env:TOKEN',
    { minimumTtls: [null] },
    ({ rules }) => rules.at(-1)?.(PROBES[0] as DefinedRecord, ZONES[0] as (typeof ZONES)[number]).record?.ttl,
    3600,
  ],
])('facts of an earlier run: %s', (_, type, settings, facts, view, expected) => {
  expect(view(capabilitiesOf(entryOf(type, settings).entry, facts as Record<string, unknown>) as Capabilities)).toEqual(expected)
})
