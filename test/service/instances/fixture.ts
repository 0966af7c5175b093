import type { RunningService, ServiceOptions } from '../../../src/service/index.ts'
import { type Client, startForTest } from '../harness.ts'

export const START = Date.UTC(2026, 0, 31, 9)

export const IMAGE = { region: 'us-east', type: 'g6-standard-1', image: 'public/debian11', root_pass: 'correct horse' } as const
export const EMPTY = { region: 'us-east', type: 'g6-nanode-1' } as const

/** A region with VLANs, and one without. */
export const WITH_VLANS = 'eu-central'
export const WITHOUT_VLANS = 'us-east'

export interface Clocked {
  readonly service: RunningService
  readonly client: Client
  /** Lets so many seconds pass by the service's clock, and what is due then be done. */
  pass(seconds: number): Promise<void>
  /** The path of an instance that is made and, unless the seconds are fewer, ready. */
  made(body: object, seconds?: number): Promise<{ readonly id: number; readonly path: string }>
}

/** A service whose clock stands still but for `pass`; it begins on a Saturday at nine. */
export async function startClocked(options: Partial<ServiceOptions> = {}): Promise<Clocked> {
  let now = START
  const { service, client } = await startForTest({ clock: () => now, ...options })
  const pass = async (seconds: number): Promise<void> => {
    now += seconds * 1000
    await service.catchUp()
  }
  const made: Clocked['made'] = async (body, seconds = 20) => {
    const { id } = await client.ok('POST', '/compute/instances', body)
    if (seconds > 0) await pass(seconds)
    return { id, path: `/compute/instances/${id}` }
  }
  return { service, client, pass, made }
}
