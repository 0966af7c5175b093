/** Whether a run may still change something. */
import { type ProviderCallOptions, ProviderError } from './provider.ts'

/** Throws if a request that changes something, and may take `timeLimit` milliseconds, must not be sent. */
export async function assertMayWrite(provider: string, call: ProviderCallOptions | undefined, timeLimit: number): Promise<void> {
  const obstacle = (await call?.mayWrite?.(timeLimit)) ?? null
  if (obstacle !== null) throw new ProviderError('provider-stopped', `${provider}: not sent: ${obstacle}`, { notSent: true })
}
