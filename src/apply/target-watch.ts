import type { LimitFunction } from 'p-limit'
import pLimit from 'p-limit'
import type { Provider, ProviderError } from '../providers/provider.ts'

/** Calls in a row without a usable answer, beyond those that were under way at once, after which a target counts as gone. */
const SILENT_CALLS = 8

/** What a run knows of one target: its places for calls, and whether going on with it makes sense. */
export interface TargetWatch {
  readonly provider: Provider
  /** Calls of all zones of the target, as many at once as the provider takes. */
  readonly slots: LimitFunction
  /** Aborted, with the reason in words, once no further call can succeed. */
  readonly stop: AbortSignal
  /** Takes note of how a call ended; null is success. */
  note(error: ProviderError | null): void
}

/** A refused token is refused for every zone; a server that does not answer keeps each call waiting for all its tries. */
export function watchTarget(provider: Provider): TargetWatch {
  const controller = new AbortController()
  let silent = 0
  return {
    provider,
    slots: pLimit(provider.parallelism),
    stop: controller.signal,
    note(error) {
      if (error?.notSent) return
      if (error?.code === 'provider-unauthorized') controller.abort(`${provider.name} refused the token`)
      silent = error !== null && isSilence(error) ? silent + 1 : 0
      if (silent >= SILENT_CALLS + provider.parallelism) controller.abort(`${provider.name} did not answer ${silent} calls in a row`)
    },
  }
}

const isSilence = ({ code }: ProviderError): boolean =>
  code === 'provider-unreachable' || code === 'provider-timeout' || code === 'provider-failed' || code === 'provider-rate-limited'
