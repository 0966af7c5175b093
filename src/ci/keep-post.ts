/**
 * Keeps one post of ours in a list of posts, such as the comment on a pull request.
 *
 * A post is ours if its first line is the marker and its author is the user of the token: anybody can write the marker. Two jobs may run
 * at once, and a request whose answer is lost may have been carried out. So after each creation the list is read again; the oldest post stays and
 * gets the text, and younger ones are removed. Every job decides alike, so one post is left, whichever job ends last.
 */
import { escapeHtml } from '../base/text.ts'
import { sleep } from '../transport/retry.ts'
import type { Post, Posts } from './site.ts'
import { SiteError } from './site-client.ts'

/** Rounds of listing and writing. More than one is needed only if an answer is lost or somebody deletes the post meanwhile. */
const ROUNDS = 4
/** Milliseconds before the list is read after a lost answer. The site may still be at work. */
const SETTLING = 1000

export interface KeptPost {
  readonly done: 'created' | 'updated' | 'unchanged'
  readonly post: Post
}

export interface KeepOptions {
  /** The user name of the token; null if the site does not reveal it. */
  readonly author: string | null
  /** Assumed if `author` is null, until a created post shows the real one. */
  readonly usualAuthor: string
  readonly wait?: (milliseconds: number) => Promise<void>
}

/** The hidden first line of a post. Throws `RangeError` if the name is not a word. */
export function markerOf(name: string): string {
  if (!/^[a-z0-9][a-z0-9._/-]{0,99}$/i.test(name) || name.includes('--')) throw new RangeError(`${JSON.stringify(name)} is not a marker`)
  return `<!-- zonewright:${name} -->`
}

const hasMarker = ({ text }: Post, marker: string): boolean => text.split(/\r?\n/, 1)[0]?.trim() === marker

/** The posts with the marker by the author, the oldest first. */
export const findOurs = (posts: readonly Post[], marker: string, author: string): Post[] =>
  posts.filter((post) => hasMarker(post, marker) && post.author === author).sort((a, b) => a.id - b.id)

/** Creates or updates the post whose first line is the marker. `text` begins with the marker. Throws `SiteError`. */
export async function keepPost(posts: Posts, marker: string, text: string, options: KeepOptions): Promise<KeptPost> {
  const { wait = sleep } = options
  let author = options.author ?? options.usualAuthor
  /** The post of this call. */
  let own: Post | null = null
  let lost: SiteError | null = null
  for (let round = 1; round <= ROUNDS; round += 1) {
    const all = await posts.list()
    // The text names the run, so an equal text is that of the request whose answer was lost.
    const unanswered = lost === null ? undefined : all.find((post) => sameText(post.text, text))
    if (unanswered !== undefined) {
      author = unanswered.author
      own = unanswered
    }
    const [oldest, ...younger] = findOurs(all, marker, author)
    // A list may lag behind. What it lacks then is found by the next job.
    if (oldest === undefined && own !== null) return { done: 'created', post: own }
    if (oldest !== undefined) {
      const isSame = sameText(oldest.text, text)
      const isThere = isSame || (await posts.update(oldest, text))
      for (const post of younger) await posts.remove(post)
      if (isThere) return { done: isSame ? (own === null ? 'unchanged' : 'created') : 'updated', post: oldest }
      continue
    }
    try {
      own = await posts.create(text)
      author = own.author
    } catch (error) {
      if (!(error instanceof SiteError && error.mayBeDone)) throw error
      lost = error
      await wait(SETTLING * round)
    }
  }
  throw lost ?? new SiteError(`cannot write the ${posts.noun}: it disappears again and again`, { status: null })
}

/** Sites change line ends and drop blanks at the end. */
const sameText = (a: string, b: string): boolean => plain(a) === plain(b)
const plain = (text: string): string => text.replace(/\r\n/g, '\n').trim()

// The text of comments, issues and job summaries: the report, cut to the limit of the site.

/** Renders a report of at most so many characters, cut between zones. */
type Renderer = (maxLength: number) => string

interface PostParts {
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
