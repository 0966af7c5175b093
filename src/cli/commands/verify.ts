import pLimit from 'p-limit'
import { hasErrors } from '../../model/diagnostic.ts'
import { isVerified, type ZoneVerification } from '../../plan/verification.ts'
import { renderVerification, type VerificationFormat } from '../../report/verification-report.ts'
import { nameServersOf } from '../../sync/name-servers.ts'
import type { PlannedZone } from '../../sync/plan-zones.ts'
import { verifyZone } from '../../sync/verify-zone.ts'
import type { CommonOptions } from '../common-options.ts'
import { type Console, createConsole } from '../console.ts'
import { EXIT, type ExitStatus } from '../exit-status.ts'
import { type CliIo, colorOf, widthOf } from '../io.ts'
import { openWorkspace, type WorkspaceJob } from '../workspace.ts'
import { checkWorkspace, runPlan } from './plan.ts'

export interface VerifyOptions extends CommonOptions {
  readonly target?: string
  readonly nameserver: readonly string[]
  readonly dns: boolean
  readonly format: VerificationFormat
}

/** Zones whose name servers are asked at once. */
const ZONES_AT_ONCE = 4

/** `zonewright verify [zone...]`: definitions against records, rendered zone files and DNS answers. */
export async function verify(io: CliIo, [zones]: readonly [string[]], options: VerifyOptions): Promise<ExitStatus> {
  const console = createConsole(io, options)
  const workspace = await openWorkspace(io, { ...options, zones })
  try {
    if (!checkWorkspace(workspace, console)) return EXIT.failure
    const planned = await runPlan(workspace, io, console)
    console.diagnostics(planned.plan.diagnostics)
    const verified = await verifyZones(planned.zones, options, console)
    console.diagnostics(verified.flatMap((zone) => zone.diagnostics))
    const color = colorOf(io.stdout, io, options.color)
    console.print(renderVerification(verified, options.format, { color, width: widthOf(io.stdout), verbose: options.verbose === true }))
    if (hasErrors(planned.plan.diagnostics)) return EXIT.failure
    if (verified.some((zone) => hasErrors(zone.diagnostics))) return EXIT.failure
    return verified.every(isVerified) ? EXIT.done : EXIT.pending
  } finally {
    await workspace.close()
  }
}

async function verifyZones(zones: readonly PlannedZone[], options: VerifyOptions, console: Console): Promise<ZoneVerification[]> {
  const bar = console.progress()
  const limit = pLimit(ZONES_AT_ONCE)
  let done = 0
  try {
    return await Promise.all(
      zones.map((zone) =>
        limit(async () => {
          const configured = options.nameserver.length > 0 ? options.nameserver : (zone.job as WorkspaceJob).nameservers
          const verified = await verifyZone(zone, options.dns ? nameServersOf(zone, configured) : [])
          done += 1
          bar.onProgress({ phase: 'asking', done, total: zones.length })
          return verified
        }),
      ),
    )
  } finally {
    bar.clear()
  }
}
