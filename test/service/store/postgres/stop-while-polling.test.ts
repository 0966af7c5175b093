import { expect, test } from 'vitest'
import type { DomainName } from '../../../../src/dns/domain-name.ts'
import { openPostgres } from '../../../../src/service/store/postgres/open-postgres.ts'
import { createZoneRenderer } from '../../../../src/service/zone/zone-renderer.ts'
import { freshDatabase } from '../../harness.ts'

test('a renderer that stops during a poll does not use the closed database', async () => {
  const url = await freshDatabase()
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  const ignore = (): void => undefined
  for (let round = 0; round < 20; round += 1) {
    const database = await openPostgres({ url, onError })
    const callbacks = { onZone: ignore, onUnavailable: ignore, onRemoved: ignore, onError }
    const nsNames = ['ns1.example.net.' as DomainName]
    const renderer = createZoneRenderer({ database, nsNames, clock: Date.now, ...callbacks, pollInterval: 1 })
    await renderer.start()
    await new Promise((resolve) => setTimeout(resolve, 5))
    await renderer.close()
    await database.close()
  }
  expect(errors).toEqual([])
})
