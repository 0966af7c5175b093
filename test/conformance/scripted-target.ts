/** Scripted servers as targets of the conformance suites. BIND reads their records as a zone file. */
import { type ScriptedService, startScriptedServer } from '../scripted/scripted-server.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { checkZone } from '../support/tools.ts'
import { type RunningTarget, ZONE } from './targets.ts'

/** The SOA and NS record that every zone file needs. */
const FRAME = '@ 300 IN SOA frame.invalid. frame.invalid. 1 2 3 4 5\n@ 300 IN NS frame.invalid.\n'

const CHECKS_OFF = ['-i', 'none', ...['-k', '-n', '-m', '-M', '-r', '-S', '-T'].flatMap((option) => [option, 'ignore'])]

export interface ScriptedTarget {
  readonly service: ScriptedService
  /** The entry of `providers` for a server at this origin; `more` are further settings in flow style, such as `, timeout: 0.5`. */
  entry(origin: string, more: string): string
  readonly env: Readonly<Record<string, string>>
  /** The records of the zone as lines of a zone file, without those that have no form there. */
  lines(): readonly string[]
}

export async function startScriptedTarget({ service, entry, env, lines }: ScriptedTarget): Promise<RunningTarget> {
  const server = await startScriptedServer(service)
  return {
    entry: entry(server.origin, ''),
    env,
    async transfer() {
      const { status, stdout, stderr } = await checkZone(ZONE, `${FRAME}${lines().join('\n')}\n`, ['-q', '-o', '-', ...CHECKS_OFF])
      if (status !== 0) throw new Error(`named-checkzone does not read the records: ${stderr}${stdout}`)
      return stdout.split('\n').filter((line) => line.trim() !== '' && !line.includes('frame.invalid.'))
    },
    async startProxy() {
      const proxy = await startFaultProxy(server.origin)
      return { proxy, entry: entry(proxy.origin, ', timeout: 0.5') }
    },
    stop: async () => undefined,
  }
}
