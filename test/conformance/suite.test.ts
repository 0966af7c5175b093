/** The conformance suite as data: it has every group and step of the list, and every step is a valid definition. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isError } from '../../src/base/diagnostic.ts'
import { checkZone } from '../../src/checks/rules/rules.ts'
import { CONFORMANCE_SUITE } from '../../src/conformance/run-conformance.ts'
import { zoneFileDefinition } from '../../src/load/zone-file-definition.ts'
import { name } from '../support/records.ts'

/** The groups of the list as `NUMBER. NAME` and their steps. */
function listed(): [string, string[]][] {
  const groups: [string, string[]][] = []
  for (const line of readFileSync(join(import.meta.dirname, 'provider-test-groups.md'), 'utf8').split('\n')) {
    const [, group] = /^(\d+\. )\*\*(.*)\*\*/.exec(line) ? [line, line.replaceAll('**', '')] : []
    if (group !== undefined) groups.push([group, []])
    const [, step] = /^ {3}- tc: (.*)$/.exec(line) ?? []
    if (step !== undefined) groups.at(-1)?.[1].push(step.trim())
  }
  return groups
}

/** Groups about features of one vendor, which no record of a zone file has. */
const ONLY_OF_A_VENDOR: readonly (readonly [first: number, last: number])[] = [
  [56, 87],
  [96, 101],
  [104, 108],
]

test('the suite has every group of the list with all its steps, but for features of one vendor', () => {
  const suite = CONFORMANCE_SUITE.filter(({ number }) => number !== null).map(({ number, name: group, steps }) => [
    `${number}. ${group}`,
    steps.map((step) => step.name).filter((step) => !step.startsWith('(')),
  ])
  const list = listed()
  expect(list).toHaveLength(110)
  const isOfAVendor = (group: string) =>
    ONLY_OF_A_VENDOR.some(([first, last]) => first <= Number.parseInt(group, 10) && Number.parseInt(group, 10) <= last)
  expect(suite).toEqual(list.filter(([group]) => !isOfAVendor(group)))
})

test('every step is a valid definition, except those that validation must refuse', () => {
  const zone = name('example.com.')
  const invalid = CONFORMANCE_SUITE.flatMap((group) =>
    group.steps.flatMap((step) => {
      const parsed = zoneFileDefinition(`$TTL 300\n${step.records}\n`, zone, { file: group.name })
      const desired = parsed.zone && { ...parsed.zone, unmanaged: step.unmanaged ?? [] }
      const errors = [...parsed.diagnostics, ...(desired ? checkZone(desired) : [])].filter(isError).map(({ code }) => code as string)
      const wanted = step.refused === undefined ? [] : [step.refused]
      return [...new Set(errors)].join() === wanted.join() ? [] : [`${group.name}: ${step.name}: ${errors.join()}`]
    }),
  )
  expect(invalid).toEqual([])
})

test('sizes are around pages and messages', () => {
  const sizes = new Set(CONFORMANCE_SUITE.flatMap(({ steps }) => steps.flatMap(({ size }) => size ?? [])))
  for (const size of [99, 100, 101, 499, 500, 501, 1201, 12_000]) expect(sizes).toContain(size)
})

test('a step with a size has as many records', () => {
  const wrong = CONFORMANCE_SUITE.flatMap(({ steps }) =>
    steps.filter(({ size, records }) => size !== undefined && records.split('\n').length !== size),
  )
  expect(wrong.map((step) => step.name)).toEqual([])
})
