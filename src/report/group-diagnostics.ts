/**
 * Diagnostics as people read them: many with one cause are one, with a count and up to three places, and no diagnostic occurs twice. This is a view:
 * documents in JSON have every diagnostic.
 */
import { compareDiagnostics, type Diagnostic, formatDiagnostic, placeText, type Severity } from '../base/diagnostic.ts'
import { type DiagnosticCode, meaningOfCode } from '../base/diagnostic-codes.ts'
import { counted, listed } from '../base/english.ts'
import { groupBy } from '../base/group-by.ts'

/** Maximum number of diagnostics with one cause that are shown one by one. Each error must be corrected, so more of them are. */
const MOST_SINGLE: Readonly<Record<Severity, number>> = { error: 10, warning: 3, notice: 3 }

/** Each of these is a fact that a reader has to see, such as a change by another client. Their number is limited where they are made. */
const NEVER_GROUPED: ReadonlySet<DiagnosticCode> = new Set([
  'apply-altered',
  'apply-drift',
  'apply-unconfirmed',
  'import-mismatch',
  'plan-stale',
  'quarantined',
  'rollback-conflict',
  'rollback-kept',
  'secret-exposed',
])

/** Places in the line of a group. */
const MOST_PLACES = 3

export interface GroupOptions {
  /** Shows every diagnostic. */
  readonly all?: boolean | undefined
  /** Maximum number of lines that are not errors; the last ones are left out. No limit if absent. */
  readonly atMost?: number | undefined
}

/** The diagnostics to show, by file and position. */
export function groupDiagnostics(diagnostics: readonly Diagnostic[], { all = false, atMost }: GroupOptions = {}): Diagnostic[] {
  const distinct = new Map([...diagnostics].sort(compareDiagnostics).map((one) => [`${formatDiagnostic(one)} ${one.hint}`, one]))
  if (all) return [...distinct.values()]
  const groups = groupBy(
    distinct.values(),
    ({ severity, code, cause, message }) => `${severity} ${code} ${cause?.message ?? withoutNames(message)}`,
  )
  const shown = [...groups.values()].flatMap((group) => {
    const [first] = group
    return first !== undefined && group.length > MOST_SINGLE[first.severity] && !NEVER_GROUPED.has(first.code)
      ? [joined(first, group)]
      : group
  })
  return limited(shown, atMost).sort(compareDiagnostics)
}

/** Whether some diagnostics are shown together or not at all. */
export const isAbridged = (diagnostics: readonly Diagnostic[], options: GroupOptions): boolean =>
  groupDiagnostics(diagnostics, options).length < groupDiagnostics(diagnostics, { all: true }).length

/** What a plan was made from, and what later ones will remove: the reader has to know it, however much else there is. */
const ABOUT_THE_PLAN: ReadonlySet<DiagnosticCode> = new Set(['branch-effect', 'quarantined', 'snapshot-used', 'snapshot-zone-missing'])

/** Keeps all errors and what concerns the plan itself, and of the others the gravest. */
function limited(diagnostics: readonly Diagnostic[], atMost: number | undefined): Diagnostic[] {
  if (atMost === undefined) return [...diagnostics]
  const isKept = ({ severity, code }: Diagnostic): boolean => severity === 'error' || ABOUT_THE_PLAN.has(code)
  const of = (severity: Severity): Diagnostic[] => diagnostics.filter((one) => one.severity === severity && !isKept(one))
  return [...diagnostics.filter(isKept), ...[...of('warning'), ...of('notice')].slice(0, atMost)]
}

/** Quoted texts, and words with a dot or slash (names, addresses, paths) with the type that follows. */
const NAMES = /(?:"(?:[^"\\]|\\.)*"|[^\s"./]*[./][^\s"]*[^\s":,;.]\.?|[^\s"]+\.(?=\s))(?: [A-Z][A-Z0-9-]*(?=[\s:,;]|$))?/g

/** Characters of a message that tell its group: a long word takes quadratic time. */
const COMPARED = 500

const withoutNames = (message: string): string => message.slice(0, COMPARED).replace(NAMES, '…')

/** One diagnostic instead of a group. */
function joined(first: Diagnostic, group: readonly Diagnostic[]): Diagnostic {
  const { severity, code, cause } = first
  const count = cause === undefined ? counted(group.length, 'time') : counted(group.length, cause.subject)
  const text = cause === undefined ? `${lowerCase(meaningOfCode(code).replace(/\.$/, ''))}, such as ${first.message}` : cause.message
  const origin = commonOrigin(group)
  // The text of a group without a cause has the first diagnostic as its example, to which the hint belongs.
  const hint = cause === undefined || group.every((one) => one.hint === first.hint) ? first.hint : undefined
  if (origin !== null) return { severity, code, message: `${count}: ${text}; ${origin}`, hint }
  // The first place comes before the message.
  const [places, where] =
    first.at === undefined
      ? [group.flatMap(subjectOf), 'for']
      : [
          group
            .flatMap(({ at }) => at ?? [])
            .slice(1)
            .map(placeText),
          'also at',
        ]
  const list = listed([...new Set(places)], first.at === undefined ? MOST_PLACES : MOST_PLACES - 1)
  return { severity, code, message: `${count}: ${text}${list === '' ? '' : `; ${where} ${list}`}`, at: first.at, hint }
}

/** The related places that a group has in common, such as the lines with the default TTL of its zones; null if there are none. */
function commonOrigin(group: readonly Diagnostic[]): string | null {
  const [first, ...rest] = group.map(({ related }) => related?.[0])
  if (first === undefined || rest.some((one) => one?.message !== first.message)) return null
  const places = new Set([first, ...rest].flatMap((one) => (one === undefined ? [] : placeText(one.at))))
  // Without a cause, each diagnostic has its own related place.
  if (places.size > 1 && group[0]?.cause === undefined) return null
  return `${first.message} at ${listed([...places], MOST_PLACES)}`
}

/** The record or zone that a message begins with. */
const subjectOf = ({ message }: Diagnostic): string[] => (message.includes(': ') ? [message.slice(0, message.indexOf(': '))] : [])

/** The sentence within another one: acronyms keep their capitals. */
const lowerCase = (text: string): string => (/^[A-Z](?![A-Z])/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text)
