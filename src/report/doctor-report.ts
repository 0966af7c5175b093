/** The findings of `doctor`, as text and as the versioned document of `schemas/doctor.schema.json`. */
import { oneLine } from '../base/diagnostic.ts'
import { counted } from '../base/english.ts'
import { jsonText } from '../base/text.ts'
import type { DoctorFinding } from '../dns/doctor-finding.ts'
import { paletteOf } from './palette.ts'

/** The findings about one subject: a provider by its name, the config by its file name, or a name server by its address. */
export interface Examination {
  readonly subject: string
  readonly findings: readonly DoctorFinding[]
}

/** The document as text that ends in a newline. Its key order is fixed. */
export function renderDoctorJson(examinations: readonly Examination[]): string {
  const findings = examinations.flatMap(({ subject, findings: found }) =>
    found.map(({ status, check, message, hint, scopes }) => ({
      subject,
      check,
      status,
      message,
      hint: hint ?? null,
      scopes: scopes === undefined ? null : { command: scopes.command, needed: scopes.needed, excess: scopes.excess },
    })),
  )
  const count = (status: DoctorFinding['status']): number => findings.filter((finding) => finding.status === status).length
  const summary = { ok: count('ok'), warnings: count('warning'), errors: count('error') }
  return jsonText({ format: 'zonewright-doctor', version: 1, findings, summary })
}

const MARKS = { ok: 'ok     ', warning: 'warning', error: 'error  ' } as const

export function renderDoctorText(examinations: readonly Examination[], { color, quiet }: { color: boolean; quiet: boolean }): string {
  const palette = paletteOf(color)
  const paint = { ok: palette.added, warning: palette.changed, error: palette.error }
  const lines: string[] = []
  for (const { subject, findings } of examinations) {
    const shown = findings.filter(({ status }) => !quiet || status !== 'ok')
    if (shown.length === 0) continue
    lines.push(palette.bold(oneLine(subject)))
    for (const { status, check, message, hint } of shown) {
      lines.push(`  ${paint[status](MARKS[status])} ${check.padEnd(10)} ${oneLine(message)}`)
      if (hint !== undefined) lines.push(palette.dim(`  ${' '.repeat(18)} ${oneLine(hint)}`))
    }
  }
  const all = examinations.flatMap(({ findings }) => findings)
  const errors = all.filter(({ status }) => status === 'error').length
  const warnings = all.filter(({ status }) => status === 'warning').length
  const summary = errors + warnings === 0 ? 'Everything is in order.' : `${counted(errors, 'error')}, ${counted(warnings, 'warning')}.`
  if (lines.length > 0) lines.push('')
  lines.push(errors > 0 ? palette.error(summary) : summary)
  return `${lines.join('\n')}\n`
}
