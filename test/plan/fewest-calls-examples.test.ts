/** Compares the planner's number of calls with the minimum by brute force, for readable cases. */
import { expect, it } from 'vitest'
import { fewestCallsByBruteForce } from '../support/brute-force.ts'
import { problemOfPlan } from '../support/check-plan.ts'
import { ORIGIN, withAddresses } from '../support/plan.ts'
import { isSound, showPlanned, stagesOfCase, type ZoneCase } from '../support/zone-cases.ts'

/** With the fewest calls of an accepted sequence, and of one that is also continuous. */
const cases: [name: string, existing: string, desired: string, accepted: number, continuous: number | null, limit?: number | null][] = [
  ['nothing', 'a A 1', 'a A 1', 0, 0],
  ['a CNAME and an A swap names', 'a CNAME h.\nb A 1', 'a A 1\nb CNAME h.', 3, 3],
  ['two such swaps share one split', 'a CNAME h.\nb A 1\nc CNAME h.\nd A 2', 'a A 1\nb CNAME h.\nc A 2\nd CNAME h.', 5, 5],
  ['no extra call for a swap beside an update', 'a CNAME h.\nb A 1\nc A 2\nc A 3', 'a A 1\nb CNAME h.\nc A 2\nc A 4', 3, 3],
  ['no extra call for a swap beside a rename', 'a CNAME h.\nb A 1\nc A 2', 'a A 1\nb CNAME h.\nd A 2', 3, 3],
  ['a renamed A with a CNAME that follows it', 'a A 1\nwww CNAME a', 'b A 1\nwww CNAME b', 2, 3],
  ['a chain of renames', 'a CNAME h.\nb A 1\nc TXT "x"', 'b CNAME h.\nc A 1\nd TXT "x"', 3, 3],
  ['three names in a cycle', 'a CNAME h.\nb A 1\nc CNAME o.', 'b CNAME h.\nc A 1\na CNAME o.', 4, 4],
  ['glue moves with its delegation', 'sub NS ns1.sub\nns1.sub A 1', 'sub NS ns2.sub\nns2.sub A 1', 2, 3],
  ['glue moves, two servers are replaced', 's NS n1.s\ns NS n2.s\nn1.s A 1\nn2.s A 2', 's NS n3.s\ns NS n4.s\nn3.s A 3\nn4.s A 4', 4, 5],
  ['MX records get other targets', '@ MX 10 mx1\n@ MX 20 mx2\nmx1 A 1\nmx2 A 2', '@ MX 10 mx3\n@ MX 20 mx4\nmx3 A 1\nmx4 A 2', 4, 5],
  ['a null MX becomes several MX records', '@ MX 0 .', '@ MX 10 h.\n@ MX 20 h.', 2, 2],
  ['several MX records become a null MX', '@ MX 10 h.\n@ MX 20 h.', '@ MX 0 .', 2, 2],
  ['a null MX and several MX records swap names', 'a MX 0 .\nb MX 10 h.\nb MX 20 h.', 'b MX 0 .\na MX 10 h.\na MX 20 h.', 3, 3],
  ['a CNAME target changes from CNAME to A: unavoidable interruption', 'a CNAME h.\nwww CNAME a', 'a A 1\nwww CNAME a', 2, null],
  ['swap below a CNAME: one interruption, and no extra split', 'www CNAME a\na CNAME h.\nb A 1', 'www CNAME a\na A 1\nb CNAME h.', 3, null],
  [
    'a swap of many records below a CNAME: one interruption and one split',
    'www CNAME a\na CNAME h.\nb A 1\nb AAAA 2001:db8::1\nb MX 10 h.\nb TXT "x"',
    'www CNAME a\na A 1\na AAAA 2001:db8::1\na MX 10 h.\na TXT "x"\nb CNAME h.',
    6,
    null,
  ],
  [
    'one of two interruptions is unavoidable',
    'b TXT "z"\na 300 CNAME b\nu CNAME b\nc A 1\nc MX 10 a',
    'a TXT "z"\nu 300 CNAME b\nb CNAME b\nc A 1\nc MX 10 a',
    4,
    null,
  ],
  ['a new CNAME waits until its target has changed from A to CNAME', 'app A 1', 'app CNAME h.\nwww CNAME app', 3, 3],
  ['a renamed CNAME whose target changes its type', 'www CNAME app\napp A 1', 'web CNAME app\napp CNAME h.', 3, 4],
  ['an A moves to the name of a CNAME to it: the new CNAME waits for its target', 'www CNAME app\napp A 1', 'www A 1\nweb CNAME www', 2, 3],
  ['a CNAME is removed before its target changes its type', 'www CNAME app\napp A 1', 'app CNAME h.', 2, 3],
  ['two removed pointers and one in use, continuous', 'u CNAME w\nw MX 10 t\nt A 1', 'u CNAME w\nw SRV 0 5 443 t\nt CNAME h.', 4, null],
  ['a TTL change beside a rename', 'a 300 A 1\nb A 2', 'a 3600 A 1\nc A 2', 2, 2],
  ['an unmanaged CNAME to an A that is replaced by an AAAA', 'a A 1\ntheirs CNAME a', 'a AAAA 2001:db8::1', 2, 2],
  ['a pointer changes while its target changes its type', 'c A 2\nb MX 10 c', 'c CNAME h.\nb MX 20 c\nb MX 20 @', 4, 4],
  ['a renamed A and its CNAME in a full zone: unavoidable interruption', 'a A 1\nwww CNAME a', 'b A 1\nwww CNAME b', 2, null, 2],
  ['a renamed A and its CNAME in a full zone: a removed text makes room', 'a A 1\nwww CNAME a\nc TXT "x"', 'b A 1\nwww CNAME b', 3, 4, 3],
  ['a renamed A and its CNAME in a full zone: a text is split', 'a A 1\nwww CNAME a\nc TXT "x"', 'b A 1\nwww CNAME b\nd TXT "x"', 3, 5, 3],
  [
    'addresses, MX records and texts swap names in a full zone',
    '@ A 1\nc MX 20 a\nc TXT "y"\nb MX 20 b\nb TXT "x"\na CNAME @',
    '@ 300 MX 20 a\n@ TXT "y"\nc MX 20 b\nc TXT "x"\nb CNAME @\na A 1',
    6,
    8,
    6,
  ],
  ['two of three duplicates are reused', 'a A 1\na A 1\na A 1', 'a A 1\nb A 1\nc A 1', 2, 2],
]
it.each(cases)('%s', (_, existing, desired, accepted, continuous, limit = null) => {
  const lines = (text: string): string[] => withAddresses(text).split('\n')
  const zone: ZoneCase = { existing: lines(existing), desired: lines(desired), limit }
  expect(isSound(zone)).toBe(true)
  expect(fewestCallsByBruteForce(stagesOfCase(zone), ORIGIN, limit)).toEqual({ accepted, continuous })
  expect(problemOfPlan(zone), showPlanned(zone)).toBeNull()
})
