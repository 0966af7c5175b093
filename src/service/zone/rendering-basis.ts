/**
 * What zones are rendered from beside domains and records, as one text in the database: all processes that use it render alike, as the
 * one that was started last is told to. If each followed its own options, a zone would change with each process that renders it.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { RENDERING_VERSION } from './render-zone.ts'

/** `nsNames` are the names of the service's name servers, the primary first. */
export const renderingBasis = (nsNames: readonly DomainName[]): string => [RENDERING_VERSION, ...nsNames].join(' ')

/** The name servers that a basis names; null for one of another version of the program, whose zones this one must not touch. */
export function nameServersOf(basis: string): readonly DomainName[] | null {
  const [version, ...names] = basis.split(' ')
  return version === String(RENDERING_VERSION) ? (names as DomainName[]) : null
}
