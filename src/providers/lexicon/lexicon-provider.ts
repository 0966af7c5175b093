/** A provider that reads and changes zones through dns-lexicon in a child process, one record per call. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { counted } from '../../base/english.ts'
import { didYouMean } from '../../base/nearest-word.ts'
import { excerpt } from '../../base/text.ts'
import type { ProviderConfig } from '../../config/config.ts'
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { contentKey, recordKey, rrsetKey } from '../../dns/record.ts'
import type { RecordChange } from '../../plan/plan.ts'
import { startBridge } from '../bridge-config.ts'
import { errorOfException, textOf, textsOf } from '../bridge-errors.ts'
import type { Message } from '../bridge-process.ts'
import type { Ask, BridgeSession } from '../bridge-session.ts'
import { bridgedZones } from '../bridge-zones.ts'
import { createFindings } from '../examine-zones.ts'
import {
  type AppliedCall,
  assertMayWrite,
  type CreatedProvider,
  diagnosticOf,
  type Provider,
  type ProviderCallOptions,
  type ProviderContext,
  ProviderError,
} from '../provider.ts'
import { settingProblem } from '../setting-problem.ts'
import { masterZone } from '../zone-lists.ts'
import { contentOf, lexiconCapabilities, readListed, UnreadableList } from './capabilities.ts'
import { type LexiconService, lexiconService } from './services.ts'

export async function createLexicon(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const name = String(config.settings['provider'])
  const bridge = await startBridge(config, context, {
    subject: `dns-lexicon for ${name}`,
    setting: 'provider',
    code: `lexicon:${name}`,
    environment: [],
    start: { service: name },
    needs: 'dns-lexicon',
    timeoutHint: 'raise "timeout" in the settings of the provider',
    errorOf: errorOfResponse,
    problemOf: (error) => problemOfStart(config, name, error),
  })
  if (!('session' in bridge)) return { provider: null, diagnostics: bridge }
  const { session, redact, timeout, digest } = bridge
  const version = textOf(bridge.features['version'])
  const target = { provider: config.name, service: lexiconService(name), session, redact }
  const zones = bridgedZones(config.name, (zone, call) => session.inTurn((ask) => readZone(target, ask, zone), call))
  /** Zones as the last call left them, with its time, until they are read for something else; a text says why no other call may follow, until the next plan. */
  const states = new Map<DomainName, State>()
  const provider: Provider = {
    name: config.name,
    type: 'lexicon',
    address: `lexicon:${name}#${digest}`,
    capabilities: lexiconCapabilities(target.service),
    parallelism: 1,
    pythonPackages: /^[0-9][0-9A-Za-z.]{0,39}$/.test(version) ? [`dns-lexicon[${name}]==${version}`] : [],
    async findZones(names, call) {
      for (const zone of names) states.delete(zone)
      return zones.find(names, call)
    },
    async listZones() {
      throw new ProviderError('provider-rejected', `${config.name}: dns-lexicon has no list of zones`, { hint: 'name the zones' })
    },
    async readZone(zone, call) {
      if (typeof states.get(zone.name) !== 'string') states.delete(zone.name)
      const { records, unplanned, ownApexNs } = await zones.read(zone, call)
      return { ...masterZone(zone.name, zone.name), records, unplanned, ownApexNs }
    },
    examine: (usage, _, call) => examineLexicon(provider, config, bridge.features, usage, call),
    async apply(zone, { changes: [change] }, call) {
      if (zone === null || change?.subject !== 'record') throw new Error('dns-lexicon changes only records')
      const { onlyCreates } = provider.capabilities
      if (onlyCreates !== undefined && change.action !== 'create')
        throw new ProviderError(
          'provider-rejected',
          `${config.name}: ${change.name} ${change.type}: only new records, because ${onlyCreates}`,
          {
            notSent: true,
          },
        )
      await assertMayWrite(config.name, call, timeout)
      zones.forget()
      return session.inTurn((ask) => applyChange(target, states, ask, zone.name, change), call)
    },
    close: () => session.close(),
  }
  return { provider, diagnostics: [] }
}

interface Target {
  /** The provider's name in the config. */
  readonly provider: string
  readonly service: LexiconService
  readonly session: BridgeSession
  readonly redact: (text: string) => string
}

type ReadZone = Awaited<ReturnType<typeof readZone>>

type State = { readonly at: number; readonly zone: ReadZone } | string

async function readZone({ provider, service, redact }: Target, ask: Ask, zone: DomainName) {
  const { items, logs } = await ask(`reading ${zone}`, { op: 'read', zone }, { key: 'records' })
  try {
    return { exists: true, logs, ...readListed(items, zone, service, redact) }
  } catch (error) {
    if (!(error instanceof UnreadableList)) throw error
    throw new ProviderError('provider-garbled', `${provider}: reading ${zone}: dns-lexicon lists ${redact(error.message)}`)
  }
}

/** Milliseconds for which the zone after a call is the zone before the next one. */
const FRESH_FOR = 10_000

/**
 * Makes one change. dns-lexicon states no precondition and may change more than it is asked, so the zone is read before and after: a record that is not as
 * planned is a conflict, and after a change that is not exactly what was asked no call follows.
 */
async function applyChange(
  target: Target,
  states: Map<DomainName, State>,
  ask: Ask,
  zone: DomainName,
  change: RecordChange,
): Promise<AppliedCall> {
  const { provider, service } = target
  const { action, name, type, existing, desired } = change
  const state = states.get(zone)
  const what = `${provider}: ${zone}: ${name} ${type}`
  if (typeof state === 'string')
    throw new ProviderError('provider-conflict', `${what} was left alone after a problem: ${state}`, {
      hint: 'compare the zone, and plan again',
    })
  states.delete(zone)
  const compare = (before: ReadZone) => {
    const now = before.records.find(({ id, ...record }) =>
      existing === null ? desired && recordKey(record) === recordKey(desired) : id === change.id,
    )
    const isDone = desired === null ? now === undefined : now !== undefined && contentKey(now) === contentKey(desired)
    const isAsPlanned = existing === null ? now === undefined : now !== undefined && recordKey(now) === recordKey(existing)
    return { before, now, isDone, isAsPlanned: isAsPlanned && !isDone }
  }
  const kept = state !== undefined && performance.now() - state.at < FRESH_FOR ? compare(state.zone) : null
  // Only a zone that was just read shows that there is nothing to do, or that another client was here.
  const { before, now, isDone, isAsPlanned } = kept?.isAsPlanned ? kept : compare(await readZone(target, ask, zone))
  if (!isDone) {
    const held = before.unplanned.find((record) => rrsetKey(record) === rrsetKey(change))
    if (!isAsPlanned || held !== undefined)
      throw new ProviderError('provider-conflict', `${what} ${held?.reason ?? 'was changed by another client'}`, {
        hint: 'plan again to see the change',
      })
    const { data, ttl } = desired ?? (existing as NonNullable<typeof existing>)
    const owner = name === zone ? (service.apex ?? name) : name
    await ask(
      `changing ${name} ${type}`,
      { op: 'change', zone, action, identifier: now?.id ?? null, type, name: owner, ttl, content: contentOf(service, type, data) },
      { changes: true },
    )
  }
  const after = isDone
    ? before
    : await readZone(target, ask, zone).catch((error) => {
        throw error instanceof ProviderError ? error.with({ ambiguous: true }) : error
      })
  const others = (one: ReadZone): Set<string> =>
    new Set([...one.records.map(contentKey), ...one.unplanned.map(recordKey)].filter((key) => !key.startsWith(`${name} ${type} `)))
  /** No other call follows: its record may be taken for another one, too. */
  const fail = (problem: string, code: 'provider-conflict' | 'provider-rejected'): never => {
    states.set(zone, `${name} ${type}: ${problem}`)
    throw new ProviderError(code, `${what}: ${problem}`, { ambiguous: true })
  }
  const [otherBefore, otherAfter] = [others(before), others(after)]
  const lost = [...otherBefore].find((key) => !otherAfter.has(key))
  if (lost !== undefined) fail(`${lost} is no longer there since the change, which may be the work of dns-lexicon`, 'provider-conflict')
  const stored = after.records.filter((record) => rrsetKey(record) === rrsetKey(change))
  const expected = new Set(before.records.filter((record) => rrsetKey(record) === rrsetKey(change)).map(recordKey))
  if (existing !== null) expected.delete(recordKey(existing))
  if (desired !== null) expected.add(recordKey(desired))
  const made = stored.find((record) => desired !== null && recordKey(record) === recordKey(desired))
  if (stored.length !== expected.size || !stored.every((record) => expected.has(recordKey(record)))) {
    const list = excerpt(stored.map(({ data }) => data).join(', '), 300) || 'nothing'
    const gained = [...otherAfter].find((key) => !otherBefore.has(key))
    const elsewhere = gained === undefined ? '' : `, and ${excerpt(gained, 300)} is new`
    fail(`dns-lexicon did not do what was asked: the service has ${list}${elsewhere}`, 'provider-rejected')
  }
  states.set(zone, { at: performance.now(), zone: after })
  return {
    changes: [{ id: made?.id ?? change.id ?? undefined, ...(made && { stored: made }) }],
    storedRecords: made === undefined ? [] : [made],
  }
}

/** A change of dns-lexicon may be several requests, so after any error the zone has to be read. */
function errorOfResponse(what: string, error: Message, logs: readonly string[]): ProviderError {
  if (error['kind'] === 'other-zone')
    return new ProviderError('provider-rejected', `${what}: dns-lexicon takes this zone for ${textOf(error['message'])}`, {
      hint: 'dns-lexicon cannot manage a zone with this name',
    })
  const failed =
    error['kind'] === 'not-applied'
      ? new ProviderError('provider-rejected', [`${what}: dns-lexicon reports a failure`, ...logs].join(': '))
      : errorOfException(what, error, logs)
  return failed.with({ ambiguous: error['applying'] === true })
}

function problemOfStart(config: ProviderConfig, service: string, error: Message): Diagnostic {
  const problem = (setting: string, message: string, hint?: string): Diagnostic =>
    settingProblem(config, setting, message, hint, 'provider-class')
  const message = textOf(error['message'])
  const settings = textsOf(error['settings'])
  const pip = `${String(config.settings['python'] ?? 'python3')} -m pip install`
  switch (error['kind']) {
    case 'no-lexicon':
      return problem(
        'python',
        `dns-lexicon is not installed for this interpreter (${message})`,
        `install it: ${pip} 'dns-lexicon[${service}]'`,
      )
    case 'no-extra':
      return problem('provider', `dns-lexicon lacks packages for ${service}`, `install them: ${pip} 'dns-lexicon[${service}]'`)
    case 'no-service':
      return problem('provider', `dns-lexicon has no service ${service}`, didYouMean(service, textsOf(error['services'])) ?? undefined)
    case 'no-setting':
      return problem(
        `options.${message}`,
        `${service} has no such setting`,
        didYouMean(message, settings) ?? `its settings are ${settings.join(', ')}`,
      )
    default:
      return { ...diagnosticOf(errorOfException(`${config.name}: starting dns-lexicon`, error, [])), at: config.placeOf('provider') }
  }
}

/** dns-lexicon does not say which of its settings are optional, so all that are not set are named. */
async function examineLexicon(
  provider: Provider,
  { settings: { provider: service, options = {} } }: ProviderConfig,
  { version, python, settings }: Message,
  { zones }: ProviderUsage,
  call?: ProviderCallOptions,
): Promise<DoctorFinding[]> {
  const { findings, add, attempt } = createFindings()
  const known = textsOf(settings)
  const isSet = (one: string): boolean => Object.hasOwn(options as object, one)
  const [set, unset] = [known.filter(isSet), known.filter((one) => !isSet(one))]
  const list = (names: readonly string[]): string => names.join(', ') || 'none'
  const versions = `dns-lexicon ${textOf(version)}, Python ${textOf(python)}`
  add(
    known.length > 0 && set.length === 0 ? 'warning' : 'ok',
    'config',
    `${versions}; settings of ${service} that are set: ${list(set)}; not set: ${list(unset)}`,
  )
  const { onlyCreates } = provider.capabilities
  if (onlyCreates !== undefined) add('warning', 'config', `plans only create records, because ${onlyCreates}`)
  for (const zone of zones)
    await attempt(async () => {
      await provider.readZone(masterZone(zone, zone), call)
    })
  if (findings.every(({ status }) => status !== 'error') && zones.length > 0)
    add('ok', 'connection', `it reads ${counted(zones.length, 'zone')}; nothing shows whether it may change them`)
  return findings
}
