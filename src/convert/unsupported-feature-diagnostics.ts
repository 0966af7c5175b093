import type { Diagnostic } from '../dns/diagnostic.ts'
import type { UnsupportedFeature } from './conversion.ts'

/** One diagnostic for each thing that is lost on the way: errors, or warnings where the loss is accepted. */
export const unsupportedFeatureDiagnostics = (
  dropped: readonly UnsupportedFeature[],
  code: 'import-lossy' | 'export-lossy',
  format: string,
  lossy: boolean,
): Diagnostic[] =>
  dropped.map(({ zone, name, type, what, at, outcome }) => {
    const subject = [name ?? zone, type].filter((part) => part !== null).join(' ')
    const message = `${subject === '' ? '' : `${subject}: `}${code === 'import-lossy' ? 'a definition' : format} cannot hold ${what}`
    return { severity: lossy ? 'warning' : 'error', code, message, at, hint: lossy ? outcome : hintOf(outcome) }
  })

const hintOf = (outcome: string | undefined): string => (outcome === undefined ? '--lossy leaves it out' : `with --lossy, ${outcome}`)

/**
 * What records say that no target can express (`geo`, `dynamic`) is not in their zone, and so in no export of it: errors where that loss is not
 * accepted.
 */
export const extrasAsUnsupported = (diagnostics: readonly Diagnostic[], lossy: boolean): Diagnostic[] =>
  diagnostics.map((found) =>
    found.code === 'record-extra' && !lossy ? { ...found, severity: 'error', code: 'export-lossy', hint: hintOf(undefined) } : found,
  )
