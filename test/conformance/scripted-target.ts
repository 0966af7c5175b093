/** Scripted servers as targets of the conformance suites. BIND reads their records as a zone file. */

import { LEXICON_PYTHON, lexiconEntry, pythonFolder, secretOptions } from '../providers/lexicon/lexicon-scene.ts'
import { CLIENTS } from '../scripted/clients.ts'
import { startScriptedServer } from '../scripted/scripted-server.ts'
import { CLOUD, type CloudOptions, type CloudService, type CloudType, TOKEN } from '../scripted/services.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { checkZone } from '../support/tools.ts'
import { type RunningTarget, type TargetKind, ZONE } from './targets.ts'

/** The SOA and NS record that every zone file needs. */
const FRAME = '@ 300 IN SOA frame.invalid. frame.invalid. 1 2 3 4 5\n@ 300 IN NS frame.invalid.\n'
const CHECKS_OFF = ['-i', 'none', ...['-k', '-n', '-m', '-M', '-r', '-S', '-T'].flatMap((option) => [option, 'ignore'])]

/** The scripted service of a type as a target. `settings`: more settings of the provider, in flow style. */
export function scriptedTarget<Type extends CloudType>(
  type: Type,
  { settings = '', options, ...kind }: Partial<TargetKind> & { readonly settings?: string; readonly options?: CloudOptions<Type> } = {},
): TargetKind {
  const { create, lines, ...service } = CLOUD[type] as unknown as CloudService
  const entry = (origin: string, more = ''): string => `{type: ${type}, ${service.settings(origin)}${settings}${more}}`
  return {
    name: type,
    tools: ['named-checkzone'],
    ...kind,
    async start(): Promise<RunningTarget> {
      const scripted = create(options)
      const server = await startScriptedServer(scripted.service)
      return {
        entry: entry(server.origin, ', timeout: 300'),
        env: { ...service.env, [service.variable]: TOKEN },
        async transfer() {
          const text = `${FRAME}${lines(scripted).join('\n')}\n`
          const { status, stdout, stderr } = await checkZone(ZONE, text, ['-q', '-o', '-', ...CHECKS_OFF])
          if (status !== 0) throw new Error(`named-checkzone does not read the records: ${stderr}${stdout}`)
          return stdout.split('\n').filter((line) => line.trim() !== '' && !line.includes('frame.invalid.'))
        },
        async startProxy() {
          const proxy = await startFaultProxy(server.origin)
          return { proxy, entry: entry(proxy.origin, ', timeout: 0.5') }
        },
        stop: async () => undefined,
      }
    },
  }
}

export const AZURE = scriptedTarget('azure', {
  options: { pageSize: 100 },
  // Each record set is a request of its own.
  maxSize: 130,
  // The apex keeps the name servers of Azure.
  defects: { '26. NS only APEX': /cannot be removed from the NS record set/ },
})
/** The provider creates the zone. */
export const CLOUDFLARE = scriptedTarget('cloudflare', {
  options: { zones: [], account: '2'.repeat(32), plan: 'free', maxRecords: 20_000 },
  settings: `, account_id: '${'2'.repeat(32)}'`,
  rejoinsTexts: true,
})
export const DESEC = scriptedTarget('desec')
export const DIGITALOCEAN = scriptedTarget('digitalocean', { rejoinsTexts: true })
export const GANDI = scriptedTarget('gandi', { maxSize: 130 })
export const GOOGLE = scriptedTarget('google', { options: { pageSize: 100 } })
// Waiting for each action would take minutes.
export const HETZNER = scriptedTarget('hetzner', { options: { stepsOf: (_, count) => (count % 100 === 0 ? [50] : null) } })
export const OVH = scriptedTarget('ovh', { maxSize: 130, rejoinsTexts: true })
export const PORKBUN = scriptedTarget('porkbun', { maxSize: 130, rejoinsTexts: true })
export const ROUTE53 = scriptedTarget('route53')
export const SCALEWAY = scriptedTarget('scaleway', { rejoinsTexts: true })
export const VULTR = scriptedTarget('vultr', { rejoinsTexts: true })

/** The scripted service of a type behind dns-lexicon, which calls it by the same name. Each call is several requests. */
function lexiconTarget(type: 'cloudflare' | 'digitalocean'): TargetKind {
  const direct = scriptedTarget(type)
  const { lexicon, hosts } = CLIENTS[type]
  return {
    ...direct,
    name: `lexicon at ${type}`,
    tools: [...direct.tools, LEXICON_PYTHON],
    rejoinsTexts: true,
    maxSize: 20,
    async start() {
      const running = await direct.start()
      const server = /http:[^'/]*\/\/[^'/]+/.exec(running.entry)?.[0] ?? ''
      const { text, env } = secretOptions(lexicon)
      // The proxy has a Python of its own, because the address of the server is not among the options.
      const folders = new Map<string, string>()
      const python = (origin: string): string => {
        const folder = folders.get(origin) ?? pythonFolder({ server: origin, hosts })
        folders.set(origin, folder)
        return folder
      }
      return {
        ...running,
        entry: lexiconEntry(type, text),
        env: { PATH: process.env['PATH'] ?? '', PYTHONPATH: python(server), ...env },
        async startProxy() {
          const proxy = await startFaultProxy(server)
          return { proxy, entry: lexiconEntry(type, text, ', timeout: 4'), env: { PYTHONPATH: python(proxy.origin) } }
        },
      }
    },
  }
}

export const LEXICON_CLOUDFLARE = lexiconTarget('cloudflare')
export const LEXICON_DIGITALOCEAN = lexiconTarget('digitalocean')
