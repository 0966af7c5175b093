/** A pull request cannot weaken the policies that its plan is checked by. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { describeWithTools } from '../support/skip.ts'
import { commentsOn, openRepository, type Repository, zone } from './repository.ts'

const TTL = `- name: ttl
  each: record_set
  require: {properties: {ttl: {minimum: 300}}}
  message: a TTL is at least 5 minutes
  tests: [{given: {ttl: 300}, expect: pass}, {given: {ttl: 60}, expect: fail}]
- name: few-creations
  each: plan
  require: {properties: {summary: {properties: {create: {maximum: 1}}}}}
  message: a plan creates at most one record
  tests: [{given: {summary: {create: 2}}, expect: fail}]
`

describeWithTools(['git', 'bash'], 'policies of the base branch', () => {
  let repository: Repository
  let branches = 0

  beforeAll(async () => {
    repository = await openRepository()
    await repository.applyMain()
    await repository.push({ 'policies/rules.yaml': TTL })
  })

  /** Opens a pull request that adds records and does more. */
  const open = (records: string, change: (folder: string) => void = () => undefined): number => {
    branches += 1
    repository.commit(`policies-${branches}`, (folder) => {
      writeFileSync(join(folder, 'zones/example.com.yaml'), zone('example.com', '192.0.2.1', records))
      change(folder)
    })
    return repository.open(`policies-${branches}`)
  }

  const LOW = '  low: {type: A, ttl: 60, value: 192.0.2.6}\n'
  const MANY = '  a: {type: A, ttl: 5m, value: 192.0.2.6}\n  b: {type: A, ttl: 5m, value: 192.0.2.6}\n'

  test('apply to a pull request: no plan is kept, and the comment says why', async () => {
    const number = open(LOW)
    expect(await repository.plan(number)).toMatchObject({ status: 1, output: expect.stringContaining('title=policy-ttl') })
    expect(commentsOn(repository, number)).toEqual([
      expect.stringContaining('error[policy-ttl] low.example.com. A: a TTL is at least 5 minutes'),
    ])
    expect(repository.github.artifacts.filter(({ name }) => name.startsWith('zonewright-plan'))).toEqual([])
    const many = open(MANY)
    expect(await repository.plan(many)).toMatchObject({ status: 1 })
    expect(commentsOn(repository, many)).toEqual([expect.stringContaining('error[policy-few-creations] a plan creates at most one record')])
  })

  test.each<[string, (folder: string) => void]>([
    [
      'weakens a policy, makes an exception, and names other policies in the config',
      (folder) => {
        const exceptions = "  exceptions: [{zone: '*', until: 2099-01-01, reason: mine}]\n  tests:"
        writeFileSync(join(folder, 'policies/rules.yaml'), TTL.replaceAll('300', '60').replace('  tests:', exceptions))
        writeFileSync(join(folder, 'zonewright.yaml'), `${repository.scene.files()['zonewright.yaml']}\npolicies: []\n`)
      },
    ],
    ['removes the policies', (folder) => rmSync(join(folder, 'policies'), { recursive: true })],
  ])('a pull request that %s is checked by those of the base branch', async (_, change) => {
    const number = open(LOW, change)
    expect(await repository.plan(number)).toMatchObject({ status: 1, output: expect.stringContaining('title=policy-ttl') })
    expect(commentsOn(repository, number)).toEqual([expect.stringContaining('error[policy-ttl]')])
  })

  test('the check without secrets runs the tests of changed policies', async () => {
    const number = open('', (folder) => writeFileSync(join(folder, 'policies/rules.yaml'), TTL.replace('minimum: 300', 'minimum: 30')))
    expect(await repository.check(number)).toMatchObject({ status: 1, output: expect.stringContaining('policies-test-failed') })
    expect(await repository.plan(number)).toMatchObject({ status: 0 })
  })

  test('a reviewed plan that the policies of the merge refuse is not applied', async () => {
    const number = open('  zz: {type: A, ttl: 10m, value: 192.0.2.6}\n')
    expect(await repository.plan(number)).toMatchObject({ status: 0 })
    await repository.push({ 'policies/rules.yaml': TTL.replace('minimum: 300', 'minimum: 3600') })
    const before = repository.scene.proxy.mutations().length
    expect(await repository.merge(number)).toMatchObject({ status: 1, output: expect.stringContaining('policy-ttl') })
    expect(repository.scene.proxy.mutations()).toHaveLength(before)
  })
})
