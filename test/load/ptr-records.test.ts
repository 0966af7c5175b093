import { describe, expect, it, test } from 'vitest'
import { type LoadOptions, loadDefinitions } from '../../src/load/load-definitions.ts'
import { configIn, folderWith, places } from '../definition/files.ts'

const CONFIG = `providers:
  cloud: {type: cloud, preset: linode, token: env:TOKEN}
  lab: {type: rfc2136, server: 127.0.0.1:1}
`
const RULES = `${CONFIG}zones:
  - {files: zones/lab/*, targets: [lab]}
  - {files: zones/cloud/*, targets: [cloud]}
  - {files: zones/both/*, targets: [cloud, lab]}
`

async function load(files: Readonly<Record<string, string>>, options: LoadOptions = {}) {
  const folder = folderWith({ 'zonewright.yaml': RULES, ...files })
  const loaded = await loadDefinitions(await configIn(folder), options)
  // Some tests have no files for a rule.
  const diagnostics = loaded.diagnostics.filter(({ code }) => code !== 'no-definitions')
  const { zones } = loaded
  const ptrs = zones.flatMap(({ zone, files: [file] }) =>
    zone.records.filter(({ type }) => type === 'PTR').map((r) => `${file?.split('/').at(-2)}: ${r.name} ${r.ttl} ${r.data}`),
  )
  return { zones, ptrs, problems: places(diagnostics), diagnostics }
}

const REVERSE = "domain: 2.0.192.in-addr.arpa\nrecords: {'': {type: NS, value: ns.example.org.}}\n"
const www = (value: string, more = 'auto_ptr: true'): string =>
  `domain: example.com\nrecords:\n  www: {type: A, ttl: 300, value: ${value}, ${more}}\n`

describe('auto_ptr', () => {
  it('adds PTR records for IPv4 and IPv6 to the most specific reverse zones', async () => {
    const { zones, ptrs, problems } = await load({
      'zones/cloud/example.com.yaml': `domain: example.com
default_ttl: 600
records:
  '':
    - {type: A, value: 192.0.2.1, auto_ptr: true}
    - {type: AAAA, ttl: 60, values: ['2001:db8::1', '2001:db8:0:1::1'], auto_ptr: true}
  www: {type: A, value: 192.0.2.2}
`,
      'zones/lab/2.0.192.in-addr.arpa.yaml': REVERSE,
      'zones/lab/0.192.in-addr.arpa.yaml': 'domain: 0.192.in-addr.arpa\n',
      'zones/lab/8.b.d.0.1.0.0.2.ip6.arpa.yaml': 'domain: 8.b.d.0.1.0.0.2.ip6.arpa\n',
      'zones/lab/1.ip6.arpa.yaml': 'domain: 1.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa\n',
    })
    expect(problems).toEqual([])
    expect(ptrs).toEqual([
      'lab: 1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. 60 example.com.',
      'lab: 1.2.0.192.in-addr.arpa. 600 example.com.',
      'lab: 1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. 60 example.com.',
    ])
    const [ptr] = zones.find(({ zone }) => zone.name === '2.0.192.in-addr.arpa.')?.zone.records.slice(1) ?? []
    expect(ptr?.at).toMatchObject({ file: 'zones/cloud/example.com.yaml', line: 5 })
    expect(ptr?.source).toBe('auto_ptr of example.com. A')
    expect(zones.find(({ zone }) => zone.name === 'example.com.')?.reverseZones).toEqual([
      '1.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.',
      '2.0.192.in-addr.arpa.',
      '8.b.d.0.1.0.0.2.ip6.arpa.',
    ])
  })

  test.each([
    ['of the zone', RULES, 'auto_ptr: true\n', '', ['www.example.com.']],
    ['of the rule', RULES.replace('cloud/*, ', 'cloud/*, auto_ptr: true, '), '', '', ['www.example.com.']],
    ['of the zone before that of the rule', RULES.replace('cloud/*, ', 'cloud/*, auto_ptr: true, '), 'auto_ptr: false\n', '', []],
    ['of the record before that of the zone', RULES, 'auto_ptr: true\n', ', auto_ptr: false', []],
  ])('takes the value %s', async (_, config, setting, key, names) => {
    const { zones, problems } = await load({
      'zonewright.yaml': config,
      'zones/cloud/example.com.yaml': `domain: example.com\n${setting}records:\n  www: {type: A, value: 192.0.2.1${key}}\n`,
      'zones/lab/2.0.192.in-addr.arpa.yaml': REVERSE,
    })
    expect(problems).toEqual([])
    expect(
      zones
        .find(({ zone }) => zone.name.endsWith('arpa.'))
        ?.zone.records.slice(1)
        .map(({ data }) => data),
    ).toEqual(names)
  })

  it('serves zone files by the rule, and leaves wildcards out', async () => {
    const { ptrs, problems } = await load({
      'zonewright.yaml': RULES.replace('cloud/*, ', 'cloud/*, auto_ptr: true, '),
      'zones/cloud/example.com.zone': '$TTL 60\nwww A 192.0.2.1\n* A 192.0.2.9\n*.sub A 192.0.2.8\n',
      'zones/lab/2.0.192.in-addr.arpa.yaml': REVERSE,
    })
    expect(problems).toEqual([])
    expect(ptrs).toEqual(['lab: 1.2.0.192.in-addr.arpa. 60 www.example.com.'])
  })

  it("reads it in octoDNS's layout", async () => {
    const { ptrs, problems } = await load({
      'zones/cloud/example.com.yaml':
        'www: {type: A, ttl: 60, value: 192.0.2.1, auto_ptr: true}\nweb: {type: A, ttl: 60, value: 192.0.2.2}\n',
      'zones/lab/2.0.192.in-addr.arpa.yaml': REVERSE,
    })
    expect(problems).toEqual([])
    expect(ptrs).toEqual(['lab: 1.2.0.192.in-addr.arpa. 60 www.example.com.'])
  })

  it('reads it in included files', async () => {
    const { ptrs, problems } = await load({
      'zones/cloud/example.com.yaml': 'domain: example.com\ninclude: [../../parts/www.yaml]\n',
      'parts/www.yaml': 'www: {type: A, ttl: 60, value: 192.0.2.1, auto_ptr: true}\n',
      'zones/lab/2.0.192.in-addr.arpa.yaml': REVERSE,
    })
    expect(problems).toEqual([])
    expect(ptrs).toEqual(['lab: 1.2.0.192.in-addr.arpa. 60 www.example.com.'])
  })

  test.each([
    ['www: {type: MX, value: {preference: 1, exchange: a.example.net.}, auto_ptr: true}', 'is for the addresses of A and AAAA records'],
    ["'*': {type: A, value: 192.0.2.1, auto_ptr: true}", 'a PTR record cannot point at a wildcard'],
    ['www: {type: A, from: {instances: {tag: web}}, auto_ptr: true}', 'needs addresses in the definition, not "from"'],
    ['www: {type: A, value: 192.0.2.1, auto_ptr: maybe}', 'must be true or false'],
  ])('refuses %s', async (record, message) => {
    const { diagnostics } = await load({ 'zones/lab/example.com.yaml': `domain: example.com\nrecords:\n  ${record}\n` })
    expect(
      diagnostics
        .filter(({ severity }) => severity === 'error')
        .map((one) => one.message)
        .join(),
    ).toContain(message)
  })
})

describe('conflicts of auto_ptr', () => {
  const both = (first: string, second: string) => ({
    'zones/cloud/example.com.yaml': `domain: example.com\n${first}`,
    'zones/cloud/example.net.yaml': `domain: example.net\n${second}`,
    'zones/lab/2.0.192.in-addr.arpa.yaml': REVERSE,
  })
  const a = (name: string, more: string): string => `records:\n  ${name}: {type: A, ttl: 60, value: 192.0.2.1${more}}\n`

  it('reports two names of one address with both places', async () => {
    const { diagnostics, ptrs, zones } = await load(both(a('www', ', auto_ptr: true'), a('mail', ', auto_ptr: true')))
    expect(diagnostics).toEqual([
      {
        severity: 'error',
        code: 'ptr-conflict',
        message: 'mail.example.net. A: auto_ptr gives 192.0.2.1 a second name; the first is www.example.com.',
        at: { file: 'zones/cloud/example.net.yaml', line: 3, column: 35 },
        hint: 'leave auto_ptr: true at one of the records',
        related: [{ message: 'the first name', at: { file: 'zones/cloud/example.com.yaml', line: 3, column: 34 } }],
      },
    ])
    expect(ptrs).toEqual([])
    expect(zones.map(({ zone, valid }) => [zone.name, valid])).toEqual([
      ['example.com.', true],
      ['example.net.', true],
      ['2.0.192.in-addr.arpa.', false],
    ])
  })

  it('lets the record take precedence over the zone, and reports two zones', async () => {
    const inherited = (name: string): string => `auto_ptr: true\n${a(name, '')}`
    expect((await load(both(inherited('www'), inherited('mail')))).problems).toEqual([
      'zones/cloud/example.net.yaml:4:35 error ptr-conflict',
    ])
    const { ptrs, problems } = await load(both(inherited('www'), a('mail', ', auto_ptr: true')))
    expect([ptrs, problems]).toEqual([['lab: 1.2.0.192.in-addr.arpa. 60 mail.example.net.'], []])
  })

  test.each([
    ["'1': {type: PTR, ttl: 60, value: host.example.net.}", ['error ptr-conflict', 'host.example.net.']],
    ["'1': {type: CNAME, ttl: 60, value: 1.sub.example.net.}", ['error ptr-conflict']],
    ["'1': {type: PTR, ttl: 5, value: www.example.com.}", ['www.example.com.']],
    ["'1': {type: TXT, ttl: 5, value: text}", ['www.example.com.']],
  ])('meets %s in the reverse zone', async (record, expected) => {
    const files = {
      'zones/cloud/example.com.yaml': www('192.0.2.1'),
      'zones/lab/2.0.192.in-addr.arpa.yaml': `domain: 2.0.192.in-addr.arpa\nrecords:\n  ${record}\n`,
    }
    const { diagnostics, ptrs } = await load(files)
    expect([...diagnostics.map(({ severity, code }) => `${severity} ${code}`), ...ptrs.map((ptr) => ptr.split(' ').at(-1))]).toEqual(
      expected,
    )
    for (const { related } of diagnostics) expect(related?.[0]?.at.file).toBe('zones/lab/2.0.192.in-addr.arpa.yaml')
    expect((await load({ ...files, 'zones/cloud/example.com.yaml': `auto_ptr: true\n${www('192.0.2.1', '')}` })).problems).toEqual([])
  })

  it('adds nothing where another system manages the PTR records', async () => {
    const { problems, ptrs } = await load({
      'zones/cloud/example.com.yaml': www('192.0.2.1'),
      'zones/lab/2.0.192.in-addr.arpa.yaml': 'domain: 2.0.192.in-addr.arpa\nunmanaged: [{name: "1"}]\n',
    })
    expect(problems).toEqual(['zones/cloud/example.com.yaml:3:35 warning unmanaged-collision'])
    expect(ptrs).toEqual([])
  })
})

describe('reverse zones of auto_ptr', () => {
  it('reports addresses without one: for a record a warning, for a zone one notice', async () => {
    const { diagnostics } = await load({
      'zones/cloud/example.com.yaml': www("['192.0.2.1', '2001:db8::1']".slice(1, 12)),
      'zones/cloud/example.net.yaml':
        'domain: example.net\nauto_ptr: true\nrecords: {a: {type: A, values: [192.0.2.1, 192.0.2.2]}, b: {type: AAAA, value: "2001:db8::1"}}\n',
    })
    expect(diagnostics.map(({ severity, message, hint }) => [severity, message, hint])).toEqual([
      [
        'warning',
        'www.example.com. A: auto_ptr adds no PTR record, because no reverse zone for 192.0.2.1 is defined',
        'define the zone, such as 2.0.192.in-addr.arpa, or remove auto_ptr',
      ],
      [
        'notice',
        'example.net.: auto_ptr adds no PTR records for 3 addresses without a reverse zone: 192.0.2.1, 192.0.2.2 and 2001:db8::1',
        undefined,
      ],
    ])
  })

  it('takes no zone that is deleted, transferred or delegates the address', async () => {
    for (const zone of ['absent: true\n', 'type: slave\nmaster_ips: [192.0.2.53]\n', "records: {'2': {type: NS, value: ns.example.}}\n"]) {
      const { problems, ptrs } = await load({
        'zones/cloud/example.com.yaml': www('192.0.2.1'),
        'zones/lab/reverse.yaml': `domain: 0.192.in-addr.arpa\n${zone}`,
      })
      expect([problems, ptrs]).toEqual([['zones/cloud/example.com.yaml:3:35 warning ptr-zone-missing'], []])
    }
  })

  test.each(['0/26', '0-26', '0-63'])('adds to the block %s (RFC 2317), and asks for the CNAME above it', async (label) => {
    const zone = `${label}.2.0.192.in-addr.arpa`
    const files = {
      'zones/cloud/example.com.yaml':
        'domain: example.com\nauto_ptr: true\nrecords: {www: {type: A, ttl: 60, values: [192.0.2.1, 192.0.2.64]}}\n',
      'zones/lab/block.yaml': `domain: ${zone}\n`,
    }
    const alone = await load(files)
    expect(alone.ptrs).toEqual([`lab: 1.${zone}. 60 www.example.com.`])
    expect(alone.problems).toEqual(['zones/cloud/example.com.yaml:1:9 notice ptr-zone-missing'])
    const without = await load({ ...files, 'zones/lab/parent.yaml': REVERSE })
    expect(without.ptrs).toEqual([`lab: 1.${zone}. 60 www.example.com.`, 'lab: 64.2.0.192.in-addr.arpa. 60 www.example.com.'])
    expect(without.diagnostics.map(({ code, message, hint, at }) => [code, message, hint, at?.file])).toEqual([
      [
        'ptr-unreachable',
        `2.0.192.in-addr.arpa. lacks the CNAME record for 1 PTR record in ${zone}.: 1.2.0.192.in-addr.arpa.`,
        `add '1.2.0.192.in-addr.arpa. CNAME 1.${zone}.' to 2.0.192.in-addr.arpa.`,
        'zones/lab/parent.yaml',
      ],
    ])
    const cname = `domain: 2.0.192.in-addr.arpa\nrecords:\n  '1': {type: CNAME, value: 1.${zone}.}\n  '${label}': {type: NS, value: ns.example.org.}\n`
    expect((await load({ ...files, 'zones/lab/parent.yaml': cname })).problems).toEqual([])
  })
})

describe('auto_ptr with split horizon', () => {
  const forward = (name: string, address: string): string =>
    `domain: example.com\nrecords: {${name}: {type: A, ttl: 60, value: ${address}, auto_ptr: true}}\n`

  it('keeps the variants of the forward zone apart', async () => {
    const { ptrs, problems } = await load({
      'zones/lab/example.com.yaml': forward('inside', '192.0.2.1'),
      'zones/cloud/example.com.yaml': forward('outside', '192.0.2.1'),
      'zones/lab/2.0.192.in-addr.arpa.yaml': REVERSE,
      'zones/cloud/2.0.192.in-addr.arpa.yaml': REVERSE,
    })
    expect(problems).toEqual([])
    expect(ptrs).toEqual(['cloud: 1.2.0.192.in-addr.arpa. 60 outside.example.com.', 'lab: 1.2.0.192.in-addr.arpa. 60 inside.example.com.'])
  })

  it('adds nothing to a reverse zone at other targets', async () => {
    const { ptrs, diagnostics } = await load({
      'zones/lab/example.com.yaml': forward('inside', '192.0.2.1'),
      'zones/cloud/example.com.yaml': forward('outside', '192.0.2.2'),
      'zones/cloud/2.0.192.in-addr.arpa.yaml': REVERSE,
    })
    expect(ptrs).toEqual(['cloud: 2.2.0.192.in-addr.arpa. 60 outside.example.com.'])
    expect(diagnostics.map(({ message }) => message)).toEqual([
      'inside.example.com. A: auto_ptr adds no PTR record, because no reverse zone for 192.0.2.1 is defined for the same target',
    ])
  })

  it('adds to the shared targets of a reverse zone with more', async () => {
    const { zones, problems } = await load({
      'zones/lab/example.com.yaml': forward('inside', '192.0.2.1'),
      'zones/cloud/example.com.yaml': 'domain: example.com\n',
      'zones/both/2.0.192.in-addr.arpa.yaml': REVERSE,
    })
    expect(problems).toEqual([])
    const reverse = zones.find(({ zone }) => zone.name === '2.0.192.in-addr.arpa.')
    expect(reverse?.zone.rrsetTargets).toEqual([
      { name: '1.2.0.192.in-addr.arpa.', type: 'PTR', ignored: false, included: ['lab'], excluded: [] },
    ])
  })
})

describe('auto_ptr of selected zones', () => {
  const FILES = {
    'zones/cloud/example.com.yaml': www('192.0.2.1'),
    'zones/cloud/example.net.yaml': 'domain: example.net\nrecords: {a: {type: A, value: 192.0.2.300}}\n',
    'zones/lab/2.0.192.in-addr.arpa.yaml': REVERSE,
  }

  it('is the same for a reverse zone alone', async () => {
    const { ptrs, problems, zones } = await load(FILES, { zones: ['2.0.192.in-addr.arpa'] })
    expect(zones.map(({ zone }) => zone.name)).toEqual(['2.0.192.in-addr.arpa.'])
    expect([ptrs, problems]).toEqual([['lab: 1.2.0.192.in-addr.arpa. 300 www.example.com.'], []])
  })

  it('fails with the errors of a definition that may ask for PTR records', async () => {
    const broken = {
      ...FILES,
      'zones/cloud/example.net.yaml': 'domain: example.net\nrecords: {a: {type: A, value: 192.0.2.300, auto_ptr: true}}\n',
    }
    expect((await load(broken, { zones: ['2.0.192.in-addr.arpa'] })).problems).toEqual([
      'zones/cloud/example.net.yaml:2:31 error value-invalid',
    ])
    expect((await load(broken, { zones: ['example.com'] })).problems).toEqual([])
  })

  it('names the reverse zones of a forward zone', async () => {
    const { zones, problems } = await load(FILES, { zones: ['example.com'] })
    expect(zones.map(({ zone, reverseZones }) => [zone.name, reverseZones])).toEqual([['example.com.', ['2.0.192.in-addr.arpa.']]])
    expect(problems).toEqual([])
  })

  it('says nothing of missing reverse zones if only some files are read', async () => {
    const folder = folderWith({ 'zonewright.yaml': RULES, ...FILES })
    expect((await loadDefinitions(await configIn(folder), { paths: [`${folder}/zones/cloud/example.com.yaml`] })).diagnostics).toEqual([])
  })
})

it('adds 12,000 PTR records in a moment', { tags: ['long'] }, async () => {
  const records = Array.from({ length: 12_000 }, (_, i) => `  h${i}: {type: A, ttl: 6, value: 10.0.${i >> 8}.${i & 255}, auto_ptr: true}\n`)
  const zones = Array.from({ length: 47 }, (_, i) => [`zones/lab/${i}.0.10.in-addr.arpa.yaml`, `domain: ${i}.0.10.in-addr.arpa\n`])
  const folder = folderWith({
    'zonewright.yaml': RULES,
    'zones/cloud/example.com.yaml': `domain: example.com\nrecords:\n${records.join('')}`,
    ...Object.fromEntries(zones),
  })
  const loaded = await loadDefinitions(await configIn(folder), { lints: false })
  expect(loaded.diagnostics.map(({ code }) => code)).toEqual(['no-definitions'])
  expect(loaded.zones.reduce((sum, { zone }) => sum + (zone.name.endsWith('arpa.') ? zone.records.length : 0), 0)).toBe(12_000)
})
