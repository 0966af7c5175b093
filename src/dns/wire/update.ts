/** UPDATE messages (RFC 2136). */
import type { DomainName } from '../domain-name.ts'
import type { ResourceRecord } from '../record.ts'
import { CLASS, createQuery, type Message, OPCODE, type WireRecord } from './message.ts'

/** One part of the update section (RFC 2136 section 2.5). */
export type UpdatePart =
  | { readonly action: 'delete-rrset'; readonly name: DomainName; readonly type: string }
  | { readonly action: 'delete' | 'add'; readonly record: ResourceRecord }

/** An RRset that must hold exactly these data or, without data, must not exist (RFC 2136 sections 2.4.2 and 2.4.3). */
export interface Prerequisite {
  readonly name: DomainName
  readonly type: string
  readonly data: readonly string[]
}

export interface UpdateContent {
  /** Unless all are met, the server does nothing. */
  readonly prerequisites: readonly Prerequisite[]
  /** In the order of the message, in which the server applies them. */
  readonly updates: readonly UpdatePart[]
}

/** A message that updates a zone. Added records need a TTL. */
export const createUpdate = (id: number, zone: DomainName, { prerequisites, updates }: UpdateContent): Message => ({
  ...createQuery(id, { name: zone, type: 'SOA' }),
  opcode: OPCODE.UPDATE,
  answers: prerequisites.flatMap(prerequisiteRecords),
  authorities: updates.map(updateRecord),
  edns: null,
})

function prerequisiteRecords({ name, type, data }: Prerequisite): WireRecord[] {
  if (data.length === 0) return [{ name, type, class: CLASS.NONE, ttl: 0, data: null }]
  return data.map((one) => ({ name, type, class: CLASS.IN, ttl: 0, data: one }))
}

function updateRecord(part: UpdatePart): WireRecord {
  if (part.action === 'delete-rrset') return { name: part.name, type: part.type, class: CLASS.ANY, ttl: 0, data: null }
  const { name, type, ttl, data } = part.record
  if (part.action === 'delete') return { name, type, class: CLASS.NONE, ttl: 0, data }
  if (ttl === null) throw new Error(`${name} ${type} has no TTL`)
  return { name, type, class: CLASS.IN, ttl, data }
}
