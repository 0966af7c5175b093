/** The text of comments, issues and job summaries: the report, cut to the limit of the site. */
import { escapeHtml } from '../report/escape.ts'

/** Renders a report of at most so many characters, cut between zones. */
export type Renderer = (maxLength: number) => string

export interface PostParts {
  /** The hidden first line. */
  readonly marker: string
  readonly title: string
  /** Lines of Markdown before the report, which the caller has escaped. */
  readonly notes: readonly string[]
  readonly report: Renderer
  /** Lines of Markdown after the report. */
  readonly footer: readonly string[]
}

/** The text of a post with at most `maxText` characters. */
export function postText({ marker, title, notes, report, footer }: PostParts, maxText: number): string {
  const before = `${marker}\n## ${title}\n\n${notes.map((note) => `${note}\n\n`).join('')}`
  const after = `\n${footer.map((line) => `<sub>${line}</sub>\n`).join('')}`
  return before + report(Math.max(0, maxText - before.length - after.length)) + after
}

/** A link to a page of the site. The address is that of the environment or of an event. */
export const linkTo = (text: string, url: string): string =>
  /^https?:\/\/[\w.~:/?#@!$&'*+,;=%-]+$/.test(url) ? `<a href="${escapeHtml(url)}">${text}</a>` : text
