import type { DomainName } from '../../dns/domain-name.ts'
import type { ClaimedRefresh, RefreshOutcome, SoaTimes } from '../store/secondary-store.ts'
import { transferredText } from '../zone/rendering-text.ts'
import type { MastersAnswer } from './ask-masters.ts'
import type { SoaFields } from './transfer-zone.ts'

/** Seconds within which the times of a SOA are taken as they are. */
const REFRESH = { least: 60, most: 2_419_200 }
const RETRY = { least: 60, most: 1_209_600 }
const MOST_EXPIRE = 14_515_200

/** Seconds to the second try of a zone that has never been transferred, doubled with each, and the most of them. */
const FIRST_RETRY = 15
const LONGEST_RETRY = 3600

/** Seconds to the next try of a zone that is older than its masters have told, doubled with each. */
const FIRST_BEHIND = 1

/** The part of a wait by which it may be shorter, so that zones that came together are not refreshed together for ever. */
const JITTER = 0.1

/** What is to be stored of a refresh. `now` is in milliseconds, `random` gives numbers from 0 to 1. */
export function refreshOutcome(claim: ClaimedRefresh, answer: MastersAnswer, now: number, random: () => number): RefreshOutcome {
  const { newer, answered, behind, problems } = answer
  const errors = problems.join('\n')
  const after = (seconds: number): number => now + Math.round(seconds * (1 - JITTER * random()) * 1000)
  if (!answered) {
    const failures = claim.failures + 1
    const wait = claim.times.retry || Math.min(FIRST_RETRY * 2 ** (failures - 1), LONGEST_RETRY)
    return { file: null, times: claim.times, refreshAt: after(wait), failures, behind: claim.behind, notifyOpen: false, errors }
  }
  const times = newer ? boundTimes(newer.zone.soa) : claim.times
  const name = `${claim.domain}.` as DomainName
  const file = newer && { serial: newer.zone.soa.serial, text: transferredText(name, claim.domainId, newer.zone.records) }
  const had = { file, times, expireAt: now + times.expire * 1000, failures: 0, errors }
  if (!behind) return { ...had, refreshAt: after(times.refresh), behind: 0, notifyOpen: false }
  const wait = FIRST_BEHIND * 2 ** claim.behind
  const most = Math.min(times.retry, times.refresh)
  // Who told of it by NOTIFY may have been another, or mistaken: that is believed no longer once the waits have grown.
  return { ...had, refreshAt: after(Math.min(wait, most)), behind: claim.behind + 1, notifyOpen: wait < most }
}

/** A zone must outlive one refresh that fails and its retry, whatever its SOA says (RFC 1912 section 2.2). */
export function boundTimes(soa: Pick<SoaFields, 'refresh' | 'retry' | 'expire'>): SoaTimes {
  const refresh = clamp(soa.refresh, REFRESH.least, REFRESH.most)
  const retry = clamp(soa.retry, RETRY.least, RETRY.most)
  return { refresh, retry, expire: clamp(soa.expire, refresh + retry, MOST_EXPIRE) }
}

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most)
