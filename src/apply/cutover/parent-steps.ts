/** The steps of a cutover that wait for a change in the parent zone, which only its registrar or administrator can make. */
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type DomainName, isAtOrBelow } from '../../dns/domain-name.ts'
import { parseServerAddress } from '../../dns/server-address.ts'
import type { Change } from '../../plan/plan.ts'
import { diagnosticOf } from '../../providers/provider.ts'
import { agreeing, durationText, listed } from '../../report/english.ts'
import { askParent, type Delegation, parentServers } from '../../transport/parent-zone.ts'
import { planCopy } from '../copy/run-copy.ts'
import { EXIT } from '../exit-status.ts'
import type { CutoverContext, MoveContext, StepResult } from './cutover-context.ts'
import type { Cutover } from './cutover-state.ts'
import { failed, formerZone, inSeconds, LOOK_AGAIN, mayAsk, newApexNs, next, problem, readSide } from './sides.ts'

/** Asks the servers of the parent zone; a failure is reported. */
export async function askAbout(context: MoveContext): Promise<Delegation[] | StepResult> {
  const { options } = context
  const { zone, state } = context.workspace
  const hint = 'name the servers of the parent zone with --parent-server'
  const servers = options.parentServer.length > 0 ? options.parentServer.map(parseServerAddress) : await parentServers(zone)
  if (servers !== null && !mayAsk(context, servers)) return failed(state)
  if (servers === null || servers.length === 0)
    return problem(context, 'nameserver-failed', `the servers of the zone above ${zone} could not be found`, hint)
  const result = await askParent(zone, servers)
  return result.ok ? [...result.delegations] : problem(context, 'nameserver-failed', `${zone}: ${result.message}`, hint)
}

export const longestTtl = (parent: readonly Delegation[]): number => Math.max(0, ...parent.map(({ ttl }) => ttl))

/** Waits until no server of the parent has a DS record: with one, resolvers refuse the answers of servers that do not sign with its key (RFC 4035 section 5). */
export async function unsign(context: CutoverContext): Promise<StepResult> {
  const { output } = context
  const { state, zone } = context.workspace
  const { now } = context.environment
  const parent = await askAbout(context)
  if (!Array.isArray(parent)) return parent as StepResult
  const signed = parent.filter(({ ds }) => ds > 0)
  if (signed.length === 0) return next(state, { step: 'delegate', notBefore: inSeconds(now(), state.parentTtl) })
  output.say(
    `Now remove the DS records of ${zone} at the registrar or in the parent zone; ${listed(
      signed.map(({ server }) => server),
      3,
    )} still ${agreeing(signed.length, 'has', 'have')} them.`,
  )
  const parentTtl = Math.max(state.parentTtl, longestTtl(parent))
  return { status: EXIT.pending, state: { ...state, parentTtl }, readyAt: new Date(now().getTime() + LOOK_AGAIN) }
}

/** Says what to change at the parent, and waits until all of its servers show it. */
export async function delegate(context: CutoverContext): Promise<StepResult> {
  const { output } = context
  const { state, zone, ends } = context.workspace
  const { now } = context.environment
  const parent = await askAbout(context)
  if (!Array.isArray(parent)) return parent as StepResult
  const late = parent.filter((one) => !isNew(one, state))
  if (late.length === 0) {
    await reportLateChanges(context)
    const seconds = Math.max(state.parentTtl, state.lowered ? state.lowTtl : state.formerTtl)
    output.say(`The parent delegates ${zone} to ${ends.target.name}. ${ends.source.name} must keep answering for ${durationText(seconds)}.`)
    return next(state, { step: 'drain', notBefore: inSeconds(now(), seconds) })
  }
  if ((await changesSinceCopy(context)).length > 0) {
    output.say(`${zone} has changed at ${ends.source.name} since it was copied: it is copied again.`)
    return next(state, { step: 'copy' })
  }
  const former = [...new Set(late.flatMap(({ nameservers }) => nameservers))].sort()
  output.say(`Now change the NS records of ${zone} at the registrar or in the parent zone:`)
  for (const name of former.filter((one) => !state.nameservers.includes(one))) output.say(`  - ${name}`)
  for (const name of state.nameservers.filter((one) => !former.includes(one)))
    output.say(`  + ${name}${isAtOrBelow(name as DomainName, zone) ? ' (with its addresses as glue)' : ''}`)
  output.say(
    `${listed(
      late.map(({ server }) => server),
      3,
    )} ${agreeing(late.length, 'does', 'do')} not have them yet.`,
  )
  const parentTtl = Math.max(state.parentTtl, longestTtl(late))
  return { status: EXIT.pending, state: { ...state, parentTtl }, readyAt: new Date(now().getTime() + LOOK_AGAIN) }
}

const isNew = ({ nameservers }: Delegation, state: Cutover): boolean => nameservers.join() === state.nameservers.join()

/** Whether a server of the parent has the new name servers already; null, after a warning, if that is unknown. */
export async function isDelegated(context: MoveContext): Promise<boolean | null> {
  const { output } = context
  const { state } = context.workspace
  if (state.nameservers.length === 0) return false
  const warn = (found: readonly Diagnostic[]): void => output.diagnostics(found.map((one) => ({ ...one, severity: 'warning' })))
  const parent = await askAbout({ ...context, output: { ...output, diagnostics: warn } })
  return Array.isArray(parent) ? parent.some((one) => isNew(one, state)) : null
}

/** Whether all servers of the parent have these name servers, sorted. A failure to find out is reported. */
export async function hasDelegation(context: CutoverContext, names: readonly string[]): Promise<boolean | StepResult> {
  const parent = await askAbout(context)
  return Array.isArray(parent) ? parent.every(({ nameservers }) => nameservers.join() === names.join()) : (parent as StepResult)
}

/** The changes that a copy would make. */
async function changesSinceCopy(context: CutoverContext): Promise<readonly Change[]> {
  const { ends, state } = context.workspace
  const read = await readSide(context, ends.source)
  if (read?.existing == null) return []
  const quiet = { ...context, output: { ...context.output, misfits: () => undefined } }
  const { zones } = await planCopy(quiet, [formerZone(read.existing, state)], ends, newApexNs(context))
  return zones.flatMap(({ plan }) => plan.changes)
}

/** Changes that a message names. */
const MOST_NAMED = 10

/**
 * Warns of changes at the former provider that the copy does not have. They are not copied once the parent has changed: the new provider's records are those
 * in use. A provider that cannot be read stops nothing here.
 */
async function reportLateChanges(context: CutoverContext): Promise<void> {
  const { output } = context
  const { zone, ends } = context.workspace
  const changes = await changesSinceCopy(context).catch((error: unknown) => {
    const { message } = diagnosticOf(error)
    output.diagnostics([
      { severity: 'warning', code: 'apply-drift', message: `whether ${zone} has changed since it was copied is unknown: ${message}` },
    ])
    return []
  })
  if (changes.length === 0) return
  const names = [...new Set(changes.map(({ name, type }) => `${name} ${type}`))]
  const message = `${zone} has changed at ${ends.source.name} since it was copied, and the parent has the new name servers already: ${listed(names, MOST_NAMED)}`
  const hint = `"zonewright copy --from ${ends.source.name} --to ${ends.target.name} ${zone} --dry-run" shows the differences`
  output.diagnostics([{ severity: 'warning', code: 'apply-drift', message, hint }])
}
