/** Selectors of an owner and presets: records of other clients, also of those to come. */
import { describe, expect, test } from 'vitest'
import type { UnmanagedSelector } from '../../src/dns/zone.ts'
import { changesOf, ORIGIN, planOf } from '../support/plan.ts'
import { desiredZone, existingZone } from '../support/records.ts'

const NOTE = '"heritage=external-dns,external-dns/owner=k8s,external-dns/resource=ingress/default/app"'
/** Encrypted: 156 characters of base64. */
const SECRET = `"${'aB3/'.repeat(38)}xy=="`

/** The deletions and other changes of a plan for a live zone, and its warnings. */
function plan(unmanaged: readonly UnmanagedSelector[], live: string, declared = 'keep A 192.0.2.9') {
  const existing = existingZone(ORIGIN, `keep A 192.0.2.9\n${live}`)
  const desired = desiredZone(ORIGIN, declared, { unmanaged })
  const made = planOf(null, '', { desired, existing, allow: new Set(['deletes']) })
  return {
    changes: changesOf(made),
    collisions: made.diagnostics.filter(({ code }) => code === 'unmanaged-collision').map(({ at }) => at?.line),
    unmanaged: made.records.unmanaged,
    warnings: made.diagnostics.filter(({ code }) => code === 'client-record').map(({ message, hint }) => `${message}; ${hint}`),
  }
}

describe('the owner external-dns', () => {
  const OWNER = [{ owner: 'external-dns' }] as const
  test.each([
    ['the type before the name', `app A 192.0.2.1\na-app TXT ${NOTE}`],
    ['an AAAA record', `app AAAA 2001:db8::1\naaaa-app TXT ${NOTE}`],
    ['a record at a name of the same form', `a-app A 192.0.2.1\na-a-app TXT ${NOTE}`],
    ['the type alone in a name below', `b.app MX 10 keep\nmx-b.app TXT ${NOTE}`],
    [
      'no type (before version 0.12)',
      `app CNAME keep\nother TXT ${NOTE}\nother A 192.0.2.1\napp2 A 192.0.2.1\napp2 TXT ${NOTE}\ncname-app TXT ${NOTE}`,
    ],
    ['an alias', `app A 192.0.2.1\ncname-app TXT ${NOTE}`],
    ['quotation marks in the text', `app A 192.0.2.1\na-app TXT "\\"heritage=external-dns,external-dns/owner=x\\""`],
    ['a prefix', `app A 192.0.2.1\nextdns-a-app TXT ${NOTE}`],
    ['a prefix without a separator', `app A 192.0.2.1\nextdnsa-app TXT ${NOTE}`],
    ['a prefix that ends in a dot', `app A 192.0.2.1\nextdns.a-app TXT ${NOTE}`],
    ['a prefix without a type', `app CNAME keep\n_extdns.app TXT ${NOTE}\nold A 192.0.2.1\nextdns-old TXT ${NOTE}`],
    ['a prefix with the type', `app A 192.0.2.1\nx-a-.app TXT ${NOTE}`],
    ['a prefix with the type, at the apex', `@ A 192.0.2.1\nx-a-.example.com. TXT ${NOTE}`],
    ['a suffix', `app A 192.0.2.1\na-app-extdns TXT ${NOTE}`],
    ['a suffix below', `app.eu A 192.0.2.1\na-app-extdns.eu TXT ${NOTE}`],
    ['a suffix without a type', `app A 192.0.2.1\napp-extdns TXT ${NOTE}`],
    ['a suffix with the type', `app.eu CNAME keep\napp-cname-x.eu TXT ${NOTE}`],
    ['a suffix with dots', `app.eu CNAME keep\napp-.cname.eu TXT ${NOTE}`],
    ['a suffix after several labels', `ip.1.2 A 192.0.2.1\na-ip.1.2-x TXT ${NOTE}`],
    ['a wildcard', `*.app A 192.0.2.1\na-*.app TXT ${NOTE}`],
    ['a wildcard whose asterisk is replaced', `*.app A 192.0.2.1\na-any.app TXT ${NOTE}`],
    ['a replaced asterisk and a suffix', `*.app A 192.0.2.1\na-any-x.app TXT ${NOTE}`],
    ['a replaced asterisk at the apex', `*.example.com. CNAME keep\nx-cname-any TXT ${NOTE}`],
    ['encrypted', `app A 192.0.2.1\na-app TXT ${SECRET}`],
    ['encrypted, with a prefix that has the type', `app A 192.0.2.1\nx-a-.app TXT ${SECRET}`],
    ['encrypted, with and without a type', `app A 192.0.2.1\na-app TXT ${SECRET}\napp TXT ${SECRET}`],
    ['a registry record without its record', `a-gone TXT ${NOTE}`],
  ])('keeps %s', (_, live) => {
    expect(plan(OWNER, live)).toMatchObject({ changes: [], collisions: [], unmanaged: live.split('\n').length })
    // Without the selector, the plan deletes them, with a warning.
    const { changes, warnings } = plan([], live)
    expect([changes.length > 0, warnings]).toEqual([true, [expect.stringMatching(/written: .*"unmanaged: \[\{owner: external-dns\}\]"$/)]])
  })

  test.each([
    ['another type', `app A 192.0.2.1\napp AAAA 2001:db8::1\na-app TXT ${NOTE}`, ['- app AAAA 2001:db8::1']],
    ['another text at the name of a registry record', `a-app TXT ${NOTE}\na-app TXT "mine"`, ['- a-app TXT "mine"']],
    ['record of the same form that is not registered', `www A 192.0.2.1\na-www A 192.0.2.1`, ['- a-www A 192.0.2.1', '- www A 192.0.2.1']],
    ['a name in which a type occurs', `web A 192.0.2.1\nteam-a-web A 192.0.2.1\nteam-a-web TXT ${NOTE}`, ['- web A 192.0.2.1']],
    ['a prefix of more labels than anybody has', `app A 192.0.2.1\n${'a.'.repeat(9)}a-app TXT ${NOTE}`, ['- app A 192.0.2.1']],
    ['base64 that stands for no record', `mail TXT ${SECRET}\nmail A 192.0.2.1`, ['- mail A 192.0.2.1', `- mail TXT ${SECRET}`]],
  ])('does not keep %s', (_, live, changes) => expect(plan(OWNER, live).changes).toEqual(changes))

  test.each([
    ['is left alone, with a warning', 'app', `app A 192.0.2.1\na-app TXT ${NOTE}`, [], [2]],
    ['is changed, owned by guess', '*.app', `*.app A 192.0.2.1\na-gone.app TXT ${NOTE}`, ['~ *.app A 192.0.2.1 -> *.app A 192.0.2.7'], []],
    ['is created at a new name', 'new', `app A 192.0.2.1\na-app TXT ${NOTE}`, ['+ new A 192.0.2.7'], []],
  ])('a declared record %s', (_, owner, live, changes, collisions) => {
    expect(plan(OWNER, live, `keep A 192.0.2.9\n${owner} A 192.0.2.7`)).toMatchObject({ changes, collisions })
  })

  test('narrowed by a name', () => {
    const live = `a.dev A 192.0.2.1\na-a.dev TXT ${NOTE}\nb A 192.0.2.1\na-b TXT ${NOTE}`
    expect(plan([{ owner: 'external-dns', name: '*.dev' }], live).changes).toEqual([`- a-b TXT ${NOTE}`, '- b A 192.0.2.1'])
  })

  test('many of them', () => {
    const live = Array.from({ length: 500 }, (_, i) => `app${i}.long-name.eu-west A 192.0.2.1\nx-a-app${i}.long-name.eu-west TXT ${NOTE}`)
    expect(plan(OWNER, live.join('\n'))).toMatchObject({ changes: [], unmanaged: 1000 })
  })
})

describe('a preset', () => {
  const DHCID = 'DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA='
  const ACM = '_2f9f.acm-validations.aws.'
  test.each([
    ['acme', '_acme-challenge TXT a\n_acme-challenge.www TXT b\n_abcdef._acme-challenge.www TXT c'],
    ['acm-validation', `_a79865eb4cd1a6ab990a45779b4e0b96.www CNAME ${ACM}`],
    ['dhcp', `pc A 192.0.2.1\npc AAAA 2001:db8::1\npc ${DHCID}\nold A 192.0.2.2\nold TXT "31934ffa9344a3ab86c380505a671e5113"`],
    ['dhcp', `1 PTR pc\n1 ${DHCID}`],
  ] as const)('%s keeps its records', (preset, live) => {
    expect(plan([{ preset }], live)).toMatchObject({ changes: [], collisions: [], unmanaged: live.split('\n').length })
  })

  test.each([
    ['acme', '_acme-challenge.www CNAME x.example.net.', 1],
    ['acme', 'acme-challenge TXT a\nx_acme-challenge TXT b', 2],
    ['acm-validation', 'www CNAME x.acm-validations.aws.\n_x CNAME acm-validations.aws.example.net.', 2],
    ['dhcp', `pc A 192.0.2.1\nmail MX 10 pc\nmail ${DHCID}`, 2],
  ] as const)('%s keeps nothing else: %s', (preset, live, deleted) => expect(plan([{ preset }], live).changes).toHaveLength(deleted))

  test.each([
    ['acme', '_acme-challenge TXT "a"', '_acme-challenge TXT "b"', ['+ _acme-challenge TXT "b"']],
    ['acm-validation', `_x CNAME ${ACM}`, '_x CNAME _y.acm-validations.aws.', [`~ _x CNAME ${ACM} -> _x CNAME _y.acm-validations.aws.`]],
    ['dhcp', `pc A 192.0.2.1\npc ${DHCID}`, 'pc A 192.0.2.2', ['~ pc A 192.0.2.1 -> pc A 192.0.2.2']],
  ] as const)('%s yields to a declared record', (preset, live, declared, changes) => {
    expect(plan([{ preset }], live, `keep A 192.0.2.9\n${declared}`)).toMatchObject({ changes, collisions: [] })
  })
})

test('a plan warns before it deletes what another client has written, by client', () => {
  expect(plan([], '_acme-challenge TXT "a"\n_acme-challenge.www TXT "b"\nold A 192.0.2.3').warnings).toEqual([
    'example.com. at cloud: the plan deletes what another client seems to have written: _acme-challenge.example.com. TXT and _acme-challenge.www.example.com. TXT; to leave it to that client, write "unmanaged: [{preset: acme}]"',
  ])
  expect(plan([], 'old A 192.0.2.3').warnings).toEqual([])
})
