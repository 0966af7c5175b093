/** The interface of a report format. */
import type { Report, ReportOptions } from './report.ts'
import type { Validation } from './validation.ts'
import type { Verification } from './verification.ts'

/** The renderers of one format. Each returns text that ends in a newline. */
export interface Renderers {
  plan(report: Report, options: ReportOptions): string
  verification(verification: Verification, options: ReportOptions): string
  validation(validation: Validation, options: ReportOptions): string
}
