/** Waits until all name servers of Route 53 have a change. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { sleep } from '../../transport/retry.ts'
import { fieldsOf, textOf } from '../json-shape.ts'
import { type ProviderCallOptions, ProviderError } from '../provider.ts'
import type { Route53Api } from './route53-api.ts'

/** Milliseconds between two questions, and the maximum of all. Changes usually reach all servers within a minute. */
const PAUSE = 2000
const MAX_WAIT = 300_000

/** Returns a warning if that takes too long, the change cannot be read, or the run is stopped. The change was made in any case. */
export async function waitForSync(
  api: Route53Api,
  id: string,
  zone: DomainName,
  options?: ProviderCallOptions,
): Promise<readonly Diagnostic[]> {
  const stop = options?.stop ?? options?.signal
  for (let waited = 0; waited < MAX_WAIT; waited += PAUSE) {
    try {
      const status = await api.send({
        what: `waiting for the change of ${zone}`,
        command: (sdk) => new sdk.GetChangeCommand({ Id: id }),
        shape: (output) => textOf(fieldsOf(output['ChangeInfo'], 'the change'), 'Status', 'the change'),
        ...options,
      })
      if (status === 'INSYNC') return []
    } catch (error) {
      if (error instanceof ProviderError) return [unfinished(zone, error.message)]
      throw error
    }
    await sleep(PAUSE, stop).catch(() => undefined)
    if (stop?.aborted) return [unfinished(zone, 'the run was stopped')]
  }
  return [unfinished(zone, `it took more than ${MAX_WAIT / 1000} seconds`)]
}

const unfinished = (zone: DomainName, why: string): Diagnostic => ({
  severity: 'warning',
  code: 'apply-incomplete',
  message: `the records of ${zone} were changed, but it is not known whether all name servers of Route 53 have them: ${why}`,
})
