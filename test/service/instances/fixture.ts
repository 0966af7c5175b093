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
  /** Advances the service's clock by seconds and runs the due jobs. */
  pass(seconds: number): Promise<void>
  /** Creates an instance and returns its path; by default it waits until it is ready. */
  made(body: object, seconds?: number): Promise<{ readonly id: number; readonly path: string }>
}

/** A service whose clock advances only with `pass`; it starts on a Saturday at nine. */
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
