import { expect, it } from 'vitest'
import { configureZone } from '../../src/config/configured-zone.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { planOf } from '../support/plan.ts'
import { desiredZone, name } from '../support/records.ts'

const ORIGIN = name('example.com.')

const readRule = (unmanaged: string) =>
  readConfig(`providers: {cloud: {type: cloud, preset: linode, token: env:T}}\nzones:\n  - unmanaged: ${unmanaged}\n`, {
    file: 'zonewright.yaml',
    folder: '/srv',
    cwd: '/srv',
  })

function configured(unmanaged: string, records: string) {
  const { config, diagnostics } = readRule(unmanaged)
  const [rule] = config?.zoneRules ?? []
  if (!config || !rule) throw new Error(JSON.stringify(diagnostics))
  return configureZone(desiredZone(ORIGIN, records, { unmanaged: [{ name: 'own' }] }), rule, config, ['zone'], [])
}

it('is added to the selectors of the definition', () => {
  const { zone, diagnostics } = configured("[{name: _acme-challenge*, type: txt}, {name: ''}]", 'www 300 A 192.0.2.1')
  expect(zone.unmanaged).toMatchObject([{ name: 'own' }, { name: '_acme-challenge*', type: 'TXT' }, { name: '' }])
  expect(zone.unmanaged[1]?.at).toMatchObject({ file: 'zonewright.yaml', line: 3 })
  expect(diagnostics).toEqual([])
})

it('comes from the config for the zones of every rule', () => {
  const text = 'unmanaged: [{preset: acme}]\nzones: [{files: a/*, unmanaged: [{name: dyn}]}, {files: b/*}]\n'
  const { config } = readConfig(text, { file: 'zonewright.yaml', folder: '/srv', cwd: '/srv' })
  expect(config?.zoneRules.map(({ unmanaged }) => unmanaged)).toMatchObject([[{ name: 'dyn' }, { preset: 'acme' }], [{ preset: 'acme' }]])
  const alone = readConfig('unmanaged: [{nam: x}]\n', { file: 'zonewright.yaml', folder: '/srv', cwd: '/srv' })
  expect(alone.diagnostics.map(({ code }) => code)).toEqual(['schema-unknown-key'])
  expect(readConfig('unmanaged: [{name: x}]\n', { file: 'f', folder: '/srv', cwd: '/srv' }).config?.zoneRules[0]?.unmanaged).toHaveLength(1)
})

it('excludes whole RRsets of the definition, with a warning each', () => {
  const { zone, diagnostics, valid } = configured(
    '[{name: dyn, target: 192.0.2.9}]',
    'www 300 A 192.0.2.1\ndyn 300 A 192.0.2.8\ndyn 300 A 192.0.2.9',
  )
  expect([valid, diagnostics]).toEqual([
    true,
    [
      expect.objectContaining({
        severity: 'warning',
        code: 'unmanaged-collision',
        message: 'dyn.example.com. A is in the definition, but "unmanaged" in the config matches it, so the target is not changed',
        related: [expect.objectContaining({ message: 'the selector' })],
      }),
    ],
  ])
  const plan = planOf('dyn 300 A 192.0.2.7\nold 300 A 192.0.2.6', '', { desired: zone })
  expect(plan.changes.map(({ action, subject }) => `${action} ${subject}`)).toEqual(['update record'])
  expect(plan.changes[0]).toMatchObject({ existing: { name: 'old.example.com.' }, desired: { name: 'www.example.com.' } })
})

it.each([
  ['[{}]', 'schema-value'],
  ['[{type: NOTYPE}]', 'type-unknown'],
  ['[{nam: x}]', 'schema-unknown-key'],
  ['{name: x}', 'schema-type'],
])('%s is an error', (unmanaged, code) => {
  const { config, diagnostics } = readRule(unmanaged)
  expect([config, diagnostics.map((one) => one.code)]).toEqual([null, [code]])
})
