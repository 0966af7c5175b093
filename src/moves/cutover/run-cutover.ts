/** `cutover`: moves a zone from one provider to another, step by step (`cutover-state.ts`). A run does what is due and says what it waits for; a later run goes on. */
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import { listed } from '../../base/english.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { isServerAddress, parseServerAddress } from '../../dns/server-address.ts'
import { storedTtl } from '../../plan/fit-to-target.ts'
import type { Provider } from '../../providers/provider.ts'
import { type LockedRun, lockRun } from '../../run/apply/locked-run.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { closeRun, openRun } from '../../run/context/run-context.ts'
import { type Cutover, cutoverFile, STEPS } from '../../run/load/cutover-state.ts'
import { loadRunConfig } from '../../run/load/run-config.ts'
import { openProviders, reportLoaded } from '../../run/load/workspace.ts'
import { lacking, neededForZones } from '../../stored/approvals/approvals-of-plan.ts'
import { BrokenState } from '../../stored/states/state-file.ts'
import { fetchJournal, mirrorOf } from '../../stored/store/fetch-journal.ts'
import { readHostPolicy, refusedServer } from '../../transport/allowed-hosts.ts'
import { timeText, waitUntil } from '../stages/wait-until.ts'
import type { CutoverContext, CutoverOptions, CutoverSetup, CutoverWorkspace, MoveContext, StepResult } from './cutover-context.ts'
import { abortCutover, doStep } from './steps.ts'

/** Moves the zone as far as it can. The status is `pending` while it waits. */
export async function runCutover(setup: CutoverSetup, zone: string): Promise<ExitStatus> {
  for (;;) {
    const { status, state, readyAt } = await runStep(setup, zone)
    if (status === EXIT.done && state !== null) continue
    if (status !== EXIT.pending || setup.options.stay !== true || readyAt === null) return status
    const interrupted = await waitUntil(setup.environment, readyAt)
    if (interrupted !== null) return interrupted
  }
}

const failed = (status: ExitStatus = EXIT.failure): StepResult => ({ status, state: null, readyAt: null })

/** Opens the cutover, locks the zone at both providers, and does one step. */
async function runStep(setup: CutoverSetup, argument: string): Promise<StepResult> {
  const opened = await openCutover(setup, argument)
  if ('problems' in opened) {
    reportLoaded(setup.output, { diagnostics: opened.problems }, { inFull: true })
    return failed(opened.status)
  }
  const context: MoveContext = openRun(setup, opened)
  try {
    const { output, environment } = context
    const { zone, state } = context.workspace
    const locked = [state.from, state.to].map((target) => ({ zone, target }))
    const lock = await lockRun(context, 'cutover', locked)
    if (lock.lockedRun === null) return failed(environment.interruption.status() ?? EXIT.failure)
    const { lockedRun } = lock
    let result = failed()
    await lockedRun.finish(async () => {
      result = await underLock(context, lockedRun)
      return result.status
    })
    if (result.readyAt !== null) {
      const waits = result.state?.notBefore != null
      output.say(
        waits
          ? `Safe to go on after ${timeText(result.readyAt, environment.now())}: run the same command again.`
          : 'When that is done, run the same command again.',
      )
    }
    return result
  } finally {
    await closeRun(context)
  }
}

/** Does what the user requested, from the state that a run before left while this one waited for its locks. */
async function underLock(context: MoveContext, lockedRun: LockedRun): Promise<StepResult> {
  const { options, output, workspace } = context
  const { state, known, file, zone } = workspace
  const current = await file.read()
  const isSame =
    known === null ? current === null || (current.from === state.from && current.to === state.to) : current?.started === known.started
  if (!isSame) {
    output.diagnostics([usage(`another run has begun or ended a cutover of ${zone}`, 'run the command again')])
    return failed()
  }
  const apexNs = options.apexNs.length > 0 ? state.apexNs : (current?.apexNs ?? [])
  const own = current === null ? context : { ...context, workspace: { ...workspace, state: { ...current, apexNs } } }
  return options.abort ? abortCutover(own, lockedRun) : dueStep(own as CutoverContext, lockedRun)
}

/** Does the next step if its time has come, and keeps the state. */
async function dueStep(context: CutoverContext, lockedRun: LockedRun): Promise<StepResult> {
  const { output } = context
  const { state, file, zone } = context.workspace
  const { now } = context.environment
  const number = `step ${STEPS.indexOf(state.step) + 1} of ${STEPS.length}`
  if (state.notBefore !== null && now().getTime() < Date.parse(state.notBefore)) {
    output.say(`${zone}: ${number} (${state.step}) waits until caches have forgotten old answers.`)
    return { status: EXIT.pending, state, readyAt: new Date(state.notBefore) }
  }
  output.say(`${zone}: ${number}, ${state.step}.`)
  const result = await doStep(context, lockedRun)
  if (result.status !== EXIT.done && result.status !== EXIT.pending) return result
  if (result.state === null) await file.remove()
  else await file.write(result.state)
  return result
}

const LET_IT_CHANGE =
  'no plan of all steps can be saved: "approvals.zones" in the config can let the zone change without approvals until it has moved'

const usage = (message: string, hint?: string): Diagnostic => ({ severity: 'error', code: 'usage', message, hint })

/** Loads the config, the state and both providers. */
async function openCutover(
  setup: CutoverSetup,
  argument: string,
): Promise<CutoverWorkspace | { readonly problems: readonly Diagnostic[]; readonly status?: ExitStatus }> {
  const { options, environment } = setup
  const { now, env } = environment
  const { config, diagnostics: inConfig } = await loadRunConfig(environment, options.config, { trusted: options.trustedConfig })
  const problems: Diagnostic[] = [...inConfig, ...serverProblems(options, readHostPolicy(env))]
  const zone = parseAbsoluteName(argument)
  if (!zone.ok) problems.push({ severity: 'error', code: 'zone-name', message: zone.message })
  const given = options.apexNs.flatMap((text) => {
    const name = parseAbsoluteName(text)
    if (!name.ok) problems.push(usage(`--apex-ns: ${name.message}`))
    return name.ok ? [name.value] : []
  })
  if (config === null || !zone.ok || hasErrors(problems)) return { problems }
  const place = { ...environment, config, journal: config.journal }
  const unreadable = await fetchJournal(place, { states: true })
  if (unreadable !== null) return { problems: [unreadable] }
  const file = cutoverFile(config.journal, zone.value, mirrorOf(place))
  let known: Cutover | null
  try {
    known = await file.read()
  } catch (error) {
    if (!(error instanceof BrokenState)) throw error
    return { problems: [{ severity: 'error', code: 'journal-failed', message: error.message, hint: 'remove the file to begin again' }] }
  }
  const needed = neededForZones(config, [zone.value])
  // An abort ends without the change that needs approvals.
  if (needed > 0 && !(options.abort && known !== null)) return { problems: [lacking(needed, LET_IT_CHANGE)], status: EXIT.refused }
  const { from = known?.from, to = known?.to } = options
  if (from === undefined || to === undefined)
    return { problems: [usage('name both providers with --from and --to', `no cutover of ${zone.value} is in progress`)] }
  if (from === to) return { problems: [usage(`--from and --to both name ${from}`)] }
  if (known !== null && (known.from !== from || known.to !== to))
    return {
      problems: [usage(`a cutover of ${zone.value} from ${known.from} to ${known.to} is in progress`, 'finish it, or end it with --abort')],
    }
  if (known === null && options.abort) return { problems: [usage(`no cutover of ${zone.value} is in progress`)] }
  const opened = await openProviders(setup, config, options.abort ? [from] : [from, to])
  const ends = { source: opened.providers.get(from), target: opened.providers.get(to) }
  if (options.abort && known !== null) return { ...opened, jobs: [], zone: zone.value, state: known, known, file, ends }
  const { source, target } = ends
  if (hasErrors(opened.diagnostics) || source === undefined || target === undefined) return { problems: opened.diagnostics }
  const begun = known ?? newCutover(zone.value, source, target, options.lowTtl, now())
  const state = given.length === 0 ? begun : { ...begun, apexNs: [...new Set(given)].sort() }
  if (isPastCopy(begun) && state.apexNs !== begun.apexNs && state.apexNs.join() !== begun.nameservers.join())
    return {
      problems: [
        usage(
          `${zone.value} was copied for the name servers ${listed(begun.nameservers, 5)}`,
          'name these, or end the cutover with --abort',
        ),
      ],
    }
  return { ...opened, jobs: [], zone: zone.value, state, known, file, ends: { source, target } }
}

const isPastCopy = ({ step }: Cutover): boolean => STEPS.indexOf(step) > STEPS.indexOf('copy')

function serverProblems({ fromServer, toServer, parentServer }: CutoverOptions, policy: ReturnType<typeof readHostPolicy>): Diagnostic[] {
  const given = Object.entries({ '--from-server': fromServer, '--to-server': toServer, '--parent-server': parentServer })
  return given.flatMap(([option, servers]) =>
    servers.flatMap((server) =>
      isServerAddress(server)
        ? (refusedServer(policy, option, parseServerAddress(server)) ?? [])
        : usage(`${option} ${JSON.stringify(server)} is not an address`, 'such as 192.0.2.53 or 127.0.0.1:5353'),
    ),
  )
}

const newCutover = (zone: DomainName, source: Provider, target: Provider, lowTtl: number, now: Date): Cutover => ({
  format: 'zonewright-cutover',
  version: 1,
  zone,
  from: source.name,
  to: target.name,
  started: now.toISOString(),
  step: 'lower',
  lowTtl: Math.max(lowTtl, storedTtl(lowTtl, source.capabilities)),
  formerTtl: 0,
  formerZoneTtl: null,
  lowered: false,
  notBefore: null,
  apexNs: [],
  nameservers: [],
  parentTtl: 0,
})
