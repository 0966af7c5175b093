/** docs/images/plan.svg, which README.md shows, is what a plan looks like. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { planPicture } from '../../scripts/plan-picture.ts'
import { openScene } from '../cli/scene.ts'
import { expectEnd } from '../support/cli.ts'
import { ROOT, readPage } from './pages.ts'

const PICTURE = 'docs/images/plan.svg'

const zone = (records: string): string => `domain: example.com
soa_email: hostmaster@example.com
default_ttl: 1h
records:
  '':
    - {type: A, values: [192.0.2.10, 192.0.2.11]}
    - {type: MX, value: {preference: 10, exchange: mail}}
    - {type: TXT, value: v=spf1 mx -all}
  mail: {type: A, value: 192.0.2.25}
${records}`

test('docs/images/plan.svg is current (otherwise: npm run update-plan-picture)', async () => {
  const scene = openScene({
    files: { 'zones/example.com.yaml': zone("  ftp: {type: A, value: 192.0.2.30}\n  www: {type: CNAME, value: '@'}\n") },
  })
  expectEnd(await scene.run('apply', '--yes'), 0)
  scene.write({
    'zones/example.com.yaml': zone(
      "  _sip._tcp: {type: SRV, value: {priority: 10, weight: 5, port: 5060, target: mail}}\n  www: {type: CNAME, ttl: 5m, value: '@'}\n",
    )
      .replace('192.0.2.11', '192.0.2.12')
      .replace('v=spf1 mx -all', 'v=spf1 mx ip4:192.0.2.0/24 -all'),
  })
  const { stdout } = expectEnd(await scene.runWith({ FORCE_COLOR: '1' }, 'plan'), 0)
  expect(stdout).toContain('\u001b[32m')
  const picture = planPicture('zonewright plan', stdout)
  if (process.env['ZONEWRIGHT_UPDATE_PLAN_PICTURE']) writeFileSync(join(ROOT, PICTURE), picture)
  expect(readPage(PICTURE)).toBe(picture)
})

test('a picture has no escape sequence, and refuses those that it does not know', () => {
  expect(planPicture('x', '\u001b[32m+ <a>\u001b[39m')).toContain('<tspan class="green">+ &lt;a&gt;</tspan>')
  expect(() => planPicture('x', '\u001b[36mx')).toThrow('"36"')
})
