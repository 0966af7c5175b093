import type { Changeset } from '../../src/plan/changesets.ts'
import type { Change, DomainChange, RecordChange } from '../../src/plan/plan.ts'
import type { AppliedCall, Provider, ProviderCallOptions, ZoneReference } from '../../src/providers/provider.ts'

/** The call that carries one change of a plan and follows no other. */
export const callOf = (change: Change, index: number): Changeset => ({ indexes: [index], changes: [change], rrsets: [], after: [] })
type LooseChange = Omit<RecordChange, 'call'> | Omit<DomainChange, 'call'>

/** Makes one change at a provider that takes one change per call. */
export const makeChange = (
  provider: Provider,
  zone: ZoneReference | null,
  change: LooseChange,
  options?: ProviderCallOptions,
): Promise<AppliedCall> => provider.apply(zone, { changes: [{ ...change, call: 0 }], rrsets: [] }, options)
