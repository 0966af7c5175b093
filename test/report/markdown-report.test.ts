import { describe, expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import type { Plan } from '../../src/plan/plan.ts'
import { loadFormat, renderOutcome, renderPlan } from '../../src/report/render-report.ts'
import { anyCharacter, fc } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'
import { changeOf, HOSTILE, planOf, zoneOf } from './plan-of.ts'

await Promise.all(['markdown', 'html'].map(loadFormat))

const OPTIONS = { color: false, width: null, verbose: false }
const markdown = (plan: Plan): string => renderPlan(plan, 'markdown', OPTIONS)

test('a plan is a comment with a block per zone', () => {
  const plan = planOf([
    zoneOf(
      [
        changeOf(null, 'www.example.com. 300 A 192.0.2.1'),
        changeOf('mail.example.com. 300 A 192.0.2.2', 'mail.example.com. 600 A 192.0.2.2'),
        changeOf('old.example.com. 300 A 192.0.2.3', 'out.example.com. 300 A 192.0.2.3'),
        changeOf('gone.example.com. 300 TXT "`code`"', null),
      ],
      {
        refusals: [{ name: 'deletes', message: 'too many', allowed: false }],
        diagnostics: [{ severity: 'notice', code: 'ttl-rounded', message: 'rounded', at: { file: 'zones/a.yaml', line: 7, column: 3 } }],
        rendered: 'stale',
      },
    ),
    zoneOf([], { zone: 'example.net.' as DomainName }),
  ])
  expect(`\n${markdown(plan)}`).toBe(
    `
### 1 zone refused, nothing will be applied. Plan: 1 to create, 2 to update, 1 to delete in 1 zone (4 requests)

\`\`\`diff
- REFUSED deletes: too many (to allow it: --allow deletes)
\`\`\`

**To delete: 1 record**

\`\`\`diff
- gone.example.com. 300 TXT "\`code\`"
\`\`\`

\`\`\`text
zones/a.yaml:7:3: notice[ttl-rounded] rounded
\`\`\`

<details open><summary><code>example.com. at cloud</code>: 1 to create, 2 to update, 1 to delete (4 requests; an update is one - and one +); 13 of 12,000 records; rendered zone file: older than the records</summary>

\`\`\`diff
- gone  300  TXT  "\`code\`"
- mail  300  A    192.0.2.2
+ mail  600  A    192.0.2.2
- old   300  A    192.0.2.3
+ out   300  A    192.0.2.3
+ www   300  A    192.0.2.1
\`\`\`

</details>
`,
  )
})

test('what failed comes before lifted refusals', () => {
  const change = changeOf(null, 'www.example.com. 300 A 192.0.2.1')
  const zone = zoneOf([change], { refusals: [{ name: 'updates', message: 'too many', allowed: true }] })
  const outcome = { plan: zone, outcomes: [{ state: 'failed', error: 'no' } as const], readBack: 'not-read' as const, diagnostics: [] }
  const text = renderOutcome(planOf([zone]), [outcome], 'markdown', OPTIONS)
  expect(text.indexOf('failed: no')).toBeLessThan(text.indexOf('! allowed updates'))
})

/** Zones `z0.example.` to `z29.example.`, each with the changes of a function. */
const thirty = (changesOf: (zone: string, index: number) => ReturnType<typeof changeOf>[], more: Parameters<typeof zoneOf>[1] = {}) =>
  Array.from({ length: 30 }, (_, index) => {
    const zone = `z${index}.example.` as DomainName
    return zoneOf(changesOf(zone, index), { zone, ...more })
  })

/** Expects the parts in this order. */
function expectInOrder(text: string, parts: readonly string[]): void {
  const places = parts.map((part) => text.indexOf(part))
  expect(places, text).not.toContain(-1)
  expect(places).toEqual([...places].sort((a, b) => a - b))
}

test('what matters comes first: errors, refusals, deletions, counts by owner, what is the same in many zones, then the others', () => {
  const add = (owner: string) => changeOf(null, `www.${owner} 300 A 192.0.2.1`)
  const zones = thirty((zone, index) => (index === 7 ? [changeOf(`old.${zone} 300 A 192.0.2.1`, null)] : [add(zone)])).map(
    (zone, index) => ({
      ...zone,
      owner: index % 2 === 0 ? 'team-a' : null,
      refusals: index === 7 ? [{ name: 'deletes', message: 'too many', allowed: false } as const] : [],
      diagnostics: index === 8 ? [{ severity: 'error', code: 'usage', message: 'a mistake' } as const] : [],
    }),
  )
  const text = markdown(planOf(zones, [{ severity: 'notice', code: 'ttl-rounded', message: 'rounded' }]))
  expectInOrder(text, [
    ...['### 1 error, 1 zone refused', 'error[usage] a mistake', '- REFUSED deletes', '**To delete: 1 record**'],
    ...['- old.z7.example. 300 A', '| <code>team-a</code> | 15 | 15 |', '| no owner | 15 | 14 |  | 1 |', 'notice[ttl-rounded]'],
    ...[
      '**The same change in 29 zones:**\n\n```diff\n+ www  300  A  192.0.2.1\n```\n\n<details><summary>The 29 zones</summary>',
      '\nz29.example.\n',
    ],
    '```diff\n@@ z7.example. @@\n- old  300  A  192.0.2.1\n```\n',
  ])
})

test('of many zones, what differs has the room that equal changes leave, deletions first, and a zone at two targets is one', () => {
  const zones = thirty((zone, index) => [
    changeOf(`www.${zone} 300 A 192.0.2.1`, `www.${zone} 300 A 192.0.2.2`),
    ...(index === 20 ? [changeOf(`x.${zone} 300 A 192.0.2.9`, null)] : [changeOf(null, `h${index}.${zone} 300 A 192.0.2.${index}`)]),
  ])
  const text = markdown(planOf([...zones, ...zones.slice(20).map((zone) => ({ ...zone, target: 'other' }))]))
  expectInOrder(text, [
    '**The same change in 40 zones:**\n\n```diff\n- www  300  A  192.0.2.1\n+ www  300  A  192.0.2.2\n```',
    '@@ z20.example. at cloud, z20.example. at other @@\n- x  300  A  192.0.2.9\n',
    '@@ z0.example. at cloud @@\n+ h0  300  A  192.0.2.0\n',
  ])
  expect(text).not.toContain('not shown here')
})

test('the same deletion or error in many zones is one line', () => {
  const plan = planOf(thirty((zone) => [changeOf(`www.${zone} 300 A 192.0.2.1`, null)]))
  expect(markdown(plan)).toContain(
    '- www 300 A 192.0.2.1 in 30 zones: z0.example. at cloud, z1.example. at cloud, z2.example. at cloud and 27 more\n',
  )
  const failed = plan.zones.map((zone, index) => {
    const error = index === 0 ? 'cloud: no such zone' : `cloud: deleting www.${zone.zone} A: the token may not write`
    return { plan: zone, outcomes: [{ state: 'failed', error } as const], readBack: 'not-read' as const, diagnostics: [] }
  })
  const lines = renderOutcome(plan, failed, 'markdown', OPTIONS).match(/^- [0-9]+ change.*$/gm)
  expect(lines).toEqual([
    '- 1 change in z0.example. at cloud failed: cloud: no such zone',
    '- 29 changes in z1.example. at cloud, z2.example. at cloud, z3.example. at cloud and 26 more failed: cloud: the token may not write',
  ])
})

test('a deleted zone leads, also if only its definition is gone', () => {
  const gone = {
    action: 'delete',
    subject: 'domain',
    name: 'example.com.',
    type: null,
    id: 1,
    existing: {},
    desired: null,
    fields: [],
  } as const
  const zone = zoneOf([{ ...gone, name: gone.name as DomainName, call: 0, after: [] }])
  const removed = {
    severity: 'warning',
    code: 'zone-removed',
    message: 'no definition describes example.net.',
    hint: 'restore it',
  } as const
  expectInOrder(markdown(planOf([zone], [{ severity: 'notice', code: 'ttl-rounded', message: 'rounded' }, removed])), [
    '### 1 zone is deleted. Plan:',
    'warning[zone-removed] no definition describes example.net.\n  restore it\nDeletes zones with all records: example.com. at cloud\n',
    'notice[ttl-rounded]',
  ])
})

test('a plan without changes is one line', () => expect(markdown(planOf([zoneOf([])]))).toBe('### No changes. 1 zone matches.\n'))

/** Parses the comment as CommonMark, and fails for anything outside code that the report did not write. Counts changes. */
function structure(text: string): { readonly changes: number; readonly leftOut: number } {
  let fence: string | null = null
  let changes = 0
  let leftOut = 0
  for (const line of text.replaceAll('<!-- -->', '').split('\n')) {
    if (fence !== null) {
      if (new RegExp(`^ {0,3}${fence}\`*\\s*$`).test(line)) fence = null
      else if (/^(?:[+!] |- {3})/.test(line)) changes += 1
      continue
    }
    const opening = /^(`{3,})(?:diff|text)$/.exec(line)
    const more =
      /^\*\*([0-9,]+) more (?:change|diagnostic|refusal|error|zone|deletion)s? (?:in [0-9,]+ zones? )?not shown here\.\*\*$/.exec(line)
    if (opening) fence = opening[1] as string
    else if (more) leftOut += /more change/.test(line) ? Number(more[1]?.replaceAll(',', '')) : 0
    else
      expect(line).toMatch(
        /^(?:|### [\w :;,.()]+|\*\*(?:To delete|Deleted): [\w ,]+\*\*|\*\*The same [0-9]* ?changes? in [0-9,]+ zones:\*\*|<details><summary>The [0-9,]+ zones<\/summary>|<details(?: open)?><summary><code>[^<>|*@[\]\\`_~$]*<\/code>: [^<>@#*_`[\]]*<\/summary>|<\/details>)$/,
      )
  }
  expect(fence).toBe(null)
  return { changes, leftOut }
}

describe('text from users and servers cannot leave the code', () => {
  const hostilePlan = (evil: string, zones = 1): Plan =>
    planOf(
      Array.from({ length: zones }, (_, index) =>
        zoneOf(
          [
            changeOf(null, `a.example.com. 300 TXT ${evil}`),
            changeOf(null, `x${index}.example.com. 300 TXT ${evil}`),
            changeOf('b.example.com. 300 TXT x', `b.example.com. 300 TXT ${evil}`, { split: evil }),
          ],
          {
            zone: `${index === 0 ? '' : index}${evil}.example.` as DomainName,
            target: evil,
            refusals: [{ name: 'deletes', message: evil, allowed: true }],
            diagnostics: [{ severity: 'error', code: 'usage', message: evil, at: { file: evil, line: 1, column: 1 } }],
          },
        ),
      ),
      [{ severity: 'error', code: 'usage', message: evil }],
    )

  test.each(HOSTILE)('%j', (evil) => {
    structure(markdown(hostilePlan(evil)))
    structure(markdown(hostilePlan(evil, 25)))
  })

  test('with any text', () => {
    const pieces = ['```', '~~~', '\n', '</code>', '</details>', '<b>', '@x', '`', '\\', '- ', '\r', '&lt;', '**', '    ', '![a](b)']
    const piece = fc.constantFrom(...pieces)
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ unit: anyCharacter, maxLength: 5 })), { maxLength: 12 }), (pieces) => {
        structure(markdown(hostilePlan(pieces.join(''))))
      }),
      { numRuns: rounds(300) },
    )
  })
})

describe('the size of a comment is limited', () => {
  const many = (count: number, data: string) =>
    Array.from({ length: count }, (_, index) => changeOf(null, `host-${index}.example.com. 300 TXT ${data}`))

  test.each([
    ['many changes', planOf([zoneOf(many(5_000, '"x"')), zoneOf(many(30, '"y"'), { zone: 'example.net.' as DomainName })]), 5_030],
    [
      'many zones',
      planOf(Array.from({ length: 3_000 }, (_, at) => zoneOf(many(1, `"${at}"`), { zone: `z${at}.test.` as DomainName }))),
      3_000,
    ],
    ['long rdata', planOf([zoneOf(many(300, `"${'x'.repeat(60_000)}"`))]), 300],
    ['backticks', planOf([zoneOf(many(300, '`'.repeat(60_000)))]), 300],
  ])('%s', (_, plan, expected) => {
    const text = markdown(plan)
    expect(text.length).toBeLessThanOrEqual(60_000)
    const { changes, leftOut } = structure(text)
    expect(leftOut).toBeGreaterThan(0)
    expect(changes + leftOut).toBe(expected)
  })

  test('diagnostics leave room for the changes', () => {
    const error = { severity: 'error', code: 'usage' } as const
    const diagnostics = Array.from({ length: 10_000 }, (_, index) => ({ ...error, message: `fault ${index} ${'x'.repeat(100)}` }))
    const text = markdown(planOf([zoneOf(many(10, '"x"'), { diagnostics })]))
    expect(text.length).toBeLessThan(25_000)
    expect(text).toMatch(/\*\*9,9\d\d more errors not shown here\.\*\*/)
    expect(structure(text)).toEqual({ changes: 10, leftOut: 0 })
  })
})
