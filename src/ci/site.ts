/** What the jobs of a CI system ask of the site that hosts the repository. `github.ts` and `gitlab.ts` implement it. */

/** A comment or an issue. */
export interface Post {
  readonly id: number
  /** The user name of its author. */
  readonly author: string
  readonly text: string
}

/** A set of posts, such as the comments of a pull request. The methods throw `SiteError`. */
export interface Posts {
  /** In messages, such as `comment`. */
  readonly noun: string
  /** All posts that may be ours, the oldest first. */
  list(): Promise<readonly Post[]>
  create(text: string): Promise<Post>
  /** Returns false if the post no longer exists. */
  update(post: Post, text: string): Promise<boolean>
  /** Deletes the post, or closes it if the site keeps posts of its kind. */
  remove(post: Post): Promise<void>
}

/** A pull request, or at GitLab a merge request. */
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

/** A file that a job has kept. */
export interface FoundArtifact {
  /** The run or job that made it, and its own identifier, for the step that downloads it. */
  readonly run: number
  readonly id: number
}

/** Artifacts, and why there are no others that may be used. */
export interface ArtifactSearch {
  readonly found: readonly FoundArtifact[]
  readonly reasons: readonly string[]
}

export const oneArtifact = (run: number, id: number): ArtifactSearch => ({ found: [{ run, id }], reasons: [] })
export const noArtifact = (reason: string): ArtifactSearch => ({ found: [], reasons: [reason] })

export interface Site {
  /** The name of the site, and of its pull requests and issues in messages. */
  readonly words: { readonly site: string; readonly pullRequest: string; readonly sign: string }
  /** Maximum characters of a comment or issue. */
  readonly maxText: number
  /** The user name of the token; null if the site does not reveal it. */
  findAuthor(): Promise<string | null>
  comments(pullRequest: number): Posts
  /** The open issues with this title for those that it creates. */
  issues(title: string): Posts & { close(post: Post, text: string): Promise<void> }
  /** Null if there is none. */
  findPullRequest(number: number): Promise<PullRequest | null>
  /** The merged pull request that put a commit on the branch; null if none did. */
  findMerged(commit: string, branch: string): Promise<PullRequest | null>
  /** The commits that a push put on the branch, without those of merged branches, the newest first; only the last one if the site does not know. */
  commitsOfPush(before: string, commit: string): Promise<readonly string[]>
  /** Finds the plan of the last commit of a pull request that a trusted run made. */
  findReviewedPlan(pullRequest: PullRequest, name: string): Promise<ArtifactSearch>
  close(): Promise<void>
}
