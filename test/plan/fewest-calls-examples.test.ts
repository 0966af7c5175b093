/** Compares the planner's number of calls with the minimum by brute force, for readable cases. */
import { expect, it } from 'vitest'
import { fewestCallsByBruteForce } from '../support/brute-force.ts'
import { problemOfPlan } from '../support/check-plan.ts'
import { ORIGIN } from '../support/plan.ts'
import { isSound, showPlanned, stagesOfCase, type ZoneCase } from '../support/zone-cases.ts'

const cases: {
  name: string
  existing: string
  desired: string
  limit?: number
  /** The fewest calls of an accepted sequence, and of one that is also continuous. */
  accepted: number
  continuous: number | null
}[] = [
  { name: 'nothing', existing: 'a A 192.0.2.1', desired: 'a A 192.0.2.1', accepted: 0, continuous: 0 },
  {
    name: 'a CNAME and an A swap names',
    existing: 'a CNAME host.example.net.\nb A 192.0.2.1',
    desired: 'a A 192.0.2.1\nb CNAME host.example.net.',
    accepted: 3,
    continuous: 3,
  },
  {
    name: 'two such swaps share one split',
    existing: 'a CNAME host.example.net.\nb A 192.0.2.1\nc CNAME host.example.net.\nd A 192.0.2.2',
    desired: 'a A 192.0.2.1\nb CNAME host.example.net.\nc A 192.0.2.2\nd CNAME host.example.net.',
    accepted: 5,
    continuous: 5,
  },
  {
    name: 'a swap without extra calls, due to an update at another name',
    existing: 'a CNAME host.example.net.\nb A 192.0.2.1\nc A 192.0.2.2\nc A 192.0.2.3',
    desired: 'a A 192.0.2.1\nb CNAME host.example.net.\nc A 192.0.2.2\nc A 192.0.2.4',
    accepted: 3,
    continuous: 3,
  },
  {
    name: 'a swap without extra calls, due to a rename at another name',
    existing: 'a CNAME host.example.net.\nb A 192.0.2.1\nc A 192.0.2.2',
    desired: 'a A 192.0.2.1\nb CNAME host.example.net.\nd A 192.0.2.2',
    accepted: 3,
    continuous: 3,
  },
  {
    name: 'a renamed A with a CNAME that follows it',
    existing: 'a A 192.0.2.1\nwww CNAME a',
    desired: 'b A 192.0.2.1\nwww CNAME b',
    accepted: 2,
    continuous: 3,
  },
  {
    name: 'a chain of renames',
    existing: 'a CNAME host.example.net.\nb A 192.0.2.1\nc TXT "x"',
    desired: 'b CNAME host.example.net.\nc A 192.0.2.1\nd TXT "x"',
    accepted: 3,
    continuous: 3,
  },
  {
    name: 'three names in a cycle',
    existing: 'a CNAME host.example.net.\nb A 192.0.2.1\nc CNAME other.example.net.',
    desired: 'b CNAME host.example.net.\nc A 192.0.2.1\na CNAME other.example.net.',
    accepted: 4,
    continuous: 4,
  },
  {
    name: 'glue moves with its delegation',
    existing: 'sub NS ns1.sub\nns1.sub A 192.0.2.1',
    desired: 'sub NS ns2.sub\nns2.sub A 192.0.2.1',
    accepted: 2,
    continuous: 3,
  },
  {
    name: 'glue moves and two name servers are replaced',
    existing: 'sub NS ns1.sub\nsub NS ns2.sub\nns1.sub A 192.0.2.1\nns2.sub A 192.0.2.2',
    desired: 'sub NS ns3.sub\nsub NS ns4.sub\nns3.sub A 192.0.2.3\nns4.sub A 192.0.2.4',
    accepted: 4,
    continuous: 5,
  },
  {
    name: 'a set of MX records gets other targets',
    existing: '@ MX 10 mx1\n@ MX 20 mx2\nmx1 A 192.0.2.1\nmx2 A 192.0.2.2',
    desired: '@ MX 10 mx3\n@ MX 20 mx4\nmx3 A 192.0.2.1\nmx4 A 192.0.2.2',
    accepted: 4,
    continuous: 5,
  },
  {
    name: 'a null MX becomes several MX records',
    existing: '@ MX 0 .',
    desired: '@ MX 10 host.example.net.\n@ MX 20 host.example.net.',
    accepted: 2,
    continuous: 2,
  },
  {
    name: 'several MX records become a null MX',
    existing: '@ MX 10 host.example.net.\n@ MX 20 host.example.net.',
    desired: '@ MX 0 .',
    accepted: 2,
    continuous: 2,
  },
  {
    name: 'a null MX and several MX records swap names',
    existing: 'a MX 0 .\nb MX 10 host.example.net.\nb MX 20 host.example.net.',
    desired: 'b MX 0 .\na MX 10 host.example.net.\na MX 20 host.example.net.',
    accepted: 3,
    continuous: 3,
  },
  {
    name: 'a CNAME target changes from CNAME to A: unavoidable interruption',
    existing: 'a CNAME host.example.net.\nwww CNAME a',
    desired: 'a A 192.0.2.1\nwww CNAME a',
    accepted: 2,
    continuous: null,
  },
  {
    name: 'a CNAME and an A swap names below a CNAME: one interruption, and no extra split',
    existing: 'www CNAME a\na CNAME host.example.net.\nb A 192.0.2.1',
    desired: 'www CNAME a\na A 192.0.2.1\nb CNAME host.example.net.',
    accepted: 3,
    continuous: null,
  },
  {
    name: 'a CNAME and many records swap names below a CNAME: one interruption and one split',
    existing: 'www CNAME a\na CNAME host.example.net.\nb A 192.0.2.1\nb AAAA 2001:db8::1\nb MX 10 host.example.net.\nb TXT "x"',
    desired: 'www CNAME a\na A 192.0.2.1\na AAAA 2001:db8::1\na MX 10 host.example.net.\na TXT "x"\nb CNAME host.example.net.',
    accepted: 6,
    continuous: null,
  },
  {
    name: 'only one of two interruptions is unavoidable',
    existing: 'b TXT "z"\na 300 CNAME b\nu CNAME b\nc A 192.0.2.1\nc MX 10 a',
    desired: 'a TXT "z"\nu 300 CNAME b\nb CNAME b\nc A 192.0.2.1\nc MX 10 a',
    accepted: 4,
    continuous: null,
  },
  {
    name: 'a new CNAME waits until its target has changed from A to CNAME',
    existing: 'app A 192.0.2.1',
    desired: 'app CNAME host.example.net.\nwww CNAME app',
    accepted: 3,
    continuous: 3,
  },
  {
    name: 'a renamed CNAME whose target changes its type: removed before, added after',
    existing: 'www CNAME app\napp A 192.0.2.1',
    desired: 'web CNAME app\napp CNAME host.example.net.',
    accepted: 3,
    continuous: 4,
  },
  {
    name: 'an A moves to the name of a CNAME that points to it: the new CNAME waits for its target',
    existing: 'www CNAME app\napp A 192.0.2.1',
    desired: 'www A 192.0.2.1\nweb CNAME www',
    accepted: 2,
    continuous: 3,
  },
  {
    name: 'a CNAME is removed before its target changes its type',
    existing: 'www CNAME app\napp A 192.0.2.1',
    desired: 'app CNAME host.example.net.',
    accepted: 2,
    continuous: 3,
  },
  {
    name: 'two removed pointers and one in use: only the one in use stays continuous',
    existing: 'u CNAME w\nw MX 10 t\nt A 192.0.2.1',
    desired: 'u CNAME w\nw SRV 0 5 443 t\nt CNAME host.example.net.',
    accepted: 4,
    continuous: null,
  },
  {
    name: 'a TTL change beside a rename',
    existing: 'a 300 A 192.0.2.1\nb A 192.0.2.2',
    desired: 'a 3600 A 192.0.2.1\nc A 192.0.2.2',
    accepted: 2,
    continuous: 2,
  },
  {
    name: 'an unmanaged CNAME to an A that is replaced by an AAAA',
    existing: 'a A 192.0.2.1\ntheirs CNAME a',
    desired: 'a AAAA 2001:db8::1',
    accepted: 2,
    continuous: 2,
  },
  {
    name: 'a pointer changes while its target changes its type',
    existing: 'c A 192.0.2.2\nb MX 10 c',
    desired: 'c CNAME host.example.net.\nb MX 20 c\nb MX 20 @',
    accepted: 4,
    continuous: 4,
  },
  {
    name: 'a renamed A with a CNAME that follows it, in a full zone: unavoidable interruption',
    existing: 'a A 192.0.2.1\nwww CNAME a',
    desired: 'b A 192.0.2.1\nwww CNAME b',
    limit: 2,
    accepted: 2,
    continuous: null,
  },
  {
    name: 'a renamed A with a CNAME that follows it, in a full zone: a removed text makes room without extra calls',
    existing: 'a A 192.0.2.1\nwww CNAME a\nc TXT "x"',
    desired: 'b A 192.0.2.1\nwww CNAME b',
    limit: 3,
    accepted: 3,
    continuous: 4,
  },
  {
    name: 'a renamed A with a CNAME that follows it, in a full zone: a renamed text is split to make room',
    existing: 'a A 192.0.2.1\nwww CNAME a\nc TXT "x"',
    desired: 'b A 192.0.2.1\nwww CNAME b\nd TXT "x"',
    limit: 3,
    accepted: 3,
    continuous: 5,
  },
  {
    name: 'addresses, MX records and texts swap names in a full zone',
    existing: '@ A 192.0.2.1\nc MX 20 a\nc TXT "y"\nb MX 20 b\nb TXT "x"\na CNAME @',
    desired: '@ 300 MX 20 a\n@ TXT "y"\nc MX 20 b\nc TXT "x"\nb CNAME @\na A 192.0.2.1',
    limit: 6,
    accepted: 6,
    continuous: 8,
  },
  {
    name: 'two of three duplicates are reused',
    existing: 'a A 192.0.2.1\na A 192.0.2.1\na A 192.0.2.1',
    desired: 'a A 192.0.2.1\nb A 192.0.2.1\nc A 192.0.2.1',
    accepted: 2,
    continuous: 2,
  },
]
it.each(cases)('$name', ({ existing, desired, limit = null, accepted, continuous }) => {
  const lines = (text: string): string[] => text.split('\n')
  const zone: ZoneCase = { existing: lines(existing), desired: lines(desired), limit }
  expect(isSound(zone)).toBe(true)
  expect(fewestCallsByBruteForce(stagesOfCase(zone), ORIGIN, limit)).toEqual({ accepted, continuous })
  expect(problemOfPlan(zone), showPlanned(zone)).toBeNull()
})
