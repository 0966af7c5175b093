/** The state of a cutover between runs: `schemas/cutover.schema.json`. */
import { validate } from '../../../generated/cutover-schema.js'
import { type StateFile, type StateMirror, stateFile } from '../choreography/state-file.ts'

/**
 * `lower`: lower the TTL of the apex NS records. `copy`: when caches have forgotten the former TTL, copy the zone and compare the answers of both sides.
 * `unsign`: wait until the parent has no DS record. `delegate`: wait until the parent has the new name servers. `drain`: wait until caches have forgotten the
 * former delegation. `restore`: set the former TTL at the new provider.
 */
export type Step = 'lower' | 'copy' | 'unsign' | 'delegate' | 'drain' | 'restore'

export const STEPS: readonly Step[] = ['lower', 'copy', 'unsign', 'delegate', 'drain', 'restore']

export interface Cutover {
  readonly format: 'zonewright-cutover'
  readonly version: 1
  readonly zone: string
  readonly from: string
  readonly to: string
  readonly started: string
  /** The step to do next. */
  readonly step: Step
  /** Seconds, as all TTLs here. */
  readonly lowTtl: number
  /** The TTL of the apex NS records before the cutover. */
  readonly formerTtl: number
  /** The default TTL of the zone before it was lowered; 0 for that of the provider; null if it was not lowered. */
  readonly formerZoneTtl: number | null
  readonly lowered: boolean
  /** When the next step may begin: ISO 8601, UTC; null for at once. */
  readonly notBefore: string | null
  /** The names given for the new name servers, sorted; empty for those that the new provider has. */
  readonly apexNs: readonly string[]
  /** The names of the new name servers; empty until they are known. */
  readonly nameservers: readonly string[]
  /** The longest TTL of the former delegation, or of a DS record, at the parent. */
  readonly parentTtl: number
}

export const cutoverFile = (journal: string, zone: string, mirror?: StateMirror): StateFile<Cutover> =>
  stateFile(journal, 'cutovers', [zone], validate, mirror)
