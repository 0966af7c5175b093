/** What the commands for CI jobs share: their options, the job, the connection to the site, and the files that a job's runner reads. */
import { appendFileSync } from 'node:fs'
import { type CiJob, readJob } from '../../ci/job.ts'
import type { KeepOptions } from '../../ci/keep-post.ts'
import { type OpenSite, openSite } from '../../ci/open-site.ts'
import { diagnosticOfSite, SiteError } from '../../ci/site-client.ts'
import { loadFormat } from '../../report/render-report.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import type { CommonOptions } from '../command.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, createOutput } from '../output.ts'
import { readEvent } from '../read-event.ts'

export interface CiOptions extends CommonOptions {
  /** The name in the hidden marker of the comment or issue. */
  readonly marker: string
}

export interface CiContext {
  readonly io: CliIo
  readonly output: CliOutput
  readonly job: CiJob
}

/** Reads the job and does the work. Errors of the job and of the site become messages. */
export async function inCiJob(io: CliIo, options: CommonOptions, work: (context: CiContext) => Promise<ExitStatus>): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const job = readJob(io.env, readEvent)
  if (!job.ok) {
    output.error('ci-job', job.message)
    return EXIT.failure
  }
  await loadFormat('markdown')
  return reportingErrors(output, () => work({ io, output, job: job.value }))
}

/** Connects to the site, does the work and disconnects. An error of the site becomes a message. */
export async function withSite(
  { io, output, job }: CiContext,
  source: string | undefined,
  work: (open: OpenSite) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const open = openSite(job, { env: io.env, secrets: io.secrets, source })
  if (!open.ok) {
    output.error('ci-job', open.message, 'see docs/tasks/ci.md')
    return EXIT.failure
  }
  try {
    return await reportingErrors(output, () => work(open.value))
  } finally {
    await open.value.site.close()
  }
}

async function reportingErrors(output: CliOutput, work: () => Promise<ExitStatus>): Promise<ExitStatus> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SiteError) output.diagnostics([diagnosticOfSite(error)])
    else if (error instanceof RangeError) output.error('usage', error.message)
    else throw error
    return EXIT.failure
  }
}

/** The arguments of a step that name the config of the job. */
export const configOf = ({ config }: { readonly config?: string }): string[] => (config === undefined ? [] : ['--config', config])

/** The format of a step whose output the log shows. */
export const formatOf = ({ job }: CiContext): 'github' | 'text' => (job.site === 'github' ? 'github' : 'text')

export const keepOptionsOf = async ({ site, usualAuthor }: OpenSite): Promise<KeepOptions> => ({
  author: await site.findAuthor(),
  usualAuthor,
})

/** Adds Markdown to the summary of the job, if its runner shows one. */
export const addSummary = ({ io }: CiContext, text: string): void => append(io, 'GITHUB_STEP_SUMMARY', `${text}\n`)

/** Sets outputs of the step. The values are numbers, commits or words. */
export function setOutputs({ io }: CiContext, values: Readonly<Record<string, string | number>>): void {
  append(
    io,
    'GITHUB_OUTPUT',
    Object.entries(values)
      .map(([name, value]) => `${name}=${String(value).replace(/[\r\n]/g, ' ')}\n`)
      .join(''),
  )
}

function append({ env }: CliIo, variable: string, text: string): void {
  const file = env[variable] ?? ''
  if (file === '') return
  try {
    appendFileSync(file, text)
  } catch (error) {
    throw new SiteError(`cannot write the file in ${variable} (${(error as NodeJS.ErrnoException).code ?? 'error'})`, { status: null })
  }
}
