/** `zonewright ci`: options of the commands that CI jobs run; the jobs are in `cli/ci/`. */
import type { Command } from 'commander'
import { applyJob } from '../ci/apply-job.ts'
import { driftJob } from '../ci/drift-job.ts'
import { FINDABLE, findJob } from '../ci/find-job.ts'
import { commentJob } from '../ci/plan-comment.ts'
import { planJob } from '../ci/plan-job.ts'
import { oneOf, positiveInteger, type SetAction, subcommand, withConfigOption } from '../command.ts'

export function configure(command: Command, setAction: SetAction): void {
  command.addHelpText('after', HELP)

  const plan = withConfigOption(subcommand(command, 'plan', 'check and plan a pull request, and comment on it'))
    .argument('[zone...]', 'zones (default: all); after --, options of plan')
    .option('--since <rev>', 'only what has changed since this revision')
    .option('-o, --out <file>', 'save the plan')
    .option('--artifact <name>', 'the artifact that the plan is kept in; the commit is added', 'zonewright-plan')
    .option('--no-comment', 'write no comment')
    .option('--unmerged', 'the branch conflicts with its base: say so in the comment, and plan nothing')
  setAction(withMarker(plan, 'plan'), planJob)

  const comment = subcommand(command, 'comment', 'comment on a pull request from a fork, after its job has ended (GitHub)').requiredOption(
    '--plan <file>',
    'the plan that the job of the fork has kept',
  )
  setAction(withMarker(comment, 'plan'), commentJob)

  const find = subcommand(command, 'find', 'find what an earlier run has kept, and check which run that was (GitHub)')
  find
    .addArgument(find.createArgument('<what>', FINDABLE.join(', ')).argParser(oneOf(FINDABLE)))
    .option('--artifact <name>', 'the artifact (default: zonewright- and the word)')
    .option('--from <path>', 'the workflow that made it, such as .github/workflows/dns.yml (default: as in this run)')
  setAction(find, findJob)

  const apply = withConfigOption(subcommand(command, 'apply', 'apply the reviewed plan after a merge'))
  apply
    .option('--plan <path>', 'the reviewed plan, or a folder of several, if an earlier step has found it')
    .option('--from <job>', 'at GitLab: the job that made the plan (default: dns:plan)')
    .option('--artifact <path>', 'at GitLab: the path of the plan among the artifacts of that job', 'plan.json')
    .option('--trusted-config <file>', 'take approvals and policies from this config (default: the config of the commit before the push)')
    .option('--since <rev>', 'plan again only what has changed since this revision (default: the push)')
    .option('--fetch-history', 'if the clone is shallow, fetch the whole history first')
    .option('--wait <seconds>', 'how long to wait for runs that have locked a zone', positiveInteger, 1800)
    .addOption(
      apply
        .createOption('--unreviewed <what>', 'what to do with changes that nobody has reviewed: plan, apply')
        .argParser(oneOf(['plan', 'apply']))
        .default('plan', 'plan'),
    )
  setAction(apply, applyJob)

  const drift = withConfigOption(
    subcommand(command, 'drift', 'compare the live zones with the definitions, and keep one issue open while they differ'),
  )
    .argument('[zone...]', 'zones (default: all)')
    .option('--title <text>', 'the title of the issue', 'DNS: the live zones differ from the definitions')
    .option('--no-issue', 'keep no issue')
  setAction(withMarker(drift, 'drift'), driftJob)
}

const withMarker = (command: Command, name: string): Command =>
  command.option('--marker <name>', 'finds the comment or issue again; give each config of a repository its own', name)

const HELP = `
These commands run in jobs of GitHub Actions and GitLab CI: docs/tasks/ci.md.`
