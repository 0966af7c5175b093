/** Diagnostics and times in a page. */
import { type Diagnostic, oneLine } from '../../dns/diagnostic.ts'
import { groupDiagnostics } from '../group-diagnostics.ts'
import type { ReportOptions } from '../report.ts'
import type { Message, Page } from './page.ts'

/** Diagnostics as messages of a page. */
export const diagnosticMessages = (diagnostics: readonly Diagnostic[], { verbose }: Pick<ReportOptions, 'verbose'>): Message[] =>
  [...groupDiagnostics(diagnostics, { all: verbose })]
    .sort((a, b) => RANK[a.severity] - RANK[b.severity])
    .map(({ severity, code, message, at, hint }) => ({
      severity,
      title: `${severity}[${code}]`,
      text: [
        `${at === undefined ? '' : `${oneLine(at.file)}:${at.line}:${at.column}: `}${oneLine(message)}`,
        ...(hint === undefined ? [] : [oneLine(hint)]),
      ].join('\n'),
    }))

const RANK = { error: 0, warning: 1, notice: 2 } as const

/** The program, when it made a report that does not say so itself, and what for. */
export const madeBy = ({ tool, origin }: ReportOptions): Pick<Page, 'made' | 'links'> => ({
  made: [...(tool === undefined ? [] : [tool]), ...(origin === undefined ? [] : [timeText(origin.time)])],
  links: origin?.links ?? [],
})

/** `2026-11-23 14:05 UTC` of a time in ISO 8601; any other text as it is. */
export const timeText = (time: string): string => oneLine(time).replace(/^([0-9-]{10})T([0-9]{2}:[0-9]{2}).*Z$/, '$1 $2 UTC')
