import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { REPORT_FORMATS } from '../../src/report/formats.ts'
import { loadFormat, renderPlan } from '../../src/report/render-report.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { planOf, zoneOf } from './plan-of.ts'

await Promise.all(['markdown', 'html'].map(loadFormat))

const COMMANDS: Readonly<Record<keyof typeof REPORT_FORMATS, readonly string[]>> = {
  plan: ['plan', 'apply', 'rollback'],
  validation: ['validate'],
  verification: ['verify'],
  doctor: ['doctor'],
  history: ['history'],
  providers: ['providers'],
  trace: ['trace'],
  zones: ['zones'],
}

const PAIRS = Object.entries(COMMANDS).flatMap(([report, commands]) =>
  commands.map((command) => [command, REPORT_FORMATS[report as keyof typeof REPORT_FORMATS]] as const),
)

const setting = { cwd: temporaryDirectory() }

describe('the formats of a report', () => {
  test.each(PAIRS)('of %s are exactly those in its help', async (command, formats) => {
    const help = await cli([command, '--help'], setting)
    expect(help.stdout.replace(/\s+/g, ' ')).toContain(`the report: ${formats.join(', ')} (default: text)`)
    expect((await cli([command, '--format', 'no-format'], setting)).stderr).toContain(`It must be one of ${formats.join(', ')}.`)
  })

  test('of plan are those in the table of docs/reports.md', () => {
    const page = readFileSync(new URL('../../docs/reports.md', import.meta.url), 'utf8')
    expect([...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name).sort()).toEqual([...REPORT_FORMATS.plan].sort())
  })

  test.each(Object.keys(REPORT_FORMATS))('of %s include JSON with a schema', (report) => {
    expect(REPORT_FORMATS[report as keyof typeof REPORT_FORMATS]).toContain('json')
    expect(existsSync(new URL(`../../schemas/${report}.schema.json`, import.meta.url))).toBe(true)
  })
})

test.each(['text', 'markdown', 'github', 'html'] as const)('a plan of many zones without changes names no zone twice in %s', (format) => {
  const zones = Array.from({ length: 40 }, (_, i) =>
    zoneOf([], {
      zone: `z${i}.example.` as DomainName,
      rendered: 'stale',
      diagnostics: [
        {
          severity: 'notice',
          code: 'apex-ns-kept',
          message: `cloud sets the apex NS records of z${i}.example.`,
          at: { file: `zones/z${i}.yaml`, line: 1, column: 1 },
        },
      ],
    }),
  )
  const text = renderPlan(planOf(zones), format, { color: false, width: null, verbose: false, diagnostics: format !== 'text' })
  const lines = text.split('\n').filter((line) => line !== '')
  if (format !== 'html') expect(lines.length).toBeLessThanOrEqual(10)
  // The page has a folded list of the zones without changes.
  expect(lines.filter((line) => line.includes('.example.')).length).toBeLessThanOrEqual(format === 'html' ? 3 : 2)
  expect(text).toContain('No changes. 40 zones match.')
  expect(text).toContain('rendered zone file older than the records: z0.example. at cloud, z1.example. at cloud, z2')
})

test('renderers that are loaded when they are queried are imported in no other way', () => {
  const source = new URL('../../src/', import.meta.url)
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const imports = /^import (?!type )[^;]*?from '[^']*(?:html-report|junit-report|sarif-report|markdown-report)\.ts'/m
  const importing = files.filter((file) => imports.test(readFileSync(new URL(file, source), 'utf8')))
  expect(importing).toEqual([])
})
