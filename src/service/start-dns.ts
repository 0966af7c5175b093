import { type NameServer, startNameServer } from './nameserver/name-server.ts'
import type { NotifyOutcome } from './nameserver/notifier.ts'
import type { Log } from './observability/log.ts'
import { usersToCreate } from './seed/apply-seed.ts'
import type { ServiceContext, Shutdown } from './service-context.ts'
import { checkPeerRules } from './transfers/peer.ts'
import { type ConfiguredKeys, createTransferKeys } from './transfers/transfer-keys.ts'
import { createTransfers, type Transfers } from './transfers/transfers.ts'
import { createZoneRenderer, type ZoneRenderer } from './zone/zone-renderer.ts'

/** The parts of the service that serve and transfer zones. */
export interface DnsParts {
  readonly keys: ConfiguredKeys
  /** Null if this process serves no DNS. */
  readonly nameServer: NameServer | null
  readonly renderer: ZoneRenderer
  /** Created, but not started yet. */
  readonly transfers: Transfers
}

/** Starts the name server and renders all zones. Resolves when every zone is served. */
export async function startDns(context: ServiceContext, shutdown: Shutdown): Promise<DnsParts> {
  const { options, nsNames, database, timers, clock, realClock, log, metrics, onError } = context
  const { dns, peerPort = 53, publicPeersOnly = false, transferAddresses = [], transferKeys = [] } = options
  const keys = createTransferKeys()
  // Load the keys before serving, because a zone with a key must never be transferred without it.
  await keys.use(transferKeys, database, options.listen ? usersToCreate(options.seed ?? null) : [])
  let transfers: Transfers | null = null
  const nameServer =
    dns &&
    (await startNameServer({
      ...dns,
      limits: options.nameServerLimits ?? {},
      peerPort,
      keys,
      publicPeersOnly,
      clock: realClock,
      onAnswer: metrics.query,
      onNotify: (...notify) => transfers?.notify(...notify) ?? null,
      onTransfer: (note) => log.debug(note, 'transfer requested'),
      onNotified: (outcome) => logNotified(log, outcome),
      onError,
    }))
  if (nameServer) {
    context.setZoneCount(nameServer.zoneCount)
    shutdown.add(nameServer.close)
  }
  const renderer = createZoneRenderer({
    database,
    nsNames,
    clock,
    onZone: (zone) => {
      metrics.rendered()
      nameServer?.setZone(zone)
    },
    onUnavailable: (name) => nameServer?.setUnavailable(name),
    onRemoved: (name) => nameServer?.removeZone(name),
    onOverridden: (others) =>
      log.warn({ nsNames: others }, others === null ? 'zones are rendered by another version' : 'a later process changed the name servers'),
    onError,
  })
  shutdown.add(renderer.close)
  await renderer.start()
  transfers = createTransfers({
    database,
    timers,
    rules: checkPeerRules({ port: peerPort, publicOnly: publicPeersOnly, localAddresses: transferAddresses, keys, clock: realClock }),
    limits: options.transferLimits ?? {},
    log,
    zoneChanged: renderer.changed,
    onError,
  })
  shutdown.add(transfers.close)
  return { keys, nameServer, renderer, transfers }
}

function logNotified(log: Log, outcome: NotifyOutcome): void {
  if (outcome.rcode === 'NOERROR') log.debug(outcome, 'secondary notified')
  else if (outcome.problem !== undefined) log.warn(outcome, 'secondary not notified')
  else log.warn(outcome, outcome.rcode === null ? 'secondary does not answer NOTIFY' : 'secondary refuses NOTIFY')
}
