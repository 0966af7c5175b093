/** The interface between CI jobs and the site that hosts the repository. `github.ts` and `gitlab.ts` implement it. */

/** A comment or an issue. */
export interface Post {
  readonly id: number
  /** The author's user name. */
  readonly author: string
  readonly text: string
}

/** A set of posts, such as the comments of a pull request. The methods throw `SiteError`. */
export interface Posts {
  /** The noun for one post in messages, such as `comment`. */
  readonly noun: string
  /** All posts that Zonewright may have written, the oldest first. */
  list(): Promise<readonly Post[]>
  create(text: string): Promise<Post>
  /** Returns false if the post no longer exists. */
  update(post: Post, text: string): Promise<boolean>
  /** Deletes the post, or closes it if the site keeps posts of its kind. */
  remove(post: Post): Promise<void>
}

/** A pull request of GitHub, or a merge request of GitLab. */
export interface PullRequest {
  readonly number: number
  /** The last commit of its branch. */
  readonly head: string
  /** The branch that it is merged into. */
  readonly base: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  readonly isOpen: boolean
  /** Whether its branch is in another repository. */
  readonly isFork: boolean
}

/** A file that a job stored. */
export interface FoundArtifact {
  /** The run or job that stored the file. The download step needs both numbers. */
  readonly run: number
  readonly id: number
}

/** Usable artifacts, and the reasons why other artifacts are not usable. */
export interface ArtifactSearch {
  readonly found: readonly FoundArtifact[]
  readonly reasons: readonly string[]
}

export const oneArtifact = (run: number, id: number): ArtifactSearch => ({ found: [{ run, id }], reasons: [] })
export const noArtifact = (reason: string): ArtifactSearch => ({ found: [], reasons: [reason] })

export interface Site {
  /** Words for messages: the site, a pull request, and the sign before its number. */
  readonly words: { readonly site: string; readonly pullRequest: string; readonly sign: string }
  /** Maximum characters of a comment or issue. */
  readonly maxText: number
  /** The user name of the token; null if the site does not reveal it. */
  findAuthor(): Promise<string | null>
  comments(pullRequest: number): Posts
  /** The open issues. `create` opens issues with this title. */
  issues(title: string): Posts & { close(post: Post, text: string): Promise<void> }
  /** Null if there is no pull request with this number. */
  findPullRequest(number: number): Promise<PullRequest | null>
  /** The merged pull request that put a commit on the branch; null if none did. */
  findMerged(commit: string, branch: string): Promise<PullRequest | null>
  /** The commits that a push added to the branch, the newest first, without commits of merged branches. At least the last one, if the site knows no more. */
  commitsOfPush(before: string, commit: string): Promise<readonly string[]>
  /** Finds the plan that a trusted run made for a pull request's last commit. */
  findReviewedPlan(pullRequest: PullRequest, name: string): Promise<ArtifactSearch>
  close(): Promise<void>
}
