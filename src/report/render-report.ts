/** Renders plans and outcomes in every format. */
import type { Plan, ZoneOutcome } from '../plan/plan.ts'
import type { ReportFormat } from './formats.ts'
import { renderGithub } from './github-report.ts'
import { renderHtml } from './html-report.ts'
import { renderMarkdown } from './markdown-report.ts'
import { renderJson } from './plan-document.ts'
import type { Report, ReportOptions } from './report.ts'
import { renderText } from './text-report.ts'

const RENDERERS: Readonly<Record<ReportFormat, (report: Report, options: ReportOptions) => string>> = {
  text: renderText,
  json: renderJson,
  markdown: renderMarkdown,
  html: renderHtml,
  github: renderGithub,
}

/** Renders a plan as text that ends in a newline. */
export const renderPlan = (plan: Plan, format: ReportFormat, options: ReportOptions): string =>
  RENDERERS[format]({ plan, outcomes: null }, options)

/** Renders a plan with the outcome of its changes. A zone without an outcome was not applied. */
export const renderOutcome = (plan: Plan, outcomes: readonly ZoneOutcome[], format: ReportFormat, options: ReportOptions): string =>
  RENDERERS[format]({ plan, outcomes }, options)
