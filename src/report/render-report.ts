/** Renders plans and outcomes in every format. */
import type { Plan, ZoneOutcome } from '../plan/plan.ts'
import type { ReportFormat } from './formats.ts'
import { renderGithub } from './github-report.ts'
import { renderMarkdown } from './markdown-report.ts'
import { renderJson } from './plan-document.ts'
import type { Report, ReportOptions } from './report.ts'
import { renderText } from './text-report.ts'

/** The formats whose renderers are loaded when they are needed. */
type LazyFormat = 'html' | 'junit' | 'sarif'

type Renderer = (report: Report, options: ReportOptions) => string

const RENDERERS: Readonly<Record<Exclude<ReportFormat, LazyFormat>, Renderer>> = {
  text: renderText,
  json: renderJson,
  markdown: renderMarkdown,
  github: renderGithub,
}

const LAZY_RENDERERS: Readonly<Record<LazyFormat, () => Promise<Renderer>>> = {
  html: async () => (await import('./html/plan-page.ts')).renderHtml,
  junit: async () => (await import('./junit-report.ts')).renderPlanJunit,
  sarif: async () => (await import('./sarif-report.ts')).renderPlanSarif,
}

/** Text that ends in a newline; a promise of it for formats whose renderers are loaded when they are needed. */
export type Rendered<Format extends ReportFormat> = Format extends LazyFormat ? Promise<string> : string

const render = <Format extends ReportFormat>(report: Report, format: Format, options: ReportOptions): Rendered<Format> =>
  (isLazy(format)
    ? LAZY_RENDERERS[format]().then((renderer) => renderer(report, options))
    : RENDERERS[format as Exclude<ReportFormat, LazyFormat>](report, options)) as Rendered<Format>

const isLazy = (format: ReportFormat): format is LazyFormat => Object.hasOwn(LAZY_RENDERERS, format)

/** Renders a plan. */
export const renderPlan = <Format extends ReportFormat>(plan: Plan, format: Format, options: ReportOptions): Rendered<Format> =>
  render({ plan, outcomes: null }, format, options)

/** Renders a plan with the outcome of its changes. A zone without an outcome was not applied. */
export const renderOutcome = <Format extends ReportFormat>(
  plan: Plan,
  outcomes: readonly ZoneOutcome[],
  format: Format,
  options: ReportOptions,
): Rendered<Format> => render({ plan, outcomes }, format, options)
