/** The owner that a rule names, in every document. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { validate as isPlan } from '../../generated/plan-schema.js'
import { validate as isValidation } from '../../generated/validation-schema.js'
import { validate as isVerification } from '../../generated/verification-schema.js'
import { validate as isZones } from '../../generated/zones-schema.js'
import { folderWith } from '../definition/files.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { openScene, zoneFiles, zoneOf } from './scene.ts'

const FILES = zoneFiles(['example.com', 'example.org'])

const RULES = `zones:
  - {zone: example.com, owner: 'team-a (désirée)'}
  - {zone: example.org}
`

const ownersOf = (zones: readonly { zone: string; owner?: string | null }[]) => zones.map(({ zone, owner }) => [zone, owner])

const OWNED = [
  ['example.com.', 'team-a (désirée)'],
  ['example.org.', null],
]

test('every document names the owner of a zone, from the plan to the rollback', async () => {
  const { run, folder } = openScene({ files: FILES, config: RULES })
  const documentOf = async (isValid: (value: unknown) => boolean, ...args: string[]) => {
    const document = JSON.parse((await run(...args, '--format', 'json')).stdout)
    expect(isValid(document)).toBe(true)
    return document
  }
  expect(ownersOf((await documentOf(isValidation, 'validate')).definitions)).toEqual(OWNED)
  expect(ownersOf((await documentOf(isZones, 'zones')).zones)).toEqual(OWNED)
  expect(ownersOf((await documentOf(isPlan, 'plan', '--out', 'plan.json')).zones)).toEqual(OWNED)
  expect(ownersOf(JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')).zones)).toEqual(OWNED)
  expect(ownersOf((await documentOf(isPlan, 'apply', './plan.json', '--yes')).zones)).toEqual(OWNED)
  expect(ownersOf((await documentOf(isVerification, 'verify', '--no-dns')).zones)).toEqual(OWNED)
  expect(ownersOf((await documentOf(isPlan, 'rollback', '--last', '--yes', '--allow', 'delete-zone')).zones)).toEqual(OWNED)
})

test('validate counts the problems of each zone', async () => {
  const bad = `${zoneOf('example.org')}  bad: {type: A, value: x}\n`
  const { run } = openScene({ files: { ...FILES, 'zones/example.org.yaml': bad }, config: RULES })
  const { definitions } = JSON.parse((await run('validate', '--format', 'json')).stdout)
  expect(definitions).toMatchObject([{ zone: 'example.com.', errors: 0, files: ['zones/example.com.yaml'] }, { errors: 1 }])
})

test.each([
  ['a line break', '"team\\nb"'],
  ['a control character', '"team\\u001b[31m"'],
  ['a bidirectional control', '"team\\u202eb"'],
  ['only a space', '" "'],
  ['nothing', '""'],
  ['101 characters', `"${'x'.repeat(101)}"`],
  ['a number', '17'],
])('an owner that no report can show is refused: %s', async (_, owner) => {
  const cwd = folderWith({ 'zonewright.yaml': `zones:\n  - {files: 'zones/*', owner: ${owner}}\n` })
  const { stdout } = expectEnd(await cli(['validate'], { cwd }), 1, { out: /zonewright\.yaml:2:\d+: error\[schema-/ })
  expect(stdout.trim().split('\n')).toHaveLength(1)
})

describe('owner and expires of a definition', () => {
  const TEXT = `domain: example.com
soa_email: hostmaster@example.com
owner: platform
expires: 2020-06-01
records:
  www: {type: A, value: 192.0.2.1, owner: web, expires: 2020-01-31}
  mail: {type: A, value: 192.0.2.2, expires: 2999-01-31}
`
  const ZONE_EXPIRED = 'example.com. has expired on 2020-06-01 (owner: platform)'
  const RECORD_EXPIRED = 'www.example.com. A has expired on 2020-01-31 (owner: web)'

  test('take precedence over the rule; every report says what has expired, and nothing is deleted', async () => {
    const { run, folder } = openScene({ files: { 'zones/example.com.yaml': TEXT }, config: 'zones: [{owner: rule}]\n' })
    const messages = (diagnostics: readonly { message: string; severity: string }[]) =>
      diagnostics.map(({ severity, message }) => `${severity} ${message}`).sort()
    const validation = JSON.parse((await run('validate', '--format', 'json')).stdout)
    expect(messages(validation.diagnostics)).toEqual([`warning ${ZONE_EXPIRED}`, `warning ${RECORD_EXPIRED}`])
    expect(messages(JSON.parse((await run('validate', 'example.com', '--format', 'json')).stdout).diagnostics)).toHaveLength(2)

    const text = await run('plan', '--out', 'plan.json')
    expect(text.stderr).toContain(`warning[zone-expired] ${ZONE_EXPIRED}`)
    expect(text.stderr).toContain(`warning[record-expired] ${RECORD_EXPIRED}`)
    expect(text.stdout).toMatch(/platform: 1 zone/)
    expect(text.stdout).toMatch(/www .* 192\.0\.2\.1\s+owner: web/)
    const plan = JSON.parse((await run('plan', '--format', 'json')).stdout)
    expect(isPlan(plan)).toBe(true)
    expect(plan.zones).toMatchObject([{ owner: 'platform', diagnostics: [{ code: 'zone-expired' }, { code: 'record-expired' }] }])
    expect(plan.zones[0].changes.map(({ name, owner }: { name: string; owner?: string }) => [name, owner])).toEqual([
      ['example.com.', undefined],
      ['mail.example.com.', undefined],
      ['www.example.com.', 'web'],
    ])
    for (const format of ['markdown', 'html', 'github', 'junit', 'sarif'])
      expect((await run('plan', '--format', format)).stdout, format).toContain('has expired on 2020-01-31 (owner: web)')
    expect(JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')).zones[0].changes[2].owner).toBe('web')
    expect(await run('apply', './plan.json', '--yes')).toMatchObject({ status: 0 })
    const after = JSON.parse((await run('plan', '--format', 'json')).stdout)
    expect(after.zones).toMatchObject([{ changes: [], diagnostics: [{ code: 'zone-expired' }, { code: 'record-expired' }] }])
  })
})
