/** The machine's view of a verification: the versioned document of `schemas/verification.schema.json`. Its key order is fixed. */
import { compareDiagnostics, type Diagnostic } from '../dns/diagnostic.ts'
import type { RenderedState } from '../plan/plan.ts'
import { type AnswerDifference, isVerified, type NameServerVerification, type ZoneVerification } from '../plan/verification.ts'
import { type DiagnosticDocument, diagnosticDocument } from './plan-document.ts'

/** Zones held against what is live, and the diagnostics that are of no zone, such as of one that could not be read. */
export interface Verification {
  readonly zones: readonly ZoneVerification[]
  readonly diagnostics: readonly Diagnostic[]
}

export interface VerificationDocument {
  readonly format: 'zonewright-verification'
  readonly version: 1
  readonly zones: readonly VerifiedZoneDocument[]
  readonly diagnostics: readonly DiagnosticDocument[]
  readonly summary: { readonly zones: number; readonly verified: number }
}

export interface VerifiedZoneDocument {
  readonly zone: string
  readonly target: string
  readonly verified: boolean
  readonly pending: number
  readonly rendered: RenderedState
  readonly renderedDifferences: readonly string[]
  readonly nameServers: readonly NameServerDocument[]
  readonly hidden: readonly { readonly name: string; readonly type: string }[]
  readonly diagnostics: readonly DiagnosticDocument[]
}

type DifferenceDocument = Omit<AnswerDifference, 'note'> & { readonly note: string | null }
type NameServerDocument = Omit<NameServerVerification, 'differences'> & { readonly differences: readonly DifferenceDocument[] }

export const verificationDocument = ({ zones, diagnostics }: Verification): VerificationDocument => ({
  format: 'zonewright-verification',
  version: 1,
  zones: zones.map(zoneDocument),
  diagnostics: diagnosticDocuments(diagnostics),
  summary: { zones: zones.length, verified: zones.filter(isVerified).length },
})

const zoneDocument = (zone: ZoneVerification): VerifiedZoneDocument => ({
  zone: zone.zone,
  target: zone.target,
  verified: isVerified(zone),
  pending: zone.pending,
  rendered: zone.rendered,
  renderedDifferences: zone.renderedDifferences,
  nameServers: zone.nameServers.map(nameServerDocument),
  hidden: zone.hidden.map(({ name, type }) => ({ name, type })),
  diagnostics: diagnosticDocuments(zone.diagnostics),
})

const nameServerDocument = ({ server, asked, agreed, differences, covered, failure }: NameServerVerification): NameServerDocument => ({
  server,
  asked,
  agreed,
  differences: differences.map(({ name, type, expected, answered, note }) => ({ name, type, expected, answered, note: note ?? null })),
  covered,
  failure,
})

const diagnosticDocuments = (diagnostics: readonly Diagnostic[]): DiagnosticDocument[] =>
  [...diagnostics].sort(compareDiagnostics).map(diagnosticDocument)
