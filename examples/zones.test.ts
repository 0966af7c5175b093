/** Tests of a team's zones and policies. Nothing is contacted, and no token is needed. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { apply, loadDefinitions, plan } from 'zonewright'
import { inMemoryProvider } from 'zonewright/testing'

const cwd = import.meta.dirname
const folder = mkdtempSync(join(tmpdir(), 'zones-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the zones', () => {
  test('are valid and keep the policies', async () => {
    const { diagnostics } = await loadDefinitions({ cwd })
    expect(diagnostics).toEqual([])
  })

  test('give every mail server an address', async () => {
    const { zones } = await loadDefinitions({ cwd })
    for (const { recordSets } of zones) {
      const names = new Set(recordSets.filter(({ type }) => type === 'A' || type === 'AAAA').map(({ name }) => name))
      const servers = recordSets.filter(({ type }) => type === 'MX').flatMap(({ data }) => data.map((one) => one.split(' ')[1]))
      expect(servers.filter((server) => !names.has(server ?? ''))).toEqual([])
    }
  })

  test('fit the provider: a plan after an apply is empty', async () => {
    // Under the name of the provider in the config, so that nothing else is contacted.
    const run = { cwd, journal: join(folder, 'journal'), providers: { cloud: inMemoryProvider({ type: 'cloud' }) } }
    expect((await apply(run)).result).toBe('done')
    expect((await plan(run)).result).toBe('done')
  })
})

test('the policy refuses a zone with mail and no SPF record', async () => {
  for (const path of ['zonewright.yaml', 'policies', 'zones']) cpSync(join(cwd, path), join(folder, path), { recursive: true })
  const zone = join(folder, 'zones/example.com.yaml')
  writeFileSync(zone, readFileSync(zone, 'utf8').replace(/.*v=spf1.*\n/, ''))
  const { result, diagnostics } = await loadDefinitions({ cwd: folder })
  expect([result, ...diagnostics.map(({ code }) => code)]).toEqual(['failed', 'policy-mail-needs-spf'])
})
