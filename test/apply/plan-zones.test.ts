import { expect, onTestFinished, test } from 'vitest'
import { planZones } from '../../src/apply/plan-zones.ts'
import { DEFAULT_THRESHOLDS } from '../../src/plan/safety-limits.ts'
import { createCloudProvider } from '../../src/providers/cloud/cloud-provider.ts'
import { json, page, scriptedServer } from '../providers/cloud/scripted-server.ts'
import { desiredZone, name } from '../support/records.ts'

test('fifty zones at a silent target time out as fast as one', async () => {
  const names = Array.from({ length: 50 }, (_, index) => `zone-${index}.example`)
  let asked = 0
  const server = await scriptedServer(({ path }, response) => {
    const domains = names.map((domain, id) => ({ id, domain, type: 'master', soa_email: 'hostmaster@example.com' }))
    if (path.endsWith('/domains')) json(response, 200, page(domains))
    else asked += 1
  })
  onTestFinished(() => server.close())
  const readDeadline = 2000
  const provider = createCloudProvider({
    provider: 'cloud',
    baseUrl: server.baseUrl,
    token: 'token',
    parallelism: 8,
    timeout: 1000,
    readDeadline,
  })
  const jobs = names.map((zone) => ({
    desired: desiredZone(name(`${zone}.`), 'www 300 A 192.0.2.1'),
    target: 'cloud',
    policy: 'sync' as const,
    thresholds: DEFAULT_THRESHOLDS,
    allow: new Set<never>(),
  }))
  const { plan, zones } = await planZones(jobs, { providers: new Map([['cloud', provider]]), now: new Date(0), tool: 'test' })
  expect(asked).toBeLessThan(names.length / 2)
  expect(zones).toEqual([])
  const { diagnostics } = plan
  expect(diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual(names.map(() => 'error provider-timeout'))
  const unknownSettings = diagnostics.filter(({ message }) => / was not read, since the target does not respond$/.test(message))
  expect(unknownSettings.length).toBeGreaterThan(30)
})
