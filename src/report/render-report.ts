/** Renders plans, outcomes, verifications and validations in every format. */
import type { Plan, ZoneOutcome } from '../plan/plan.ts'
import { isLoadedFormat, type LOADED_FORMATS, type ReportFormat } from './formats.ts'
import { renderGithub } from './github-report.ts'
import { renderJson } from './plan-document.ts'
import type { Renderers } from './renderers.ts'
import type { Report, ReportOptions } from './report.ts'
import { renderText } from './text-report.ts'
import { renderValidationJson, type Validation } from './validation.ts'
import { renderVerificationGithub, renderVerificationJson, renderVerificationText, type Verification } from './verification.ts'

type LoadedFormat = (typeof LOADED_FORMATS)[number]

const LOADERS = {
  markdown: async () => (await import('./markdown-report.ts')).markdownReports,
  html: async () => (await import('./html/html-report.ts')).htmlReports,
  junit: async () => (await import('./junit-report.ts')).junitReports,
  sarif: async () => (await import('./sarif-report.ts')).sarifReports,
} as const satisfies Readonly<Record<LoadedFormat, () => Promise<Renderers>>>

/** Filled by `loadFormat` only. */
const loaded = new Map<LoadedFormat, Renderers>()

/** Loads the renderers of a format. The functions below need this before they are called with it; the command line does it for `--format`. */
export async function loadFormat(format: string): Promise<void> {
  if (isLoadedFormat(format) && !loaded.has(format)) loaded.set(format, await LOADERS[format]())
}

/** The renderers of a format that `loadFormat` has loaded. */
function renderersOf(format: LoadedFormat): Renderers {
  const renderers = loaded.get(format)
  if (renderers === undefined) throw new Error(`the renderers of ${format} are not loaded`)
  return renderers
}

function render(report: Report, format: ReportFormat, options: ReportOptions): string {
  if (isLoadedFormat(format)) return renderersOf(format).plan(report, options)
  return { text: renderText, json: renderJson, github: renderGithub }[format](report, options)
}

/** Renders a plan as text that ends in a newline. */
export const renderPlan = (plan: Plan, format: ReportFormat, options: ReportOptions): string =>
  render({ plan, outcomes: null }, format, options)

/** Renders a plan with the outcome of its changes. A zone without an outcome was not applied. */
export const renderOutcome = (plan: Plan, outcomes: readonly ZoneOutcome[], format: ReportFormat, options: ReportOptions): string =>
  render({ plan, outcomes }, format, options)

/** Renders a verification as text that ends in a newline. */
export function renderVerification(verification: Verification, format: ReportFormat<'verification'>, options: ReportOptions): string {
  if (isLoadedFormat(format)) return renderersOf(format).verification(verification, options)
  const renderers = { text: renderVerificationText, json: renderVerificationJson, github: renderVerificationGithub }
  return renderers[format](verification, options)
}

/** Renders a validation as text that ends in a newline. As text and annotations it is its diagnostics, which `renderDiagnostics` renders. */
export const renderValidation = (
  validation: Validation,
  format: Exclude<ReportFormat<'validation'>, 'text' | 'github'>,
  options: ReportOptions,
): string => (isLoadedFormat(format) ? renderersOf(format).validation(validation, options) : renderValidationJson(validation))
