/** The formats of each report, the default first. Command options, help texts, schemas and documents are derived from this list or checked against it. */
export const REPORT_FORMATS = {
  /** Of `plan`, `apply` and `rollback`. */
  plan: ['text', 'json', 'markdown', 'html', 'github'],
  validation: ['text', 'json', 'github'],
  verification: ['text', 'json', 'github'],
  doctor: ['text', 'json'],
  history: ['text', 'json'],
  providers: ['text', 'json'],
  zones: ['text', 'json'],
} as const

/** A format in which the report of this kind can be rendered. */
export type ReportFormat<Kind extends keyof typeof REPORT_FORMATS = 'plan'> = (typeof REPORT_FORMATS)[Kind][number]
