import type { Plan, ZoneOutcome } from '../plan/plan.ts'
import { renderGithub } from './github-report.ts'
import { renderHtml } from './html-report.ts'
import { renderMarkdown } from './markdown-report.ts'
import { renderJson } from './plan-document.ts'
import type { Report, ReportOptions } from './report.ts'
import { renderText } from './text-report.ts'

/** A format is a row here and a file of its own. */
const FORMATS = {
  text: renderText,
  json: renderJson,
  markdown: renderMarkdown,
  html: renderHtml,
  github: renderGithub,
} as const satisfies Record<string, (report: Report, options: ReportOptions) => string>

export type ReportFormat = keyof typeof FORMATS

export const REPORT_FORMATS = Object.keys(FORMATS) as readonly ReportFormat[]

/** A plan as text that ends in a newline. */
export const renderPlan = (plan: Plan, format: ReportFormat, options: ReportOptions): string =>
  FORMATS[format]({ plan, outcomes: null }, options)

/** A plan and what became of it. A zone without an outcome was not applied. */
export const renderOutcome = (plan: Plan, outcomes: readonly ZoneOutcome[], format: ReportFormat, options: ReportOptions): string =>
  FORMATS[format]({ plan, outcomes }, options)
