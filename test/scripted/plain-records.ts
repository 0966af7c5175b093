/** Rules for single records that Vultr, Porkbun and OVH have in common. */
import { isIPv4, isIPv6 } from 'node:net'
import { besideCname, compare } from './base.ts'

/** A record as these services store it, with the priority of MX and SRV apart. */
export interface PlainRecord {
  /** Relative to the zone; empty for the apex. */
  readonly name: string
  readonly type: string
  /** In seconds. */
  readonly ttl: number
  readonly data: string
  readonly priority?: number
}

export interface PlainRules {
  readonly types: ReadonlySet<string>
  readonly minTtl: number
  /** Whether MX and SRV need a priority of their own. */
  readonly hasPriority: boolean
  /** Whether CAA values may have parameters. */
  readonly takesCaaParameters?: boolean
  /** What a text must look like. */
  readonly text: RegExp
}

const NAME = /^(?:\*|(?:\*\.)?(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63})?$/i
const HOST = /^(?:(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?|\.)$/i
const WITH_TARGET = /^(?:ALIAS|CNAME|MX|NS|SRV)$/

/** What a service refuses a record for, beside the others of the zone; null if it takes it. */
export function problemOf(
  record: PlainRecord,
  others: readonly PlainRecord[],
  { types, minTtl, hasPriority, takesCaaParameters = false, text }: PlainRules,
): 'type' | 'name' | 'ttl' | 'priority' | 'data' | 'cname' | 'double' | null {
  const { name, type, ttl, data, priority } = record
  if (!types.has(type)) return 'type'
  if (!NAME.test(name)) return 'name'
  if (!Number.isInteger(ttl) || ttl < minTtl) return 'ttl'
  if (hasPriority && /^(?:MX|SRV)$/.test(type) && !(Number.isInteger(priority) && (priority ?? -1) >= 0)) return 'priority'
  const target = data.split(' ').at(-1) ?? ''
  const isMalformed =
    data === '' ||
    (type === 'A' && !isIPv4(data)) ||
    (type === 'AAAA' && !isIPv6(data)) ||
    (WITH_TARGET.test(type) && !HOST.test(target)) ||
    (type === 'MX' && target === '.') ||
    (type === 'CAA' && !takesCaaParameters && !/^\d+ (?:issue|issuewild|iodef|[a-z]+) "[^\s"]*"$/.test(data)) ||
    (type === 'TXT' && !text.test(data))
  if (isMalformed) return 'data'
  if ((type === 'CNAME' && name === '') || besideCname(record, others, true)) return 'cname'
  return others.some((one) => one.name === name && one.type === type && one.data === data && one.priority === priority) ? 'double' : null
}

/** The record as a line of a zone file. Targets may lack their final dot; texts are in quotes. */
export function plainLine({ name, type, ttl, data, priority }: PlainRecord): string {
  const absolute = WITH_TARGET.test(type) && !data.endsWith('.') ? `${data}.` : data
  const strings = type === 'TXT' ? (data.slice(1, -1).match(/.{1,250}/gs) ?? []).map((text) => `"${text}"`).join(' ') : absolute
  return `${name || '@'} ${ttl} IN ${type} ${priority === undefined ? '' : `${priority} `}${strings}`
}

/** By type and name, as Porkbun lists records. */
export const byTypeAndName = (a: PlainRecord, b: PlainRecord): number => compare(`${a.type} ${a.name}`, `${b.type} ${b.name}`)
