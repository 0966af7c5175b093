/**
 * Whose approvals `ci apply` needs: the config as it was before the push decides, so that a pull request cannot add a key of its own. The approvals are
 * signatures in the comments on the pull request, whoever wrote them.
 */
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { EXIT, type ExitStatus } from '../../apply/exit-status.ts'
import { loadRunConfig } from '../../apply/run-config.ts'
import { fromDisplayPath } from '../../definition/files/file-path.ts'
import { openRevision } from '../../definition/files/revision.ts'
import { type CiContext, withSite } from './ci-setup.ts'

interface Options {
  readonly config?: string
  readonly trustedConfig?: string | undefined
  readonly from?: string
}

export interface TrustedConfig {
  /** The file; undefined if the config of the checkout is the trusted one. */
  readonly file: string | undefined
  /** Whether it is known who must approve. If not, nothing is applied. */
  readonly isKnown: boolean
}

/** Calls `work` with the config that `--trusted-config` names, or that of the commit before the push. */
export async function withTrustedConfig(
  { io, job, output }: CiContext,
  { config: file, trustedConfig }: Options,
  work: (trusted: TrustedConfig) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const { config } = await loadRunConfig(io, file)
  // The command that applies reports what is wrong with the config.
  if (trustedConfig !== undefined || config === null || config.file === null || job.before === null)
    return work({ file: trustedConfig, isKnown: true })
  const opened = await openRevision(config.folder, `${job.before}..`, io.env)
  if (!opened.ok) {
    const isKnown = config.approvals === null
    if (!isKnown) output.say(`Nothing is applied, since the config before the push cannot be read: ${opened.diagnostic.message}.`)
    return work({ file: undefined, isKnown })
  }
  try {
    const path = join(opened.revision.folder, basename(fromDisplayPath(config.file, config.cwd)))
    return await work({ file: existsSync(path) ? path : undefined, isKnown: true })
  } finally {
    opened.revision.close()
  }
}

/** The comments on the merged pull request; none, without a request, if the config needs no approvals. */
export async function commentsWithApprovals(
  context: CiContext,
  { config: file, from }: Options,
  trusted: string | undefined,
): Promise<readonly string[]> {
  const { io, job } = context
  const { config } = await loadRunConfig(io, file, { trusted })
  if (!config?.approvals) return []
  let texts: readonly string[] = []
  await withSite(context, from, async ({ site }) => {
    const merged = await site.findMerged(job.commit, job.branch)
    if (merged !== null) texts = (await site.comments(merged.number).list()).map(({ text }) => text)
    return EXIT.done
  })
  return texts
}
