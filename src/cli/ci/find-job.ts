/** `zonewright ci find`: finds a file that an earlier run of GitHub Actions has kept, and checks which run that was. The next step downloads it. */
import { MAX_FORK_ARTIFACT } from '../../ci/github.ts'
import type { OpenSite } from '../../ci/open-site.ts'
import { findReviewedPlans } from '../../ci/reviewed-plan.ts'
import { type ArtifactSearch, noArtifact } from '../../ci/site.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import type { CommonOptions } from '../command.ts'
import type { CliIo } from '../io.ts'
import { addSummary, type CiContext, inCiJob, setOutputs, withSite } from './ci-setup.ts'

export const FINDABLE = ['reviewed-plan', 'fork-plan', 'snapshot'] as const

export interface FindJobOptions extends CommonOptions {
  readonly artifact?: string
  /** The path of the workflow that made the file. */
  readonly from?: string
}

/** Reports artifacts by the outputs `found` and `artifact-ids` of the step, and the first one by `run-id` and `artifact-id`. That there is none is no error. */
export const findJob = (io: CliIo, [what]: readonly [(typeof FINDABLE)[number]], options: FindJobOptions): Promise<ExitStatus> =>
  inCiJob(io, options, (context) =>
    withSite(context, options.from, async (open) => {
      const { found, reasons } = await search(context, open, what, options)
      for (const reason of reasons) context.output.say(`Found no ${WORDS[what]}: ${reason}.`)
      const [first] = found
      if (first === undefined) {
        addSummary(context, `Found no ${WORDS[what]}.`)
        setOutputs(context, { found: 'false' })
        return EXIT.done
      }
      for (const { run } of found) context.output.say(`Found the ${WORDS[what]} of run ${run}.`)
      const ids = found.map(({ id }) => id).join(' ')
      setOutputs(context, { found: 'true', 'run-id': first.run, 'artifact-id': first.id, 'artifact-ids': ids })
      return EXIT.done
    }),
  )

const WORDS = { 'reviewed-plan': 'reviewed plan', 'fork-plan': 'plan of the fork', snapshot: 'snapshot' } as const

async function search(
  { job }: CiContext,
  open: OpenSite,
  what: (typeof FINDABLE)[number],
  options: FindJobOptions,
): Promise<ArtifactSearch> {
  if (open.kind !== 'github') return noArtifact('only GitHub has a step that downloads artifacts; "ci apply" finds them elsewhere')
  if (what === 'reviewed-plan') return findReviewedPlans(open, job, options.artifact ?? 'zonewright-plan')
  if (what === 'snapshot') return open.site.findArtifactOfBranch(job.branch, options.artifact ?? 'zonewright-snapshot')
  if (job.ended === null) return noArtifact('this job did not start after a run of another workflow')
  return open.site.findArtifactOfRun(job.ended.id, options.artifact ?? 'zonewright-fork-plan', job.ended.head, MAX_FORK_ARTIFACT)
}
