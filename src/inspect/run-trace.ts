/**
 * `trace`: follows one name and type from its definition to the clients: definition, provider, parent zone, name servers, resolvers, and the last run that
 * changed it. A step that fails says why, and the others go on. Changes nothing.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { type Diagnostic, isError } from '../base/diagnostic.ts'
import { durationText } from '../base/english.ts'
import { redacted } from '../base/secret-guard.ts'
import type { Config } from '../config/config.ts'
import { type DomainName, isAtOrBelow, isWildcard, parentOf, ROOT } from '../dns/domain-name.ts'
import type { DefinedRecord, ResourceRecord } from '../dns/record.ts'
import { formatServerAddress, isServerAddress, parseServerAddress, type ServerAddress } from '../dns/server-address.ts'
import type { DesiredZone } from '../dns/zone.ts'
import { fromDisplayPath } from '../files/file-path.ts'
import { ownProcess } from '../files/process-identity.ts'
import { readText } from '../files/read-text.ts'
import { sourcePolicy } from '../files/source-policy.ts'
import { commitOfLine, RevisionError } from '../git/revision.ts'
import { finalRecords } from '../plan/plan.ts'
import type { ZoneJob } from '../plan/planned-zone.ts'
import type { Trace, TraceStep } from '../report/trace.ts'
import type { RunSetup, Workspace, WorkspaceOptions } from '../run/context/run-context.ts'
import { loadRunConfig } from '../run/load/run-config.ts'
import { NOT_OPENED, openConfig } from '../run/load/workspace.ts'
import { makePlan, type PlannedJob } from '../run/plan/plan-zones.ts'
import { readRuns } from '../stored/journal/read-journal.ts'
import { readRunPlans } from '../stored/journal/runs.ts'
import { fetchJournal } from '../stored/store/fetch-journal.ts'
import { readHostPolicy, refusedServer } from '../transport/allowed-hosts.ts'
import { type DnsAnswer, queryDns, systemResolvers } from '../transport/dns-client.ts'
import { isDnsFailure } from '../transport/dns-exchange.ts'
import { askParent, parentServers } from '../transport/parent-zone.ts'
import { answerOf, receivedAnswer, type TracedAnswer, type TracedQuery } from './traced-answer.ts'

export interface TraceOptions extends WorkspaceOptions {
  /** Servers to query instead of those of the config or the zone, and resolvers instead of those of this machine. */
  readonly nameserver: readonly string[]
  readonly resolver: readonly string[]
  readonly parentServer: readonly string[]
}

type Context = RunSetup<TraceOptions> & { readonly name: DomainName; readonly type: string }

/** Milliseconds for a provider or a journal. A name server has its own limit. */
const PATIENCE = 30_000

/** Servers that are queried in one step, and runs whose plans are read. */
const MAX_SERVERS = 20
const MAX_RUNS = 100

/** Null after a wrong option, which is reported. */
export async function runTrace(setup: RunSetup<TraceOptions>, name: DomainName, type: string): Promise<Trace | null> {
  const { options, environment, output } = setup
  for (const server of [...options.nameserver, ...options.resolver, ...options.parentServer])
    if (!isServerAddress(server)) {
      output.error('usage', `${JSON.stringify(server)} is not the address of a server`, 'such as 192.0.2.53, 127.0.0.1:5353 or [::1]:5353')
      return null
    }
  const context: Context = { ...setup, name, type }
  const { workspace, diagnostics } = await open(context)
  try {
    const { steps, zone } = await follow(context, workspace, diagnostics)
    const { secrets } = environment
    const clean = (text: string): string => {
      const shown = redacted(secrets, text)
      secrets.hasLeaked ||= shown !== text
      return shown
    }
    const shown = steps.map((step) => ({ ...step, records: step.records.map(clean), notes: step.notes.map(clean) }))
    return { name, type, zone, steps: shown }
  } finally {
    await workspace.close()
  }
}

/** What is no problem of a definition here: most names above the traced one are no zones, and the step of a provider says what it lacks. */
const ELSEWHERE: ReadonlySet<string> = new Set(['zone-unknown', 'no-definitions', 'secret-missing', 'provider-class'])

/** The definitions of the longest zone above the name. */
async function open({ name, ...setup }: Context): Promise<{ readonly workspace: Workspace; readonly diagnostics: readonly Diagnostic[] }> {
  const { config, diagnostics } = await loadRunConfig(setup.environment, setup.options.config)
  if (config === null) return { workspace: NOT_OPENED, diagnostics }
  const names: DomainName[] = []
  // The root would be the working folder as an argument.
  for (let one = name; one !== ROOT; one = parentOf(one)) names.push(one)
  const workspace = await openConfig(
    setup,
    config,
    names.filter((one) => !isWildcard(one)),
  )
  // A file may have the name of an argument, too.
  const above = workspace.jobs.filter(({ desired }) => isAtOrBelow(name, desired.name))
  const depth = Math.max(...above.map(({ desired }) => desired.name.length))
  const jobs = above.filter(({ desired }) => desired.name.length === depth)
  const found = workspace.diagnostics.filter((one) => isError(one) && !ELSEWHERE.has(one.code))
  return { workspace: { ...workspace, jobs }, diagnostics: found }
}

async function follow(context: Context, workspace: Workspace, diagnostics: readonly Diagnostic[]) {
  const { name, type, options, environment } = context
  const { config, jobs } = workspace
  const policy = readHostPolicy(environment.env)
  const allowed = (server: ServerAddress): boolean => refusedServer(policy, 'trace', server) === null
  const resolvers = options.resolver.length > 0 ? options.resolver.map(parseServerAddress) : systemResolvers()
  const usable = resolvers.filter(allowed)
  const zone = jobs[0]?.desired.name ?? (await zoneByResolvers(name, usable))
  const asked: TracedQuery = { zone: zone ?? ROOT, name, type }

  const [defined, planned, parent, answers, run] = await Promise.all([
    definitionSteps(context, jobs, asked, config, diagnostics),
    readProviders(context, workspace, asked),
    zone === null ? null : traceParent(zone, options.parentServer.map(parseServerAddress), usable, allowed),
    queryServers(resolvers.slice(0, MAX_SERVERS), asked, true, allowed),
    config === null ? [] : lastRun(context, config, asked),
  ])
  /** What clients should get: what a provider has after its plan, or the definition. */
  const expected = planned.map((one) => one.expected).find((one) => one !== null) ?? null
  const ofZone = await serversOf(context, planned, zone, parent?.nameservers ?? [], usable)
  const direct = await queryServers(ofZone.slice(0, MAX_SERVERS), asked, false, allowed)
  const first = direct.find(({ answer }) => answer !== null)?.answer ?? null
  const answer = expected?.answer.key ? expected : first === null ? null : { answer: receivedAnswer(asked, first), ttl: null }
  const child = answer?.answer.child ?? null
  const ofChild = answer?.answer.records.map(({ data }) => serverNamed(data)) ?? []
  const below = child === null ? [] : await queryServers(ofChild.slice(0, MAX_SERVERS), { ...asked, zone: child }, false, allowed)
  const firstBelow = below.find((one) => one.answer !== null)?.answer ?? null
  // The name servers of a delegated zone say what resolvers should answer.
  const forResolvers = child === null ? answer : firstBelow && { answer: receivedAnswer({ ...asked, zone: child }, firstBelow), ttl: null }
  const steps: TraceStep[] = [
    ...defined,
    ...planned.map(({ step }) => step),
    ...(parent === null ? [] : [comparedParent(parent, apexNsOf(planned, zone))]),
    ...(zone !== null && direct.length === 0 ? [failed('nameserver', zone, 'no name server is known; name one with --nameserver')] : []),
    ...direct.map((one) => serverStep('nameserver', one, asked, answer)),
    ...below.map((one) => serverStep('child', one, { ...asked, zone: child as DomainName }, forResolvers)),
    ...answers.map((one) => serverStep('resolver', one, asked, forResolvers)),
    ...run,
  ]
  return { zone, steps }
}

const failed = (place: TraceStep['place'], subject: string, why: string): TraceStep => ({
  place,
  subject,
  state: 'failed',
  records: [],
  notes: [why],
})

const lineOf = ({ name, ttl, type, data }: ResourceRecord): string => `${name} ${ttl ?? '(default)'} ${type} ${data}`

/** What an answer says besides its records. */
function notesOf({ owner, child, alias, key }: TracedAnswer, { name }: TracedQuery): string[] {
  const isWild = owner !== name && isWildcard(owner)
  return [
    ...(isWild ? [`${owner} answers for it`] : []),
    ...(child === null ? [] : [`${child} is delegated: its name servers answer`]),
    ...(alias === null ? [] : [`an alias: "zonewright trace ${alias}" follows it`]),
    ...(key === null
      ? ['the server makes these records, so they are not compared']
      : key.filter((one) => !one.includes(' ') || one === 'no records')),
  ]
}

// The definition.

async function definitionSteps(
  context: Context,
  jobs: readonly ZoneJob[],
  asked: TracedQuery,
  config: Config | null,
  diagnostics: readonly Diagnostic[],
): Promise<TraceStep[]> {
  const problems = diagnostics.map(({ at, message }) =>
    failed('definition', at === undefined ? 'config' : `${at.file}:${at.line}`, message),
  )
  if (jobs.length === 0)
    return problems.length > 0 ? problems : [{ ...failed('definition', asked.name, 'no definition has a zone for it'), state: 'stated' }]
  const zones = [...new Set(jobs.map(({ desired }) => desired))]
  return [...problems, ...(await Promise.all(zones.map((desired) => definitionStep(context, desired, asked, config as Config))))]
}

async function definitionStep({ environment }: Context, desired: DesiredZone, asked: TracedQuery, config: Config): Promise<TraceStep> {
  const answer = answerOf<DefinedRecord>(desired.records, asked)
  const at = answer.records[0]?.at ?? desired.at
  const sourced = desired.sourced?.some(({ name, type }) => name === asked.name && type === asked.type)
  const notes = [
    ...(desired.absent ? ['the zone is to be deleted'] : []),
    ...(sourced ? ['its values are read from a source when it is planned'] : notesOf(answer, asked)),
  ]
  const path = fromDisplayPath(at.file, config.cwd)
  const read = await readText(path, at.file, sourcePolicy(config))
  try {
    const commit = read.ok ? await commitOfLine(config.folder, path, read.text, at.line, environment.env) : null
    notes.push(commit === null ? 'not committed' : `commit ${commit.commit}, ${commit.day}, ${commit.author}: ${commit.subject}`)
  } catch (error) {
    if (!(error instanceof RevisionError)) throw error
    notes.push(`commit unknown: ${error.diagnostic.message}`)
  }
  return { place: 'definition', subject: `${at.file}:${at.line}`, state: 'stated', records: answer.records.map(lineOf), notes }
}

// The providers.

interface Expected {
  readonly answer: TracedAnswer
  /** Of its records; null if it is not known. */
  readonly ttl: number | null
}

interface TracedProvider {
  readonly step: TraceStep
  readonly expected: Expected | null
  readonly job: ZoneJob
  readonly planned: PlannedJob | null
}

async function readProviders(context: Context, workspace: Workspace, asked: TracedQuery): Promise<TracedProvider[]> {
  const stop = AbortSignal.timeout(PATIENCE)
  return Promise.all(
    workspace.jobs.map(async (job): Promise<TracedProvider> => {
      const { desired, target } = job
      const ofDefinition = { answer: answerOf(desired.records, asked), ttl: null }
      const unread = (why: string): TracedProvider => {
        return { step: failed('provider', target, why), expected: desired.sourced ? null : ofDefinition, job, planned: null }
      }
      if (!workspace.providers.has(target))
        return unread(workspace.diagnostics.find(({ message }) => message.includes(target))?.message ?? 'it could not be opened')
      const read = makePlan({ ...context, workspace: { ...workspace, jobs: [job], nameRemoved: undefined } }, stop, null, false)
      const made = await Promise.race([read, wait(PATIENCE, null, { ref: false })]).catch((error: unknown) => error as Error)
      if (made === null || made instanceof Error) return unread(made?.message ?? `it did not answer within ${PATIENCE / 1000} s`)
      const [planned] = made.zones
      return planned === undefined
        ? unread(made.diagnostics.find(isError)?.message ?? 'the zone could not be read')
        : { ...providerStep(planned, asked), planned }
    }),
  )
}

function providerStep({ job, plan, existing, rendered }: PlannedJob, asked: TracedQuery): Omit<TracedProvider, 'planned'> {
  const added = (rendered.providerApexNs ?? []).map((data) => ({ name: asked.zone, type: 'NS', ttl: null, data }))
  const live = answerOf([...(existing?.records ?? []), ...added], asked)
  // Nothing is to be changed here. After another error the plan has no changes.
  const errors = plan.diagnostics.filter((one) => isError(one) && one.code !== 'zone-read-only')
  const final = errors.length > 0 ? job.desired.records : finalRecords(existing?.records ?? [], plan.changes)
  const desired = answerOf([...final, ...added], asked)
  const touched = plan.changes.some(({ name, type }) => name === desired.owner && [asked.type, 'CNAME', 'NS'].includes(type ?? ''))
  const isSame = existing !== null && !touched && String(live.key) === String(desired.key)
  const notes = [
    ...(existing === null ? ['the zone does not exist there'] : notesOf(live, asked)),
    ...(existing?.settings.status === 'disabled' ? ['the zone is disabled there, so name servers do not answer for it'] : []),
    ...errors.map(({ message }) => message),
    ...(isSame ? [] : [`"zonewright plan ${asked.zone}" shows what would change`]),
  ]
  const ttls = desired.records.map(({ ttl }) => ttl ?? existing?.settings.ttl_sec ?? 0)
  return {
    step: { place: 'provider', subject: job.target, state: isSame ? 'same' : 'different', records: live.records.map(lineOf), notes },
    expected: { answer: desired, ttl: Math.max(0, ...ttls) || null },
    job,
  }
}

// The parent zone and the servers.

const serverNamed = (name: string): ServerAddress => ({ host: name.replace(/(?<=.)\.$/, ''), port: 53 })

/** The zone of a name that no definition has: the owner of the SOA record that a resolver returns. */
async function zoneByResolvers(name: DomainName, resolvers: readonly ServerAddress[]): Promise<DomainName | null> {
  for (const resolver of resolvers) {
    const answer = await queryOrReason(resolver, { name, type: 'SOA', recursion: true })
    if (typeof answer === 'string') continue
    const soa = [...answer.answers, ...answer.authorities].find((one) => one.type === 'SOA' && isAtOrBelow(name, one.name))
    if (soa) return soa.name
  }
  return null
}

interface TracedParent {
  readonly step: TraceStep
  /** Sorted; empty if there is no delegation, or no answer. */
  readonly nameservers: readonly string[]
}

/** What the first server of the parent that answers says. */
async function traceParent(
  zone: DomainName,
  given: readonly ServerAddress[],
  resolvers: readonly ServerAddress[],
  allowed: (server: ServerAddress) => boolean,
): Promise<TracedParent> {
  const servers = given.length > 0 ? given : await parentServers(zone, resolvers)
  let why =
    servers === null ? 'no resolver names the name servers of the parent zone' : 'ZONEWRIGHT_ALLOWED_HOSTS has none of its name servers'
  for (const server of (servers ?? []).filter(allowed).slice(0, 3)) {
    const asked = await askParent(zone, [server])
    if (!asked.ok) why = `${zone}: ${asked.message}`
    for (const { nameservers, ds, ttl } of asked.ok ? asked.delegations : []) {
      const isDelegated = nameservers.length > 0
      const records = nameservers.map((data) => lineOf({ name: zone, ttl: ttl as ResourceRecord['ttl'], type: 'NS', data }))
      const notes = isDelegated
        ? [ds === 0 ? 'without DS records: DNSSEC is off' : `with DS records (${ds}): DNSSEC is on`]
        : [`${zone} is not delegated`]
      const state = isDelegated ? 'stated' : 'different'
      return { step: { place: 'parent', subject: formatServerAddress(server), state, records, notes }, nameservers }
    }
  }
  return { step: failed('parent', parentOf(zone), why), nameservers: [] }
}

/** The servers of the options, of the config, or of the zone and its delegation. */
async function serversOf(
  { options }: Context,
  providers: readonly TracedProvider[],
  zone: DomainName | null,
  delegated: readonly string[],
  resolvers: readonly ServerAddress[],
): Promise<readonly ServerAddress[]> {
  if (options.nameserver.length > 0) return options.nameserver.map(parseServerAddress)
  const configured = providers.flatMap(({ job }) => job.nameservers ?? [])
  if (configured.length > 0) return [...new Set(configured)].map(parseServerAddress)
  const names = new Set([...apexNsOf(providers, zone), ...delegated])
  for (const resolver of names.size > 0 || zone === null ? [] : resolvers) {
    const answer = await queryOrReason(resolver, { name: zone as DomainName, type: 'NS', recursion: true })
    if (typeof answer !== 'string') for (const { type, data } of answer.answers) if (type === 'NS') names.add(data)
  }
  return [...names].sort().map(serverNamed)
}

/** The NS records of the zone at its providers, as far as they are known. */
const apexNsOf = (providers: readonly TracedProvider[], zone: DomainName | null): string[] =>
  providers.flatMap(({ planned }) => [
    ...(planned?.rendered.providerApexNs ?? []),
    ...(planned?.existing?.records ?? []).filter((one) => one.type === 'NS' && one.name === zone).map(({ data }) => data),
  ])

/** The step of the parent zone, compared with the NS records of the zone. */
function comparedParent({ step, nameservers }: TracedParent, own: readonly string[]): TraceStep {
  if (own.length === 0 || nameservers.length === 0) return step
  const isSame = String([...new Set(own)].sort()) === String(nameservers)
  return isSame
    ? { ...step, state: 'same' }
    : { ...step, state: 'different', notes: [`the zone has: ${[...new Set(own)].sort().join(', ')}`, ...step.notes] }
}

interface QueriedServer {
  readonly server: ServerAddress
  readonly answer: DnsAnswer | null
  /** Why there is no answer; otherwise a remark, or empty. */
  readonly note: string
}

const queryServers = (
  servers: readonly ServerAddress[],
  { name, type }: TracedQuery,
  recursion: boolean,
  allowed: (server: ServerAddress) => boolean,
): Promise<QueriedServer[]> =>
  Promise.all(
    servers.map(async (server): Promise<QueriedServer> => {
      if (!allowed(server)) return { server, answer: null, note: 'it is not among the hosts in ZONEWRIGHT_ALLOWED_HOSTS' }
      const answer = await queryOrReason(server, { name, type, recursion })
      if (typeof answer === 'string') return { server, answer: null, note: answer }
      if (!recursion || answer.rcode !== 'SERVFAIL')
        return { server, answer, note: answer.authentic && recursion ? 'validated by DNSSEC' : '' }
      const unchecked = await queryOrReason(server, { name, type, recursion, unchecked: true })
      const isBogus = typeof unchecked !== 'string' && unchecked.rcode !== 'SERVFAIL'
      return { server, answer, note: isBogus ? 'bogus: DNSSEC validation fails, without it the resolver answers' : '' }
    }),
  )

async function queryOrReason(server: ServerAddress, question: Parameters<typeof queryDns>[1]): Promise<DnsAnswer | string> {
  try {
    return await queryDns(server, question)
  } catch (error) {
    if (!isDnsFailure(error)) throw error
    return error.message
  }
}

function serverStep(
  place: 'nameserver' | 'child' | 'resolver',
  { server, answer, note }: QueriedServer,
  asked: TracedQuery,
  expected: Expected | null,
): TraceStep {
  const subject = formatServerAddress(server)
  if (answer === null) return failed(place, subject, note)
  const found = receivedAnswer(asked, answer)
  const isResolver = place === 'resolver'
  const notes = [...(note === '' ? [] : [note]), ...notesOf(found, asked)]
  const differs: string[] = []
  const { key = null } = expected?.answer ?? {}
  if (key !== null && String(found.key) !== String(key)) differs.push(`expected: ${key.join(', ')}`)
  if (isResolver && found.records.length > 0 && answer.rcode !== 'NOERROR') differs.push(`the alias leads to ${answer.rcode}`)
  if (!isResolver && !answer.authoritative && found.child === null && answer.rcode === 'NOERROR')
    differs.push('the answer is not authoritative')
  const ttls = found.records.map(({ ttl }) => ttl ?? 0)
  const wanted = expected?.ttl ?? null
  if (wanted !== null && differs.length === 0 && ttls.some((ttl) => (isResolver ? ttl > wanted : ttl !== wanted)))
    differs.push(isResolver ? `the TTL is longer than that of the record, ${wanted} s` : `expected the TTL ${wanted} s`)
  if (isResolver && ttls.length > 0) notes.push(`kept for another ${durationText(Math.min(...ttls))}`)
  const state = differs.length > 0 ? 'different' : key === null ? 'stated' : 'same'
  // All of an alias that was followed.
  return {
    place,
    subject,
    state,
    records: (found.child === null ? answer.answers : found.records).map(lineOf),
    notes: [...differs, ...notes],
  }
}

// The journal.

async function lastRun({ environment }: Context, config: Config, { zone, name, type }: TracedQuery): Promise<TraceStep[]> {
  const unread = await Promise.race([
    fetchJournal({ ...environment, config, journal: config.journal }),
    wait(PATIENCE, { message: `the journal did not answer within ${PATIENCE / 1000} s` }, { ref: false }),
  ])
  const { runs, diagnostics } = readRuns(config.journal, ownProcess())
  const problems = [...(unread === null ? [] : [unread]), ...diagnostics].map(({ message }) => failed('run', 'journal', message))
  const ofZone = runs.filter(({ begin }) => begin.zones.some((one) => one.zone === zone)).slice(0, MAX_RUNS)
  for (const run of ofZone) {
    const details = await readRunPlans(run, (one) => one.zone === zone)
    if (!details.ok) {
      problems.push(failed('run', run.id, details.message))
      continue
    }
    const notes = details.value.flatMap(({ plan, outcome }) =>
      plan.changes.flatMap((change, index) => {
        const state = outcome.outcomes[index]?.state ?? 'skipped'
        const isOwn =
          change.subject === 'record' &&
          [change.name, change.existing?.name].includes(name) &&
          (change.type === type || change.type === 'CNAME')
        if (!isOwn || state === 'skipped') return []
        const sides = [change.existing, change.desired].flatMap((side) => (side === null ? [] : lineOf(side)))
        return [`${change.action} at ${plan.target}, ${state}: ${sides.join(' → ')}`]
      }),
    )
    if (notes.length === 0) continue
    const by = run.begin.approvedBy?.length ? `, approved by ${run.begin.approvedBy.join(', ')}` : ''
    const about = `${run.begin.command} of ${run.begin.time}, ${run.state}${by}; "zonewright history ${run.id}" shows it`
    return [...problems, { place: 'run', subject: run.id, state: 'stated', records: [], notes: [about, ...notes] }]
  }
  const none: TraceStep = { ...failed('run', 'journal', 'no run of the journal changed it'), state: 'stated' }
  return problems.length > 0 ? problems : [none]
}
