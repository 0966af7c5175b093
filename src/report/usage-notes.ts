/** How often the record sets that a plan deletes are asked for, in words. Text contains no control characters. */
import { oneLine } from '../dns/diagnostic.ts'
import { rrsetKey } from '../dns/record.ts'
import type { DeletionUsage, RrsetUsage, ZonePlan } from '../plan/plan.ts'
import { agreeing, counted, formatCount } from './english.ts'

/** A function that returns the note of a record set that the plan deletes, the first time that it is asked for it; null for others. */
export function usageNotes({ usage }: ZonePlan): (rrset: { readonly name: string; readonly type: string }) => string | null {
  if (usage === undefined) return () => null
  const notes = new Map(usage.deletions.map((one) => [rrsetKey(one), one]))
  return (rrset) => {
    const key = `${rrset.name} ${rrset.type}`
    const found = notes.get(key)
    notes.delete(key)
    return found === undefined ? null : noteOf(found, usage)
  }
}

function noteOf({ state, count, lastAsked }: RrsetUsage, { from, to }: DeletionUsage): string {
  if (state === 'not-asked') return `never asked for from ${timeOf(from)} to ${timeOf(to)}`
  const asked = `asked for ${formatCount(count)} ${agreeing(count, 'time', 'times')} since ${timeOf(from)}, last at ${timeOf(lastAsked)}`
  if (state === 'replaced') return lastAsked === null ? 'other records answer in its place' : `${asked}; other records answer in its place`
  if (state === 'unknown') return lastAsked === null ? 'unknown whether it is asked for' : `unknown whether it is in use: ${asked}`
  return asked
}

/** A line for each record set that the plan deletes, in reports that have no table of changes. */
export const usageLines = (plan: ZonePlan): string[] => {
  const noteOfSet = usageNotes(plan)
  return (plan.usage?.deletions ?? []).map((one) => `${oneLine(one.name)} ${oneLine(one.type)} to delete: ${noteOfSet(one)}`)
}

/** The note of a zone that the plan deletes; null without usage. */
export function zoneUsageNote({ usage }: ZonePlan): string | null {
  if (usage === undefined) return null
  const { deletions, from, to } = usage
  const sets = counted(deletions.length, 'record set')
  const asked = deletions.filter(({ lastAsked }) => lastAsked !== null)
  const [last] = [...asked].sort((a, b) => ((a.lastAsked ?? '') < (b.lastAsked ?? '') ? 1 : -1))
  if (last !== undefined)
    return `${formatCount(asked.length)} of its ${sets} asked for since ${timeOf(from)}, last ${oneLine(last.name)} ${oneLine(last.type)} at ${timeOf(last.lastAsked)}`
  if (deletions.some(({ state }) => state === 'unknown')) return `unknown whether its ${sets} are asked for`
  return `none of its ${sets} asked for from ${timeOf(from)} to ${timeOf(to)}`
}

const timeOf = (time: string | null): string => oneLine(time ?? 'an unknown time')
