import { readFileSync } from 'node:fs'
import { expect, it, test } from 'vitest'
import type { Diagnostic } from '../../src/base/diagnostic.ts'
import { DIAGNOSTIC_CODES } from '../../src/base/diagnostic-codes.ts'
import { testPolicies } from '../../src/checks/policies/apply-policies.ts'
import { loadPolicies } from '../../src/checks/policies/load-policies.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { programZones } from '../../src/convert/dnscontrol/program-zones.ts'
import type { FullDate } from '../../src/dns/ownership.ts'
import { LINT_CODES } from '../../src/dns/suppression.ts'
import { loadDefinitions } from '../../src/load/load-definitions.ts'
import { usePrograms } from '../../src/load/program-loader.ts'
import { makeZonePlan } from '../../src/plan/make-plan.ts'
import { programLoader } from '../../src/programs/load-program.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { entries, examples, LINTS, pages } from './documented-examples.ts'
import { folderWith } from './files.ts'

usePrograms({ start: async () => undefined, loader: async () => programLoader(programZones) })

/** All codes from validating the files and planning their zones for the cloud provider. */
async function codesOf(files: Readonly<Record<string, string>>): Promise<Set<string>> {
  const folder = folderWith(files)
  const diagnostics: Diagnostic[] = []
  const { config, diagnostics: found } = await loadConfig({ cwd: folder })
  diagnostics.push(...found)
  if (config) {
    const policies = await loadPolicies(config, { now: new Date(), env: {} })
    diagnostics.push(...(policies === null ? [] : [...policies.diagnostics, ...testPolicies(policies)]))
    const loaded = await loadDefinitions(config, { today: '2026-06-01' as FullDate })
    diagnostics.push(...loaded.diagnostics)
    for (const { zone, policy, allow, thresholds } of loaded.zones) {
      const plan = makeZonePlan({
        desired: zone,
        existing: { name: zone.name, settings: {}, records: [] },
        target: 'cloud',
        capabilities: CLOUD_CAPABILITIES,
        policy,
        thresholds,
        allow,
        rendered: 'match',
        servedApexNs: ['ns1.cloud.example.', 'ns2.cloud.example.'],
      })
      diagnostics.push(...plan.diagnostics)
    }
  }
  return new Set(diagnostics.map(({ code }) => code))
}

it('has exactly one entry per code', () => {
  expect(entries.map(({ code }) => code).sort()).toEqual([...Object.keys(DIAGNOSTIC_CODES), 'policy-NAME'].sort())
})

test.each(entries.filter(({ body }) => /^```\w+ fails/m.test(body)))(
  '$code: the failing example gives it, the corrected one does not',
  async ({ code, body }) => {
    expect([...(await codesOf(examples(body, 'fails')))]).toContain(code)
    const mended = examples(body, 'mended')
    expect(Object.keys(mended)).not.toEqual([])
    expect([...(await codesOf(mended))]).not.toContain(code)
  },
)

it('has a page with the same sections for each lint', () => {
  expect(pages.map(({ code }) => code).sort()).toEqual([...LINT_CODES].sort())
  const index = readFileSync(new URL('README.md', LINTS), 'utf8')
  for (const { code, body } of pages) {
    expect(
      [...body.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading),
      code,
    ).toEqual(['Finding', 'Why it matters', 'Remedy', 'Suppression', 'Source of the rule'])
    expect(index).toContain(`[\`${code}\`](${code}.md)`)
  }
})

test.each(pages)('$code: the suppression on its page works', async ({ code, body }) => {
  const given = examples(body, 'fails')
  const [, suppressed = ''] = /## Suppression.*?^```yaml\n(.*?)^```$/ms.exec(body) ?? []
  expect(suppressed).toContain(code)
  const own = given['zones/example.com.yaml'] ?? ''
  const domain = own.startsWith('domain:') ? `domain: example.com\nrecords:\n${suppressed.replace(/^/gm, '  ').trimEnd()}\n` : suppressed
  expect([...(await codesOf({ ...given, 'zones/example.com.yaml': domain }))]).toEqual([])
})

test.each(entries)('$code has a description', ({ code, body }) => {
  expect(
    body
      .slice(code.length)
      .replace(/^```.*?^```$/gms, '')
      .trim().length,
  ).toBeGreaterThan(40)
})
