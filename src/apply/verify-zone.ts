import type { Diagnostic } from '../dns/diagnostic.ts'
import type { NameServerVerification, ZoneVerification } from '../report/verification.ts'
import type { HostPolicy } from '../transport/allowed-hosts.ts'
import { refusedServer } from '../transport/allowed-hosts.ts'
import { type AskedServer, askServer } from './ask-server.ts'
import { expectedSets } from './expected-sets.ts'
import type { PlannedZone } from './plan-zones.ts'

/**
 * Compares a planned zone with its rendered file, and with the answers of the given servers to every record set. A server that the policy
 * refuses is an error and is not asked: the NS records of a zone can name any host.
 */
export async function verifyZone(planned: PlannedZone, given: readonly AskedServer[], policy: HostPolicy): Promise<ZoneVerification> {
  const { plan, rendered, existing } = planned
  const disabled = existing?.settings.status === 'disabled'
  const { sets, hidden } = expectedSets(planned)
  const what = `${plan.zone} at ${plan.target}`
  const judged = (existing === null || disabled ? [] : given).map((asked) => ({
    asked,
    refusal: refusedServer(policy, what, asked.server, planned.job.desired.at),
  }))
  const servers = judged.flatMap(({ asked, refusal }) => (refusal === null ? [asked] : []))
  const nameServers = await Promise.all(servers.map((server) => askServer(server, sets)))
  return {
    zone: plan.zone,
    target: plan.target,
    pending: plan.changes.length,
    rendered: rendered.state,
    renderedDifferences: rendered.differences,
    nameServers,
    hidden,
    diagnostics: [
      ...plan.diagnostics,
      ...(disabled ? unservedWarning(planned) : []),
      ...judged.flatMap(({ refusal }) => refusal ?? []),
      ...nameServers.flatMap((server, index) => failureOf(server, servers[index]?.role, planned)),
    ],
  }
}

/** Nobody answers for a disabled zone, which a definition that does not say so hardly means. */
function unservedWarning({ plan, job }: PlannedZone): Diagnostic[] {
  if (job.desired.settings.status === 'disabled') return []
  const message = `${plan.zone} is disabled at ${plan.target}: no name server was asked, since none answers for it`
  return [{ severity: 'warning', code: 'zone-disabled', message, at: job.desired.at, hint: 'set "status: active" or "status: disabled"' }]
}

/** A server that could not be asked tells nothing about the zone: that is a failure, not a difference. */
function failureOf(
  { server, failure }: NameServerVerification,
  role: AskedServer['role'] | undefined,
  { plan, job }: PlannedZone,
): Diagnostic[] {
  if (failure === null) return []
  const what = role === 'resolver' ? 'resolver' : 'name server'
  const message = `${plan.zone} at ${plan.target}: the ${what} ${server} could not be asked: ${failure}`
  const hint = 'name the servers to ask with --nameserver or "nameservers" in the config, or ask none with --no-dns'
  return [{ severity: 'error', code: 'nameserver-failed', message, at: job.desired.at, hint: role === 'resolver' ? undefined : hint }]
}
