/** Renders each kind of report as an HTML page. */
import type { Renderers } from '../renderers.ts'
import { renderPage } from './page.ts'
import { planPage } from './plan-page.ts'
import { validationPage } from './validation-page.ts'
import { verificationPage } from './verification-page.ts'

export const htmlReports: Renderers = {
  plan: (report, options) => renderPage(planPage(report, options)),
  verification: (verification, options) => renderPage(verificationPage(verification, options)),
  validation: (validation, options) => renderPage(validationPage(validation, options)),
}
