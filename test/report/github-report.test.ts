import { expect, test } from 'vitest'
import { nameOfBaseConfig } from '../../src/base/diagnostic.ts'
import { loadFormat, renderPlan } from '../../src/report/render-report.ts'
import { changeOf, HOSTILE, planOf, zoneOf } from './plan-of.ts'

const OPTIONS = { color: true, width: 80, verbose: false }

test('a plan is annotations, a group per zone and the summary', () => {
  const at = { file: 'zones/a,b:c.yaml', line: 7, column: 3 }
  const plan = planOf(
    [
      zoneOf([changeOf(null, 'www.example.com. 300 A 192.0.2.1')], {
        refusals: [
          { name: 'updates', message: 'too many: 40 %', allowed: false },
          { name: 'deletes', message: 'some', allowed: true },
        ],
        diagnostics: [{ severity: 'notice', code: 'ttl-rounded', message: '50% more, or less', at, hint: 'do that' }],
      }),
      zoneOf([]),
    ],
    [{ severity: 'warning', code: 'zone-removed', message: 'no place' }],
  )
  expect(`\n${renderPlan(plan, 'github', OPTIONS)}`).toBe(`
::error title=refused%3A updates::too many: 40 %25%0Ato allow it: --allow updates
::warning title=allowed%3A deletes::some
::warning title=zone-removed::no place
::notice file=zones/a%2Cb%3Ac.yaml,line=7,col=3,title=ttl-rounded::50%25 more, or less%0Ado that
1 zone refused, nothing will be applied. Plan: 1 to create, 0 to update, 0 to delete in 1 zone (1 request)
::group::example.com. at cloud (10 → 11 of 12,000 records)
  + www  300  A  192.0.2.1
  REFUSED updates: too many: 40 %
    to allow it: --allow updates
  allowed deletes: some
  1 to create (1 request)
::endgroup::
`)
})

/** A command for the runner: `::` at the start of a line, or `##[` anywhere. */
const commandsIn = (text: string): string[] =>
  text.split(/\r\n|\r|\n/).flatMap((line) => {
    const found = /^\s*::([a-z-]+)/.exec(line)?.[1]
    return [...(found ? [found] : []), ...(!found && line.includes('##[') ? ['##['] : [])]
  })

test.each(HOSTILE)('hostile data %j is not a command', (evil) => {
  const plan = planOf([
    zoneOf([changeOf(null, `a.example.com. 300 TXT ${evil}`, { split: evil })], {
      target: evil,
      refusals: [{ name: 'deletes', message: evil, allowed: false }],
      diagnostics: [{ severity: 'error', code: 'usage', message: evil, at: { file: evil, line: 1, column: 1 } }],
    }),
  ])
  expect(commandsIn(renderPlan(plan, 'github', OPTIONS))).toEqual(['error', 'error', 'group', 'endgroup'])
})

test('an annotation about the config of the base branch has the path of the file', async () => {
  const at = { file: nameOfBaseConfig('dns/zonewright.yaml'), line: 3, column: 5 }
  const plan = planOf([], [{ severity: 'error', code: 'secret-missing', message: 'no token', at }])
  const message = 'in the config of the base branch: no token'
  expect(renderPlan(plan, 'github', OPTIONS)).toContain(`::error file=dns/zonewright.yaml,line=3,col=5,title=secret-missing::${message}\n`)
  await loadFormat('sarif')
  const [result] = JSON.parse(renderPlan(plan, 'sarif', OPTIONS)).runs[0].results
  expect(result).toMatchObject({
    message: { text: message },
    locations: [{ physicalLocation: { artifactLocation: { uri: 'dns/zonewright.yaml' } } }],
  })
})
