/**
 * Whose approvals `ci apply` needs: the config as it was before the push decides, so that a pull request cannot add a key of its own. The approvals are
 * signatures in the comments on the pull request, whoever wrote them.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { findMerged } from '../../ci/reviewed-plan.ts'
import { SiteError } from '../../ci/site-client.ts'
import { CONFIG_FILE } from '../../config/config.ts'
import { existsInRevision, newLinksTo, withRevision } from '../../git/revision.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { loadRunConfig } from '../../run/load/run-config.ts'
import type { CliIo } from '../io.ts'
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
  if (trustedConfig !== undefined || job.before === null) return work({ file: trustedConfig, isKnown: true })
  return withFormerConfig(io, file, `${job.before}..`, ({ file: former, problem }) => {
    // The push may bring the first config.
    if (problem === null) return work({ file: former ?? undefined, isKnown: true })
    output.say(`Nothing is applied, since the config before the push cannot be read, which says who must approve: ${problem}.`)
    return work({ file: undefined, isKnown: false })
  })
}

/** The config of a revision, in a copy of its folder, or why it cannot be read. Both are null if the revision has none. */
interface FormerConfig {
  readonly file: string | null
  readonly problem: string | null
}

/** Calls `work` with the config of a revision, `isAlone` without its definitions. Throws `SiteError` if there is none. */
export const withConfigOf = <T>(
  io: Pick<CliIo, 'cwd' | 'env'>,
  file: string | undefined,
  revision: string,
  work: (file: string) => Promise<T>,
  options: { readonly isAlone?: boolean } = {},
): Promise<T> =>
  withFormerConfig(
    io,
    file,
    revision,
    ({ file: former, problem }) => {
      if (former !== null) return work(former)
      throw new SiteError(`cannot read the config of ${revision.slice(0, -2)}: ${problem ?? 'there is none'}`, { status: null })
    },
    options,
  )

/** Calls `work` with the config of a revision, as a run would have found it then. Without `isAlone`, the files that it names are beside it. */
async function withFormerConfig<T>(
  io: Pick<CliIo, 'cwd' | 'env'>,
  file: string | undefined,
  revision: string,
  work: (former: FormerConfig) => Promise<T>,
  { isAlone = false }: { readonly isAlone?: boolean } = {},
): Promise<T> {
  const former = await formerPath(io, file, revision)
  const read = await withRevision(dirname(former ?? resolve(io.cwd, file ?? CONFIG_FILE)), revision, io.env, async ({ copy }) => {
    const links = await newLinksTo(dirname(resolve(io.cwd, file ?? CONFIG_FILE)), revision, io.env)
    // The folder may have been another one then, with another config or none.
    if (links === null || links.length > 0)
      return await work({ file: null, problem: `its folder may not be the same: ${links?.[0] ?? 'some path'} is a new link to it` })
    if (former === null) return await work({ file: null, problem: null })
    const path = join(await copy(isAlone ? (one) => one === basename(former) : undefined), basename(former))
    return await work(
      existsSync(path) ? { file: path, problem: null } : { file: null, problem: 'it is too large, or a link that leads elsewhere' },
    )
  })
  if (read.ok) return read.value
  const { message, hint } = read.diagnostic
  return work({ file: null, problem: hint === undefined ? message : `${message} (${hint})` })
}

/**
 * The path where the config was in a revision: a branch that moves the config does not hide the previous one. Null if there was none, or if the revision cannot
 * be read.
 */
async function formerPath({ cwd, env }: Pick<CliIo, 'cwd' | 'env'>, file: string | undefined, before: string): Promise<string | null> {
  const place = resolve(cwd, file ?? CONFIG_FILE)
  for (let folder = dirname(place); ; folder = dirname(folder)) {
    const exists = await existsInRevision(folder, before, basename(place), env)
    if (exists) return join(folder, basename(place))
    if (exists === null || file !== undefined || dirname(folder) === folder) return null
  }
}

/** The comments on the merged pull requests; none, without a request, if the config needs no approvals. */
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
    const lists = (await findMerged(site, job)).map(({ number }) => site.comments(number).list())
    texts = (await Promise.all(lists)).flat().map(({ text }) => text)
    return EXIT.done
  })
  return texts
}
