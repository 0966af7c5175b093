/**
 * `trace`: follows one name and type from its definition to the clients: definition, provider, parent zone, name servers, resolvers, and the last run that
 * changed it. A step that fails says why, and the others go on. Changes nothing.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { isError } from '../base/diagnostic.ts'
import { durationText, listed } from '../base/english.ts'
import { redacted } from '../base/secret-guard.ts'
import type { Config } from '../config/config.ts'
import { type DomainName, isAtOrBelow, isWildcard, parentOf, ROOT } from '../dns/domain-name.ts'
import type { ResourceRecord } from '../dns/record.ts'
import { formatServerAddress, parseServerAddress, type ServerAddress } from '../dns/server-address.ts'
import type { Ttl } from '../dns/ttl.ts'
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
import { type DnsAnswer, type DnsQuestion, queryDns, systemResolvers } from '../transport/dns-client.ts'
import { isDnsFailure } from '../transport/dns-exchange.ts'
import { askParent, type Delegation, parentServers } from '../transport/parent-zone.ts'
import { answerOf, receivedAnswer, type TracedAnswer, type TracedQuery } from './traced-answer.ts'

export interface TraceOptions extends WorkspaceOptions {
  /** Servers to query instead of those of the config or the zone, and resolvers instead of those of this machine. */
  readonly nameserver: readonly ServerAddress[]
  readonly resolver: readonly ServerAddress[]
  readonly parentServer: readonly ServerAddress[]
}

type TraceSetup = RunSetup<TraceOptions>

/** Milliseconds for a provider, a journal, or the parent zone. One query has its own limit. */
const PATIENCE = 30_000

/** Servers that are queried in one step, and runs whose plans are read. */
const MAX_SERVERS = 20
const MAX_RUNS = 100

/** What is no problem of a definition here: most names above the traced one are no zones, and the step of a provider says what it lacks. */
const ELSEWHERE: ReadonlySet<string> = new Set(['zone-unknown', 'no-definitions', 'secret-missing', 'provider-class', 'provider-unknown'])

export async function runTrace(setup: TraceSetup, name: DomainName, type: string): Promise<Trace> {
  const { secrets } = setup.environment
  const clean = (text: string): string => {
    const shown = redacted(secrets, text)
    secrets.hasLeaked ||= shown !== text
    return shown
  }
  const workspace = await open(setup, name)
  try {
    const { steps, zone } = await follow(setup, workspace, name, type)
    const shown = steps.map((one) => ({
      ...one,
      subject: clean(one.subject),
      records: one.records.map(clean),
      notes: one.notes.map(clean),
    }))
    return { name, type, zone, steps: shown }
  } finally {
    await workspace.close()
  }
}

interface TracedWorkspace extends Workspace {
  /** If no definition has a zone for the name: full names that begin with it. */
  readonly similar?: readonly string[]
}

/** The definitions of the longest zone above the name. The diagnostics are problems of definitions. */
async function open(setup: TraceSetup, name: DomainName): Promise<TracedWorkspace> {
  const { config, diagnostics } = await loadRunConfig(setup.environment, setup.options.config)
  const above: DomainName[] = []
  // The root would be the working folder as an argument.
  for (let one = name; one !== ROOT; one = parentOf(one)) if (!isWildcard(one)) above.push(one)
  if (config === null || above.length === 0) return { ...NOT_OPENED, config, diagnostics }
  const workspace = await openConfig(setup, config, above)
  // A file may have the name of an argument, too.
  const zone = above.find((one) => workspace.jobs.some(({ desired }) => desired.name === one))
  const jobs = workspace.jobs.filter(({ desired }) => desired.name === zone)
  if (jobs.length > 0) return { ...workspace, jobs }
  const all = await openConfig(setup, config, [])
  await all.close()
  const similar = all.jobs.flatMap(({ desired }) => desired.records.flatMap((one) => (one.name === name + desired.name ? one.name : [])))
  return { ...workspace, jobs, similar: [...new Set(similar)] }
}

/** A server's answer, or why there is none. */
type Ask = (server: ServerAddress, question: DnsQuestion) => Promise<DnsAnswer | string>

async function follow(setup: TraceSetup, workspace: TracedWorkspace, name: DomainName, type: string) {
  const { nameserver, resolver, parentServer } = setup.options
  const { config, jobs } = workspace
  const policy = readHostPolicy(setup.environment.env)
  const isAllowed = (server: ServerAddress): boolean => refusedServer(policy, 'trace', server) === null
  const ask: Ask = async (server, question) => {
    if (!isAllowed(server)) return 'it is not among the hosts in ZONEWRIGHT_ALLOWED_HOSTS'
    try {
      return await queryDns(server, question)
    } catch (error) {
      if (!isDnsFailure(error)) throw error
      return error.message
    }
  }
  const resolvers = resolver.length > 0 ? resolver : systemResolvers()
  const zone = jobs[0]?.desired.name ?? (await zoneByResolvers(ask, name, resolvers))
  const asked: TracedQuery = { zone: zone ?? ROOT, name, type }
  const query = (servers: readonly ServerAddress[], isResolver = false): Promise<QueriedServer[]> =>
    Promise.all(servers.slice(0, MAX_SERVERS).map((server) => queryServer(ask, server, asked, isResolver)))

  const [defined, planned, delegation, resolved, run] = await Promise.all([
    definitionSteps(setup, workspace, asked),
    Promise.all(jobs.map((job) => traceProvider(setup, workspace, job, asked))),
    zone === null ? null : within(findDelegation(zone, parentServer, resolvers, isAllowed), 'its servers'),
    query(resolvers, true),
    config === null ? [] : lastRun(setup, config, asked, jobs),
  ])
  const apexNs = [...new Set(planned.flatMap((one) => one.apexNs))].sort()
  const configured = [...new Set(jobs.flatMap(({ nameservers }) => nameservers ?? []))].map(parseServerAddress)
  const delegated = delegation === null || typeof delegation === 'string' ? [] : delegation.nameservers
  const named = [...new Set([...apexNs, ...delegated])].sort().map(serverNamed)
  const direct = await query([nameserver, configured, named].find((some) => some.length > 0) ?? [])
  /** What clients should get: what a provider has after its plan, the definition, or what the first server answers. */
  const expected = planned.find((one) => one.expected?.key)?.expected ?? firstAnswer(direct, asked)
  /** With split horizon, what the targets of a name server have, or the one of them that it returns. */
  const expectedAt = ({ server, answer }: QueriedServer): TracedAnswer | null => {
    const address = formatServerAddress(server)
    const isOwn = (one: string): boolean => formatServerAddress(parseServerAddress(one)) === address
    const own = planned.filter((_, at) => jobs[at]?.nameservers?.some(isOwn))
    const views = (own.length > 0 ? own : planned).flatMap((one) => (one.expected?.key ? one.expected : []))
    const found = typeof answer === 'string' ? null : String(receivedAnswer(asked, answer).key)
    return views.find(({ key }) => String(key) === found) ?? views[0] ?? expected
  }
  const child = expected?.child ?? null
  const below = await query(child === null || expected === null ? [] : expected.records.map(({ data }) => serverNamed(data)))
  const ofChild = { ...asked, zone: child ?? asked.zone }
  // The name servers of a delegated zone say what resolvers should answer.
  const ofDelegated = child === null ? null : firstAnswer(below, ofChild)
  const steps = [
    ...defined,
    ...planned.map((one) => one.step),
    ...(zone === null || delegation === null ? [] : [parentStep(zone, delegation, apexNs)]),
    ...(zone !== null && direct.length === 0
      ? [step('nameserver', zone, 'failed', ['no name server is known; name one with --nameserver'])]
      : []),
    ...direct.map((one) => serverStep('nameserver', one, asked, expectedAt(one))),
    ...below.map((one) => serverStep('child', one, ofChild, ofDelegated)),
    ...resolved.map((one) => serverStep('resolver', one, asked, child === null ? expectedAt(one) : ofDelegated)),
    ...run,
  ]
  return { zone, steps }
}

const step = (
  place: TraceStep['place'],
  subject: string,
  state: TraceStep['state'],
  notes: readonly string[],
  records: readonly ResourceRecord[] = [],
): TraceStep => ({ place, subject, state, records: records.map(lineOf), notes })

const lineOf = ({ name, ttl, type, data }: ResourceRecord): string => `${name} ${ttl ?? '(default)'} ${type} ${data}`

/** The result, or in words that it did not come in time. */
const within = <Result>(work: Promise<Result>, who: string): Promise<Result | string> =>
  Promise.race([work, wait(PATIENCE, `${who} did not answer within ${PATIENCE / 1000} s`, { ref: false })])

/** What an answer says besides its records. */
const notesOf = ({ owner, child, alias, key }: TracedAnswer, { name }: TracedQuery): string[] => [
  ...(owner !== name && isWildcard(owner) ? [`${owner} answers for it`] : []),
  ...(child === null ? [] : [`${child} is delegated: its name servers answer`]),
  ...(alias === null ? [] : [`an alias: "zonewright trace ${alias}" follows it`]),
  ...(key === null ? ['the server makes these records, so they are not compared'] : []),
]

// The definition.

async function definitionSteps(
  { environment }: TraceSetup,
  { config, jobs, diagnostics, similar = [] }: TracedWorkspace,
  asked: TracedQuery,
) {
  const problems = diagnostics
    .filter((one) => isError(one) && !ELSEWHERE.has(one.code))
    .map(({ at, message }) => step('definition', at === undefined ? 'config' : `${at.file}:${at.line}`, 'failed', [message]))
  const zones = [...new Set(jobs.map(({ desired }) => desired))]
  if (config === null || zones.length === 0) {
    const meant =
      similar.length === 0
        ? ''
        : `; did you mean ${listed(
            similar.map((one) => one.slice(0, -1)),
            5,
          )}?`
    return problems.length > 0 ? problems : [step('definition', asked.name, 'failed', [`no definition has a zone for it${meant}`])]
  }
  const defined = zones.map(async (desired) => {
    const { records, ...answer } = answerOf(desired.records, asked)
    const at = records[0]?.at ?? desired.at
    const isSourced = desired.sourced?.some(({ name, type }) => name === asked.name && type === asked.type)
    const notes = [
      ...(desired.absent ? ['the zone is to be deleted'] : []),
      ...(isSourced ? ['its values are read from a source when it is planned'] : notesOf({ records, ...answer }, asked)),
      ...(records.length > 0 || isSourced || answer.key === null ? [] : ['no record']),
      // Without records the place is that of the zone, whose commit says nothing about the name.
      ...(records.length === 0 ? [] : [await commitNote(at, config, environment.env)]),
    ]
    return step('definition', `${at.file}:${at.line}`, 'stated', notes, records)
  })
  return [...problems, ...(await Promise.all(defined))]
}

async function commitNote(at: DesiredZone['at'], config: Config, env: TraceSetup['environment']['env']): Promise<string> {
  const path = fromDisplayPath(at.file, config.cwd)
  const read = await readText(path, at.file, sourcePolicy(config))
  try {
    return (read.ok && (await commitOfLine(config.folder, path, read.text, at.line, env))) || 'not committed'
  } catch (error) {
    if (!(error instanceof RevisionError)) throw error
    return `commit unknown: ${error.diagnostic.message}`
  }
}

// The providers.

interface TracedProvider {
  readonly step: TraceStep
  /** What it should answer; null if that is not known. */
  readonly expected: TracedAnswer | null
  /** The NS records of the zone there. */
  readonly apexNs: readonly string[]
}

async function traceProvider(setup: TraceSetup, workspace: Workspace, job: ZoneJob, asked: TracedQuery): Promise<TracedProvider> {
  const { desired, target } = job
  const failed = (why = 'the zone could not be read'): TracedProvider => ({
    step: step('provider', target, 'failed', [why]),
    expected: desired.sourced ? null : answerOf(desired.records, asked),
    apexNs: [],
  })
  if (!workspace.providers.has(target)) return failed(workspace.diagnostics.find(({ message }) => message.includes(target))?.message)
  const alone = { ...setup, workspace: { ...workspace, jobs: [job], nameRemoved: undefined } }
  const work = makePlan(alone, AbortSignal.timeout(PATIENCE), null, false).catch((error: Error) => error.message)
  const made = await within(work, 'it')
  if (typeof made === 'string') return failed(made)
  const [planned] = made.zones
  return planned === undefined ? failed(made.diagnostics.find(isError)?.message) : compareProvider(planned, asked)
}

function compareProvider({ job, plan, existing, rendered }: PlannedJob, asked: TracedQuery): TracedProvider {
  const added = (rendered.providerApexNs ?? []).map((data) => ({ name: asked.zone, type: 'NS', ttl: null, data }))
  const live = [...(existing?.records ?? []), ...added]
  const found = answerOf(live, asked)
  // Nothing is to be changed here. After another error the plan has no changes.
  const errors = plan.diagnostics.filter((one) => isError(one) && one.code !== 'zone-read-only')
  const final = errors.length > 0 ? job.desired.records : finalRecords(existing?.records ?? [], plan.changes)
  const expected = answerOf([...final, ...added], asked)
  const touched = plan.changes.some(
    ({ name, type }) => name === expected.owner && [asked.type, 'CNAME', 'ALIAS', 'NS'].includes(type ?? ''),
  )
  const { absent } = job.desired
  const isSame = absent ? existing === null : existing !== null && !touched && String(found.key) === String(expected.key)
  const notes = [
    ...(existing === null ? ['the zone does not exist there'] : notesOf(found, asked)),
    ...(existing === null || found.records.length > 0 || found.key === null ? [] : ['no record']),
    ...(existing?.settings.status === 'disabled' ? ['the zone is disabled there, so name servers do not answer for it'] : []),
    ...errors.map(({ message }) => message),
    ...(isSame ? [] : [`"zonewright plan ${asked.zone}" shows what would change`]),
  ]
  const ttl = Math.max(0, ...expected.records.map((one) => one.ttl ?? existing?.settings.ttl_sec ?? 0)) || undefined
  const apexNs = live.filter((one) => one.type === 'NS' && one.name === asked.zone).map(({ data }) => data)
  return {
    step: step('provider', job.target, isSame ? 'same' : 'different', notes, found.records),
    expected: absent ? null : { ...expected, ttl },
    apexNs,
  }
}

// The parent zone.

/** The zone of a name that no definition has: the owner of the SOA record that a resolver returns. */
async function zoneByResolvers(ask: Ask, name: DomainName, resolvers: readonly ServerAddress[]): Promise<DomainName | null> {
  for (const resolver of resolvers) {
    const answer = await ask(resolver, { name, type: 'SOA', recursion: true })
    const records = typeof answer === 'string' ? [] : [...answer.answers, ...answer.authorities]
    const soa = records.find((one) => one.type === 'SOA' && isAtOrBelow(name, one.name))
    if (soa) return soa.name
  }
  return null
}

/** What the first server of the parent that answers says; otherwise why none does. */
async function findDelegation(
  zone: DomainName,
  given: readonly ServerAddress[],
  resolvers: readonly ServerAddress[],
  isAllowed: (server: ServerAddress) => boolean,
): Promise<Delegation | string> {
  const servers = given.length > 0 ? given : await parentServers(zone, resolvers.filter(isAllowed))
  if (servers === null) return 'no resolver names the name servers of the parent zone'
  let why = 'ZONEWRIGHT_ALLOWED_HOSTS has none of its name servers'
  for (const server of servers.filter(isAllowed).slice(0, 3)) {
    const asked = await askParent(zone, [server])
    if (asked.ok && asked.delegations[0] !== undefined) return asked.delegations[0]
    if (!asked.ok) why = `${zone}: ${asked.message}`
  }
  return why
}

/** `own` are the NS records of the zone, if they are known. */
function parentStep(zone: DomainName, found: Delegation | string, own: readonly string[]): TraceStep {
  if (typeof found === 'string') return step('parent', parentOf(zone), 'failed', [found])
  const { server, nameservers, ds, ttl } = found
  const records = nameservers.map((data) => ({ name: zone, ttl: ttl as Ttl, type: 'NS', data }))
  if (records.length === 0) return step('parent', server, 'different', [`${zone} is not delegated`])
  const isSame = own.length === 0 || String(own) === String(nameservers)
  const security = ds === 0 ? 'without DS records: DNSSEC is off' : `with DS records (${ds}): DNSSEC is on`
  const notes = isSame ? [security] : [`the zone has: ${own.join(', ')}`, security]
  return step('parent', server, own.length === 0 ? 'stated' : isSame ? 'same' : 'different', notes, records)
}

// The servers.

const serverNamed = (name: string): ServerAddress => ({ host: name.replace(/(?<=.)\.$/, ''), port: 53 })

interface QueriedServer {
  readonly server: ServerAddress
  readonly answer: DnsAnswer | string
  readonly notes: readonly string[]
}

async function queryServer(ask: Ask, server: ServerAddress, { name, type }: TracedQuery, recursion: boolean): Promise<QueriedServer> {
  const answer = await ask(server, { name, type, recursion })
  if (typeof answer === 'string' || !recursion) return { server, answer, notes: [] }
  if (answer.rcode !== 'SERVFAIL') return { server, answer, notes: answer.authentic ? ['validated by DNSSEC'] : [] }
  const unchecked = await ask(server, { name, type, recursion, unchecked: true })
  const isBogus = typeof unchecked !== 'string' && unchecked.rcode !== 'SERVFAIL'
  return { server, answer, notes: isBogus ? ['bogus: DNSSEC validation fails, without it the resolver answers'] : [] }
}

const isFailure = ({ rcode }: DnsAnswer): boolean => rcode !== 'NOERROR' && rcode !== 'NXDOMAIN'

function firstAnswer(queried: readonly QueriedServer[], asked: TracedQuery): TracedAnswer | null {
  for (const { answer } of queried) if (typeof answer !== 'string' && !isFailure(answer)) return receivedAnswer(asked, answer)
  return null
}

function serverStep(
  place: 'nameserver' | 'child' | 'resolver',
  { server, answer, notes }: QueriedServer,
  asked: TracedQuery,
  expected: TracedAnswer | null,
): TraceStep {
  const subject = formatServerAddress(server)
  if (typeof answer === 'string') return step(place, subject, 'failed', [answer])
  const found = receivedAnswer(asked, answer)
  const isResolver = place === 'resolver'
  // A server of a delegated zone may have that zone, too.
  const isCovered = place === 'nameserver' && answer.authoritative && answer.rcode === 'NOERROR' && (expected?.child ?? null) !== null
  const { key = null, ttl: wanted } = (isCovered ? null : expected) ?? {}
  const differs: string[] = []
  if (key !== null && String(found.key) !== String(key)) differs.push(`expected: ${key.join(', ')}`)
  if (isResolver && found.records.length > 0 && answer.rcode !== 'NOERROR') differs.push(`the alias leads to ${answer.rcode}`)
  if (!isResolver && !answer.authoritative && found.child === null && answer.rcode === 'NOERROR')
    differs.push('the answer is not authoritative')
  const ttls = found.records.map(({ ttl }) => ttl ?? 0)
  if (wanted !== undefined && differs.length === 0 && ttls.some((ttl) => (isResolver ? ttl > wanted : ttl !== wanted)))
    differs.push(isResolver ? `the TTL is longer than that of the record, ${wanted} s` : `expected the TTL ${wanted} s`)
  const rest = isResolver && ttls.length > 0 ? [`kept for another ${durationText(Math.min(...ttls))}`] : []
  const empty = found.records.length === 0 ? (found.key ?? []) : []
  const state = differs.length > 0 || isFailure(answer) ? 'different' : key === null ? 'stated' : 'same'
  // All of an alias that was followed.
  return step(
    place,
    subject,
    state,
    [...differs, ...notes, ...notesOf(found, asked), ...empty, ...rest],
    found.child === null ? answer.answers : found.records,
  )
}

// The journal.

/** The latest run that changed the record sets that answer, or deleted, enabled or disabled a zone above the name. */
async function lastRun({ environment }: TraceSetup, config: Config, asked: TracedQuery, jobs: readonly ZoneJob[]): Promise<TraceStep[]> {
  const { name, type } = asked
  // The wildcard or the delegation that answers by the definition, too.
  const answering = jobs.flatMap(({ desired }) => answerOf(desired.records, asked).records)
  const keys = new Set([{ name, type }, { name, type: 'CNAME' }, ...answering].map((one) => `${one.name} ${one.type}`))
  const isAbove = ({ zone }: { readonly zone: string }): boolean => isAtOrBelow(name, zone as DomainName)
  const unread = await within(fetchJournal({ ...environment, config, journal: config.journal }), 'the journal')
  const { runs, diagnostics } = readRuns(config.journal, ownProcess())
  const problems: TraceStep[] = [unread ?? [], diagnostics]
    .flat()
    .map((one) => step('run', 'journal', 'failed', [typeof one === 'string' ? one : one.message]))
  const own = runs.filter(({ begin }) => begin.zones.some(isAbove))
  for (const run of own.slice(0, MAX_RUNS)) {
    const details = await readRunPlans(run, isAbove)
    if (!details.ok) problems.push(step('run', run.id, 'failed', [details.message]))
    const notes = (details.ok ? details.value : []).flatMap(({ plan, outcome }) =>
      plan.changes.flatMap((change, index) => {
        const state = outcome.outcomes[index]?.state ?? 'skipped'
        if (state === 'skipped') return []
        if (change.subject === 'domain') {
          const isOwn = change.action === 'delete' || change.fields.includes('status')
          return isOwn ? [`${change.action} of the zone ${change.name} at ${plan.target}, ${state}`] : []
        }
        if (![change.name, change.existing?.name].some((one) => keys.has(`${one} ${change.type}`))) return []
        const sides = [change.existing, change.desired].flatMap((side) => (side === null ? [] : lineOf(side)))
        return [`${change.action} at ${plan.target}, ${state}: ${sides.join(' → ')}`]
      }),
    )
    if (notes.length === 0) continue
    const by = run.begin.approvedBy?.length ? `, approved by ${run.begin.approvedBy.join(', ')}` : ''
    const about = `${run.begin.command} of ${run.begin.time}, ${run.state}${by}; "zonewright history ${run.id}" shows it`
    return [...problems, step('run', run.id, 'stated', [about, ...notes])]
  }
  const none = own.length > MAX_RUNS ? `none of the latest ${MAX_RUNS} runs changed it` : 'no run of the journal changed it'
  return problems.length > 0 ? problems : [step('run', 'journal', 'stated', [none])]
}
