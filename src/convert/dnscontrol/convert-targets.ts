/** Converts the DNS providers of a DNSControl config to targets. */
import { stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { escapeGlob } from '../../definition/files/file-glob.ts'
import { displayPath } from '../../definition/files/file-path.ts'
import { readText } from '../../definition/files/read-text.ts'
import { sourcePolicy } from '../../definition/load/source-policy.ts'
import { printText } from '../../definition/print/octodns-yaml.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { quoted } from '../../dns/excerpt.ts'
import { agreeing } from '../../report/english.ts'
import type { ImportedZones, ImportRequest } from '../importer.ts'
import { placeConfig, pythonNotices, relocated } from '../octodns/convert-targets.ts'
import { printProviders, providerProblem } from '../octodns/converted-config.ts'
import { type ConvertedTarget, convertTarget, freeName } from '../octodns/octodns-provider.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { convertCredentials, type DnscontrolProvider, readCredentials } from './credentials.ts'

export interface DnscontrolTargets {
  /** The targets by DNSControl's names. */
  readonly names: ReadonlyMap<string, string>
  /** None if there is a config already, or if no provider is known. */
  readonly newConfig: ImportedZones['newConfig']
  readonly diagnostics: readonly Diagnostic[]
}

/** DNSControl's file with the credentials, beside its script. */
const CREDENTIALS_FILE = 'creds.json'

/**
 * Converts the providers of zones. A native provider, or octoDNS's class, takes the place of each; secrets become references to the environment. If there is a
 * config already, its providers with the same names are the targets. `paid` are those whose zones have a paid plan. `program` is the absolute path of a program
 * that stays the definition of all zones.
 */
export async function convertDnscontrolTargets(
  zones: readonly { readonly name: DomainName; readonly providers?: readonly string[] }[],
  types: ReadonlyMap<string, string>,
  request: ImportRequest,
  paid: ReadonlySet<string>,
  program: string | null = null,
): Promise<DnscontrolTargets> {
  const path = resolve(request.cwd, request.options.credentials ?? join(dirname(request.source), CREDENTIALS_FILE))
  const file = displayPath(path, request.cwd)
  const at = { file, line: 1, column: 1 }
  const isGiven = request.options.credentials !== undefined || (await isFile(path))
  const diagnostics: Diagnostic[] = []
  const known = isGiven ? await readFile(path, file, request, diagnostics) : null
  const names = new Map<string, string>()
  const targets: ConvertedTarget[] = []
  const unknown: string[] = []
  for (const name of new Set(zones.flatMap(({ providers = [] }) => providers))) {
    const own = known?.get(name)
    const type = typeOf(name, own?.type, types)
    if (request.config.file !== null) {
      if (request.config.providers.has(name)) names.set(name, name)
      else unknown.push(name)
      continue
    }
    const isPaid = type === 'CLOUDFLAREAPI' && paid.has(name)
    const provider = type === null ? null : { name, type, credentials: { ...own?.credentials, ...(isPaid && { plan_type: 'pro' }) }, at }
    const target = provider && convertProvider(provider, new Set(names.values()), diagnostics)
    const problem = target && providerProblem(target)
    if (target && problem === null) {
      targets.push(target)
      names.set(name, target.name)
    } else unknown.push([name, type && ` (${type})`, problem && `: ${problem}`].filter(Boolean).join(''))
  }
  if (unknown.length > 0) diagnostics.push(notImported(unknown, request, isGiven))
  if (targets.length === 0) return { names, newConfig: undefined, diagnostics }
  const { folder, prefix } = program === null ? placeConfig(request) : { folder: dirname(program), prefix: '' }
  const providers = printProviders(targets.map((target) => relocated(target, dirname(path), folder)))
  const rule = `  - files: [${printText(program === null ? `${prefix}*.yaml` : escapeGlob(basename(program)))}]\n`
  // A run ends at a zone without a target.
  const idle = zones.filter((zone) => !zone.providers?.some((name) => names.has(name))).map(({ name }) => printText(name.slice(0, -1)))
  const disabled = idle.length === 0 ? '' : `${rule}    zone: [${idle.join(', ')}]\n    enabled: false # no target is known\n`
  // A program names the targets itself, and its zones without one are skipped.
  const rules = program === null ? `${disabled}${rule}    targets: []\n` : rule
  const text = `# Converted from ${isGiven ? file.replace(/[^ -~]/g, '?') : 'a config'} of DNSControl.\n${providers}zones:\n${rules}`
  return { names, newConfig: { folder, text }, diagnostics: [...diagnostics, ...pythonNotices(targets)] }
}

/** A type of `-` stands for that of the other file. Only BIND needs no entry. */
function typeOf(name: string, own: string | null | undefined, types: ReadonlyMap<string, string>): string | null {
  const stated = [own, types.get(name)].find((type) => type != null && type !== '-')
  return stated ?? (name === 'bind' ? 'BIND' : null)
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (facts) => facts.isFile(),
    () => false,
  )

async function readFile(path: string, file: string, { config }: ImportRequest, diagnostics: Diagnostic[]) {
  const text = await readText(path, file, sourcePolicy(config, 'allowed'))
  const credentials = text.ok ? readCredentials(text.text) : null
  if (!text.ok) diagnostics.push({ severity: 'error', ...text.problem })
  else if (credentials === null)
    diagnostics.push({
      severity: 'error',
      code: 'file-format',
      message: `${file} is not the JSON of DNSControl's credentials: an object per provider, with texts as values`,
    })
  return credentials
}

/** BIND's provider writes zone files; every other is converted as the one of octoDNS. */
function convertProvider(provider: DnscontrolProvider, taken: ReadonlySet<string>, diagnostics: Diagnostic[]): ConvertedTarget | null {
  const report = (what: string): void =>
    void diagnostics.push({ severity: 'warning', code: 'import-aside', message: `not imported: ${what}`, at: provider.at })
  if (provider.type === 'BIND') {
    const { directory = 'zones', ...rest } = provider.credentials
    for (const key of Object.keys(rest)) report(`${quoted(key)} of the provider ${provider.name}`)
    const settings = { type: 'zonefile', directory }
    return { name: freeName(provider.name, taken), settings, needsPython: false, safety: {}, skipsUnsupported: false, isDryRun: false }
  }
  const converted = convertCredentials(provider)
  if (converted === null) return null
  for (const key of converted.left) report(`${quoted(key)} of the provider ${provider.name}`)
  if (converted.lacks !== undefined)
    report(`${quoted(converted.lacks)} of the provider ${provider.name}, which DNSControl finds itself: add it to its options`)
  const dropped: UnsupportedFeature[] = []
  const target = convertTarget(converted.provider, dropped, { takenNames: taken })
  for (const { what } of dropped) report(what)
  return target
}

function notImported(names: readonly string[], { config }: ImportRequest, hasCredentials: boolean): Diagnostic {
  const [provider, is] = [agreeing(names.length, 'DNS provider', 'DNS providers'), agreeing(names.length, 'is', 'are')]
  const message = `DNSControl's ${provider} ${names.map((name) => quoted(name)).join(', ')} ${is} not imported`
  const hint =
    config.file !== null
      ? `add providers with ${agreeing(names.length, 'this name', 'these names')} to the config, or name the targets of the zones in its rules`
      : hasCredentials
        ? 'add a provider to zonewright.yaml and name it in the targets of the zones; those without another target are disabled there'
        : `name the file with the types of the providers: --credentials ${CREDENTIALS_FILE}`
  return { severity: 'warning', code: 'import-aside', message, hint }
}
