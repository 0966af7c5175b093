/** The formats of each report, the default first. Command options, help texts, schemas and documents are derived from this list or checked against it. */
const ALL_FORMATS = ['text', 'json', 'markdown', 'html', 'github', 'junit', 'sarif'] as const

export const REPORT_FORMATS = {
  /** Of `plan`, `apply`, `rollback` and `report`. */
  plan: ALL_FORMATS,
  validation: ALL_FORMATS,
  verification: ALL_FORMATS,
  doctor: ['text', 'json'],
  history: ['text', 'json'],
  providers: ['text', 'json'],
  trace: ['text', 'json'],
  zones: ['text', 'json', 'codeowners'],
} as const

/** The formats whose renderers are loaded only when they are used, so that the others start as fast without them. */
export const LOADED_FORMATS = ['markdown', 'html', 'junit', 'sarif'] as const satisfies readonly ReportFormat[]

export const isLoadedFormat = (format: unknown): format is (typeof LOADED_FORMATS)[number] =>
  (LOADED_FORMATS as readonly unknown[]).includes(format)

/** A format in which the report of this kind can be rendered. */
export type ReportFormat<Kind extends keyof typeof REPORT_FORMATS = 'plan'> = (typeof REPORT_FORMATS)[Kind][number]
