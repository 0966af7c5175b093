/**
 * The zones that a job of a push changes, and those that later commits of the branch describe otherwise. A job may run long after its merge: it waited for a
 * consent, or somebody started it again. If the merge was reverted meanwhile, the zones may be as they were when its plan was made, and the plan would undo
 * the revert.
 */
import { basename, join } from 'node:path'
import { loadRunConfig } from '../../apply/run-config.ts'
import type { SupersededZones } from '../../apply/run-context.ts'
import { selectZones } from '../../apply/select-zones.ts'
import { openRevision } from '../../definition/files/revision.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { CiContext } from './ci-setup.ts'

/** Compares the checkout with the last commit of the job's branch, as it was when the repository was checked out. */
export async function zonesOfLaterCommits(context: CiContext, config: string | undefined): Promise<SupersededZones> {
  const { branch } = context.job
  return { names: (await changedSince(context, config, `refs/remotes/origin/${branch}..`)) ?? new Set(), branch }
}

/** The zones whose definitions differ from those of a revision; null, with a message, if it cannot be read. */
export async function changedSince(
  { io, output }: CiContext,
  config: string | undefined,
  since: string,
): Promise<ReadonlySet<DomainName> | null> {
  const loaded = await loadRunConfig(io, config)
  // The command that applies reports what is wrong with the config.
  if (loaded.config === null) return null
  const { zones, former, diagnostics } = await selectZones(loaded.config, [], { since }, io)
  const unreadable = diagnostics.find(({ code }) => code === 'revision-unreadable')
  if (unreadable !== undefined) {
    output.say(`Cannot compare with ${since}: ${unreadable.message}.`)
    return null
  }
  return new Set([...zones.map(({ zone }) => zone.name), ...former.map(({ name }) => name)])
}

/** Calls `work` with the config of the branch's last commit, among its definitions; null, with a message, if they cannot be read. */
export async function withLastCommit<T>(
  { io, job, output }: CiContext,
  file: string | undefined,
  work: (config: string) => Promise<T>,
): Promise<T | null> {
  const { config } = await loadRunConfig(io, file)
  if (config === null || config.file === null) return null
  const opened = await openRevision(config.folder, `refs/remotes/origin/${job.branch}..`, io.env)
  if (!opened.ok) {
    output.say(`Cannot read the last commit of ${job.branch}: ${opened.diagnostic.message}.`)
    return null
  }
  try {
    return await work(join(opened.revision.folder, basename(config.file)))
  } finally {
    opened.revision.close()
  }
}
