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
### 1 zone refused, nothing will be applied. Plan: 1 to create, 2 to update, 1 to delete in 1 zone (4 calls)

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

<details><summary><code>example.com. at cloud</code>: 1 to create, 2 to update, 1 to delete (4 calls; an update is a - and a + in one call); 13 of 12,000 records; rendered zone file: older than the records</summary>

\`\`\`diff
- gone  300  TXT  "\`code\`"
- mail  300  A    192.0.2.2
+ mail  600  A    192.0.2.2
- old   300  A    192.0.2.3
+ out   300  A    192.0.2.3
+ www   300  A    192.0.2.1
\`\`\`

</details>
`.replace('```\n\n</details>', '```\n\n</details>'),
  )
})

test('what failed comes before lifted refusals', () => {
  const change = changeOf(null, 'www.example.com. 300 A 192.0.2.1')
  const zone = zoneOf([change], { refusals: [{ name: 'updates', message: 'too many', allowed: true }] })
  const outcome = { plan: zone, outcomes: [{ state: 'failed', error: 'no' } as const], readBack: 'not-read' as const, diagnostics: [] }
  const text = renderOutcome(planOf([zone]), [outcome], 'markdown', OPTIONS)
  expect(text.indexOf('failed: no')).toBeLessThan(text.indexOf('! allowed updates'))
})

test('what matters comes first: errors, refusals, deletions, counts by owner, then the zones, each as one line if they are many', () => {
  const zones = Array.from({ length: 30 }, (_, index) => {
    const zone = `z${index}.example.`
    return zoneOf([index === 7 ? changeOf(`old.${zone} 300 A 192.0.2.1`, null) : changeOf(null, `www.${zone} 300 A 192.0.2.1`)], {
      zone: zone as DomainName,
      owner: index % 2 === 0 ? 'team-a' : null,
      refusals: index === 7 ? [{ name: 'deletes', message: 'too many', allowed: false }] : [],
      diagnostics: index === 8 ? [{ severity: 'error', code: 'usage', message: 'a mistake' }] : [],
    })
  })
  const text = markdown(planOf(zones, [{ severity: 'notice', code: 'ttl-rounded', message: 'rounded' }]))
  const parts = [
    ...['### 1 error, 1 zone refused', 'error[usage] a mistake', '- REFUSED deletes', '**To delete: 1 record**'],
    ...['- old.z7.example. 300 A', '| <code>team-a</code> | 15 | 15 |', '| no owner | 15 | 14 |  | 1 |', 'notice[ttl-rounded]'],
    '| zone | target | owner |',
  ]
  const places = parts.map((part) => text.indexOf(part))
  expect(places).not.toContain(-1)
  expect(places).toEqual([...places].sort((a, b) => a - b))
  expect(text).toContain('| <code>z7.example.</code> | <code>cloud</code> |  |  |  | 1 | refused |')
  expect(text).not.toContain('<details>')
})

test('a plan without changes is one line', () => expect(markdown(planOf([zoneOf([])]))).toBe('### No changes. 1 zone matches.\n'))

/** Parses the comment as CommonMark, and fails for anything outside code that the report did not write. Counts changes, or zones with one line each. */
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
    else if (more) leftOut += /more (?:change|zone)/.test(line) ? Number(more[1]?.replaceAll(',', '')) : 0
    else if (/^\| (?:<code>[^<>|*@[\]\\`_~$]*<\/code> \| ){2}[0-9,| a-z]*\|$/.test(line)) changes += 1
    else
      expect(line).toMatch(
        /^(?:|### [\w :;,.()]+|\*\*(?:To delete|Deleted): [\w ,]+\*\*|\| zone \| target .*|\|[ :|-]*|<details><summary><code>[^<>|*@[\]\\`_~$]*<\/code>: [^<>@#*_`[\]]*<\/summary>|<\/details>)$/,
      )
  }
  expect(fence).toBe(null)
  return { changes, leftOut }
}

describe('text from users and servers cannot leave the code', () => {
  const hostilePlan = (evil: string): Plan =>
    planOf(
      [
        zoneOf(
          [
            changeOf(null, `a.example.com. 300 TXT ${evil}`),
            changeOf('b.example.com. 300 TXT x', `b.example.com. 300 TXT ${evil}`, { split: evil }),
          ],
          {
            zone: `${evil}.example.` as DomainName,
            target: evil,
            refusals: [{ name: 'deletes', message: evil, allowed: true }],
            diagnostics: [{ severity: 'error', code: 'usage', message: evil, at: { file: evil, line: 1, column: 1 } }],
          },
        ),
      ],
      [{ severity: 'error', code: 'usage', message: evil }],
    )

  test.each(HOSTILE)('%j', (evil) => {
    structure(markdown(hostilePlan(evil)))
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
    ['many zones', planOf(Array.from({ length: 3_000 }, (_, at) => zoneOf(many(1, '"x"'), { zone: `z${at}.test.` as DomainName }))), 3_000],
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
