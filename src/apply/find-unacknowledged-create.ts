import { type ExistingRecord, type ResourceRecord, sameRecord } from '../dns/record.ts'
import type { Provider, ProviderCallOptions, ZoneReference } from '../providers/provider.ts'

/** Looks for a record whose creation was not answered: one like it that no call is known to have made and that was not there before. */
export type FindUnacknowledgedCreate = (zone: ZoneReference, record: ResourceRecord) => Promise<ExistingRecord | null>

/**
 * A finder for one zone. What is asked for while a reading is under way is read together with the next one: a reading that began before a
 * call was lost says nothing of it. `claimed` are the identifiers of the records whose origin is known; what is found is added.
 */
export function createUnacknowledgedCreateFinder(
  provider: Provider,
  claimed: Set<number | string>,
  options: ProviderCallOptions,
): FindUnacknowledgedCreate {
  let waiting: { readonly record: ResourceRecord; readonly resolve: (reading: Promise<readonly ExistingRecord[]>) => void }[] = []
  let reading: Promise<unknown> | null = null

  const readNext = (zone: ZoneReference): void => {
    const batch = waiting
    waiting = []
    const records = batch.map(({ record }) => record)
    const read = provider.findRecords
      ? provider.findRecords(zone, records, options)
      : provider.readZone(zone, options).then((whole) => whole.records)
    reading = read.then(
      () => undefined,
      () => undefined,
    )
    void reading.then(() => {
      reading = null
      if (waiting.length > 0) readNext(zone)
    })
    for (const { resolve } of batch) resolve(read)
  }

  return async (zone, record) => {
    const live = await new Promise<readonly ExistingRecord[]>((resolve) => {
      waiting.push({ record, resolve })
      if (reading === null) readNext(zone)
    })
    const found = live.find((one) => one.id !== undefined && !claimed.has(one.id) && sameRecord(one, record))
    if (found?.id !== undefined) claimed.add(found.id)
    return found ?? null
  }
}
