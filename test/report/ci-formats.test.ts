/** JUnit and SARIF, judged by the published schemas. */
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { beforeAll, describe, expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import type { Diagnostic } from '../../src/base/diagnostic.ts'
import type { DomainName } from '../../src/dns/domain-name.ts'
import type { ZoneOutcome } from '../../src/plan/plan.ts'
import { loadFormat, renderOutcome, renderPlan, renderValidation, renderVerification } from '../../src/report/render-report.ts'
import type { Validation } from '../../src/report/validation.ts'
import type { Verification } from '../../src/report/verification.ts'
import { changeOf, HOSTILE, planOf, zoneOf } from './plan-of.ts'

const OPTIONS = { color: false, width: null, verbose: false, tool: 'zonewright 0.1.0' }
const published = (name: string): string => readFileSync(new URL(`./published/${name}`, import.meta.url), 'utf8')

/** Expects XML that follows the schema, and returns it. */
async function junit(xml: string): Promise<string> {
  const { errors } = await validateXML({ xml: { fileName: 'report.xml', contents: xml }, schema: published('junit-10.xsd') })
  expect(errors.map(({ message }) => message)).toEqual([])
  return xml
}

/** The run of a document that follows the schema. */
let followsSarif: (text: string) => ReturnType<typeof JSON.parse>

beforeAll(async () => {
  await Promise.all(['junit', 'sarif'].map(loadFormat))
  // The schema is of draft 4, whose identifier has another key; its other keywords mean the same in draft 7.
  const { $schema, id, ...schema } = JSON.parse(published('sarif-2.1.0-rtm.5.json'))
  const validate = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false }).compile(schema)
  followsSarif = (text) => {
    const document = JSON.parse(text)
    validate(document)
    expect(validate.errors ?? []).toEqual([])
    return document.runs[0]
  }
})

const ERROR: Diagnostic = {
  severity: 'error',
  code: 'value-invalid',
  message: '"192.0.2.256" is not an IPv4 address',
  at: { file: 'zones/a b.yaml', line: 3, column: 25 },
  hint: 'four numbers from 0 to 255',
  related: [{ message: 'first here', at: { file: 'zones/other.yaml', line: 9, column: 2 } }],
}
const WARNING: Diagnostic = { severity: 'warning', code: 'zone-removed', message: 'no place' }

const VALIDATION: Validation = {
  figures: { files: 3, zones: 2, records: 9 },
  zones: [
    { zone: 'example.com.' as DomainName, owner: 'team-a', files: ['zones/a b.yaml'], diagnostics: [ERROR] },
    { zone: 'example.net.' as DomainName, owner: null, files: ['zones/b.yaml'], diagnostics: [] },
  ],
  diagnostics: [WARNING, ERROR],
}

const PLAN = planOf(
  [
    zoneOf([changeOf(null, 'www.example.com. 300 A 192.0.2.1'), changeOf('x.example.com. 300 A 192.0.2.1', null)], {
      owner: 'team-a',
      refusals: [{ name: 'deletes', message: 'too many', allowed: false }],
    }),
    zoneOf([changeOf(null, 'www.example.net. 300 A 192.0.2.1')], { zone: 'example.net.' as DomainName, diagnostics: [ERROR] }),
    zoneOf([], { zone: 'example.org.' as DomainName }),
  ],
  [WARNING],
)

const OUTCOME: ZoneOutcome = {
  plan: PLAN.zones[0] as ZoneOutcome['plan'],
  outcomes: [{ state: 'applied' }, { state: 'failed', error: 'the server refuses it' }],
  readBack: 'different',
  diagnostics: [],
}

const AGREES = { server: '192.0.2.53:53', asked: 3, agreed: 3, covered: [], failure: null, differences: [] }
const AS_DEFINED = { target: 'cloud', pending: 0, renderedDifferences: [], hidden: [], diagnostics: [], nameServers: [AGREES] }
const DIFFERENCE = { name: 'www.example.com.' as DomainName, type: 'A', expected: ['192.0.2.1'], answered: ['192.0.2.2'] }

const VERIFICATION: Verification = {
  diagnostics: [],
  zones: [
    {
      ...AS_DEFINED,
      zone: 'example.com.' as DomainName,
      owner: 'team-a',
      pending: 2,
      rendered: 'differs',
      renderedDifferences: ['only in the file: www A 192.0.2.1'],
      nameServers: [
        { ...AGREES, agreed: 2, differences: [DIFFERENCE] },
        { ...AGREES, server: '192.0.2.54:53', agreed: 0, failure: 'timed out' },
      ],
    },
    { ...AS_DEFINED, zone: 'example.net.' as DomainName, rendered: 'unavailable' },
  ],
}

describe('JUnit', () => {
  test('validate: a case per zone, in a suite per owner', async () => {
    const xml = await junit(renderValidation(VALIDATION, 'junit', OPTIONS))
    expect(xml).toContain('<testsuites name="zonewright validate" tests="3" failures="0" errors="1">')
    expect(xml).toContain('<testsuite name="validate: team-a" tests="1" failures="0" errors="1" skipped="0">')
    expect(xml).toContain('<testcase name="example.com." classname="zones/a b.yaml">')
    expect(xml).toContain('<error type="value-invalid" message="&quot;192.0.2.256&quot; is not an IPv4 address">')
    expect(xml).toContain('<testcase name="example.net." classname="zones/b.yaml"/>')
  })

  test('verify: a case per check of a zone', async () => {
    const xml = await junit(renderVerification(VERIFICATION, 'junit', OPTIONS))
    expect(xml).toContain('tests="7" failures="3" errors="1"')
    expect(xml).toContain('<testcase name="records" classname="example.com. at cloud">')
    expect(xml).toContain('<failure type="verify-differs" message="2 of 3 record sets as defined">www.example.com. A\n  missing 192')
    expect(xml).toContain('<error type="dns-failed" message="timed out">')
    expect(xml).toContain('<testcase name="192.0.2.53:53" classname="example.net. at cloud"/>')
  })

  test('a plan: refusals fail, pending changes do not', async () => {
    const xml = await junit(renderPlan(PLAN, 'junit', OPTIONS))
    expect(xml).toContain('tests="4" failures="1" errors="1"')
    expect(xml).toContain('<failure type="refused-deletes" message="too many">')
    expect(xml).toContain('<system-out>1 to create, 1 to delete (2 requests)</system-out>')
  })

  test('an apply: what failed, and what was skipped', async () => {
    const zones = PLAN.zones.map((zone) => ({ ...zone, refusals: [], diagnostics: [] }))
    const xml = await junit(renderOutcome({ ...PLAN, zones }, [OUTCOME], 'junit', OPTIONS))
    expect(xml).toContain('<failure type="not-applied" message="failed: the server refuses it">1 created (1 request); 1 failed')
    expect(xml).toContain('<failure type="apply-unconfirmed"')
    expect(xml).toContain('<skipped message="the zone was not applied"/>')
    expect(xml).not.toContain('to create')
  })
})

describe('SARIF', () => {
  test('validate: a result per diagnostic with its position, the gravest first', () => {
    const { tool, results } = followsSarif(renderValidation(VALIDATION, 'sarif', { ...OPTIONS, fromRoot: (file) => `dns/${file}` }))
    expect(results).toMatchObject([
      { ruleId: 'value-invalid', level: 'error' },
      { ruleId: 'zone-removed', level: 'warning' },
    ])
    expect(results[0].locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: 'dns/zones/a%20b.yaml', uriBaseId: '%SRCROOT%' },
      region: { startLine: 3, startColumn: 25 },
    })
    expect(results[0].message.text).toBe('"192.0.2.256" is not an IPv4 address\nfour numbers from 0 to 255')
    // Code scanning refuses results without a location.
    expect(results[1].locations[0].physicalLocation.artifactLocation.uri).toBe('dns/zonewright.yaml')
    for (const { ruleIndex, ruleId } of results) expect(tool.driver.rules[ruleIndex].id).toBe(ruleId)
  })

  test('a plan has refusals, an apply what failed, a verification what differs', () => {
    const idsOf = (text: string): string[] => followsSarif(text).results.map(({ ruleId }: { ruleId: string }) => ruleId)
    expect(idsOf(renderPlan(PLAN, 'sarif', OPTIONS))).toEqual(['refusal-deletes', 'value-invalid', 'zone-removed'])
    expect(idsOf(renderOutcome(PLAN, [OUTCOME], 'sarif', OPTIONS))).toContain('change-failed')
    expect(idsOf(renderVerification(VERIFICATION, 'sarif', OPTIONS))).toEqual(['verify-differs'])
  })

  test('the same message twice is two results, and their number is limited', () => {
    const twice = followsSarif(renderValidation({ ...VALIDATION, diagnostics: [WARNING, WARNING] }, 'sarif', OPTIONS)).results
    expect(twice).toHaveLength(2)
    expect(twice[0].partialFingerprints).not.toEqual(twice[1].partialFingerprints)
    const many = Array.from({ length: 25_100 }, (): Diagnostic => WARNING)
    const results = JSON.parse(renderValidation({ ...VALIDATION, diagnostics: [...many, ERROR] }, 'sarif', OPTIONS)).runs[0].results
    expect(results).toHaveLength(25_000)
    expect(results[0].ruleId).toBe('value-invalid')
  })
})

test('hostile data follow both schemas', async () => {
  const zones = [...HOSTILE, '\ufffe\uffff', ']]><!--', '&#0;&bogus;', 'constructor'].map((evil, index) =>
    zoneOf([changeOf(null, `a.example.com. 300 TXT ${evil}`)], {
      zone: `z${index}.example.` as DomainName,
      owner: evil,
      target: evil,
      refusals: [{ name: 'deletes', message: evil, allowed: false }],
      diagnostics: (['error', 'warning'] as const).map((severity) => ({
        severity,
        code: 'constructor' as Diagnostic['code'],
        message: evil,
        at: { file: evil, line: 1, column: 1 },
        related: [{ message: evil, at: { file: `/${evil}`, line: 0, column: 0 } }],
      })),
    }),
  )
  const outcomes = zones.map(
    (plan): ZoneOutcome => ({ plan, outcomes: [{ state: 'failed', error: plan.target }], readBack: 'not-read', diagnostics: [] }),
  )
  await junit(renderOutcome(planOf(zones), outcomes, 'junit', OPTIONS))
  expect(followsSarif(renderOutcome(planOf(zones), outcomes, 'sarif', OPTIONS)).results.length).toBeGreaterThan(3 * zones.length)
})
