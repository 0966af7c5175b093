import { expect, test } from 'vitest'
import { pairRecords } from '../../src/plan/pair-records.ts'
import { ORIGIN } from '../support/plan.ts'
import { desiredZone, existingZone } from '../support/records.ts'

// In sorted order, each address would become the one after it.
test.each([
  [2, 1],
  [32, 31],
  [33, 0],
])('of %i addresses that change, %i become the most similar one: up to 1,024 pairs are compared', (count, expected) => {
  const zone = (...addresses: string[]): string => addresses.map((address) => `a A ${address}\n`).join('')
  const [existing, desired] = [1, 2].map((last) => Array.from({ length: count - 1 }, (_, at) => `172.16.${100 + at}.${last}`))
  const removed = existingZone(ORIGIN, zone('10.0.0.1', ...(existing ?? []))).records
  const calls = pairRecords(removed, desiredZone(ORIGIN, zone(...(desired ?? []), '192.0.2.1')).records)
  const similar = calls.filter((call) => call.existing?.data.replace(/1$/, '2') === call.desired?.data)
  expect([calls.length, similar.length]).toEqual([count, expected])
})
