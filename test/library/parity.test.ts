/**
 * Every refusal of `plan` and `apply`: the same situation, once through the command line and once through the library, gives the same diagnostics at the same
 * places, the same document, the same requests, zones and journal. The last test fails for a code that no row has.
 */
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DIAGNOSTIC_CODES } from '../../src/base/diagnostic-codes.ts'
import type { ApplyOptions } from '../../src/library/options.ts'
import { apply, type Outcome, type PlanOptions, plan } from '../../src/library/zonewright.ts'
import type { Capabilities } from '../../src/plan/capabilities.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { CLOUD } from '../../src/providers/cloud/cloud-config.ts'
import type { FaultChoice } from '../../src/providers/memory/memory-provider.ts'
import { EXIT } from '../../src/run/context/exit-status.ts'
import { cutoverFile } from '../../src/run/load/cutover-state.ts'
import { filesBelow, openScene, type Scene, type SceneOptions, TOKEN, ZONE } from '../cli/scene.ts'
import { entries, examples } from '../definition/documented-examples.ts'
import { put, resealed } from '../stored/plans/saved-text.ts'
import { makeSshKey } from '../support/ssh-key.ts'

const NOW = new Date('2026-06-01T12:00:00Z')

interface Situation extends SceneOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Whether an apply has created the zones. */
  readonly live?: boolean
  readonly prepare?: (scene: Scene) => unknown
  /** Whether the provider is the one of the config, which is never contacted. */
  readonly real?: boolean
}

/** What a run ended with, in a form that is the same in every folder. */
interface Ended {
  readonly result: string
  /** `error CODE PLACE MESSAGE` of every error; warnings and notices in `others`. */
  readonly errors: readonly string[]
  readonly others: readonly string[]
  readonly document: unknown
  readonly requests: readonly string[]
  readonly zone: unknown
  readonly files: Readonly<Record<string, string>>
}

type Command = 'plan' | 'apply'

const RESULTS: Readonly<Record<number, string>> = { 0: 'done', 1: 'failed', 2: 'pending', 3: 'refused', 4: 'partial' }

async function open({ env, live, prepare, ...options }: Situation): Promise<Scene & { readonly end: () => unknown }> {
  const scene = openScene({ now: () => NOW, ...options })
  if (live) expect((await scene.run('apply', '--yes')).status).toBe(EXIT.done)
  const end = await prepare?.(scene)
  return { ...scene, end: () => (typeof end === 'function' ? end() : undefined) }
}

/** Texts without what differs from run to run. */
const scrubbed = ({ folder }: Scene, text: string): string =>
  text
    .replaceAll(folder, 'FOLDER')
    .replace(/\d{8}T\d{6}Z-[0-9a-f]{4}/g, 'RUN')
    .replace(/(since |"since":")20[-0-9T :.]+Z|(?<=ends in )[0-9a-z ]+(?=;)/g, '$1TIME')
    .replace(/\b(?:[0-9a-f]{64}|[0-9a-f]{16})\b/g, 'RANDOM')

/** What a run has done in a scene, whose other runs go on afterwards. */
async function ended(
  scene: Awaited<ReturnType<typeof open>>,
  sent: number,
  result: string,
  lines: readonly string[],
  document: unknown,
): Promise<Ended> {
  const sorted = [...new Set(lines.map((line) => scrubbed(scene, line)))].sort()
  const files = Object.entries(filesBelow(scene.folder)).map(([path, text]) => [scrubbed(scene, path), scrubbed(scene, text)] as const)
  const found = {
    result,
    errors: sorted.filter((line) => line.startsWith('error')),
    others: sorted.filter((line) => !line.startsWith('error')),
    document: JSON.parse(scrubbed(scene, JSON.stringify(document))),
    requests: scene.memory.requests
      .slice(sent)
      .map(({ kind, zone, changes }) => `${kind} ${zone} ${changes.length}`)
      .sort(),
    zone: scene.memory.zone('example.com'),
    files: Object.fromEntries(files.sort()),
  }
  await scene.end()
  return found
}

type Found = Pick<Outcome['diagnostics'][number], 'severity' | 'code' | 'file' | 'line' | 'column' | 'message'>

const lineOf = ({ severity, code, file, line, column, message }: Found): string =>
  `${severity} ${code} ${file === null ? '' : `${file}:${line}:${column}`} ${message}`

async function byCommand({ command, options, given }: Row): Promise<Ended> {
  const scene = await open(given)
  const sent = scene.memory.requests.length
  const how = command === 'apply' ? ['--yes'] : ['--detailed-exitcode']
  const setting = { env: given.env ?? {}, ...(given.real && { providerTypes: new Map() }) }
  const { status, stdout, stderr } = await scene.runIn(setting, command, ...argumentsOf(options), ...how, '--format', 'json', '--verbose')
  const printed = [...stderr.matchAll(/^(?:(\S+:\d+:\d+): )?(error|warning|notice)\[([a-z-]+)\] (.*)$/gm)]
  const document = stdout === '' ? null : JSON.parse(stdout)
  const inDocument: Found[] = document === null ? [] : [document, ...document.zones].flatMap(({ diagnostics }) => diagnostics)
  const lines = [
    ...printed.map(([, place = '', severity, code, text]) => `${severity} ${code} ${place} ${text}`),
    ...inDocument.map(lineOf),
  ]
  return ended(scene, sent, RESULTS[status] ?? String(status), lines, document)
}

async function byLibrary({ command, options, given }: Row): Promise<Ended> {
  const scene = await open(given)
  const sent = scene.memory.requests.length
  const value = { ...scene.memory, providerType: scene.memory.as(CLOUD) }
  const {
    result,
    diagnostics,
    plan: document,
  } = await (command === 'plan' ? plan : apply)({
    ...{ cwd: scene.folder, env: { ZONEWRIGHT_TOKEN: TOKEN, ...given.env }, now: () => NOW },
    ...(!given.real && { providers: { cloud: value }, journal: '.zonewright' }),
    ...options,
  })
  return ended(scene, sent, result, diagnostics.map(lineOf), document)
}

type Options = ApplyOptions & PlanOptions

/** `expected`: the result, `allow:NAME` of each safety limit that refuses, and the codes of errors. */
interface Row {
  readonly command: Command
  readonly name: string
  readonly expected: string
  readonly options: Options
  readonly given: Situation
}

const applying = (name: string, expected: string, options: Options = {}, given: Situation = {}): Row => ({
  ...{ command: 'apply', name, expected, options, given },
})
const planning = (name: string, expected: string, options: Options = {}, given: Situation = {}): Row => ({
  ...{ command: 'plan', name: `${name}, planned`, expected, options, given },
})

/** The options as arguments of the command. */
const argumentsOf = ({ zones = [], planFile, shard, ...others }: Options): string[] => [
  ...[
    ...zones,
    ...(planFile === undefined ? [] : [planFile]),
    ...(shard === undefined ? [] : ['--shard', `${shard.index}/${shard.count}`]),
  ],
  ...Object.entries(others).flatMap(([key, value]) => {
    const option = `--${key.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)}`
    return [value].flat().flatMap((one) => (one === true ? [option] : [option, String(one)]))
  }),
]

const zone = (text: string) => ({ 'zones/example.com.yaml': text })
const definition = (text: string) => (scene: Scene) => scene.write({ 'zones/example.com.yaml': text })
const MANY = `${ZONE}${Array.from({ length: 10 }, (_, i) => `  r${i}: {type: A, value: 192.0.2.3}\n`).join('')}`
const CHANGED = ZONE.replace('192.0.2.2', '192.0.2.7')
const reply = (code: keyof typeof DIAGNOSTIC_CODES, kinds = 'list look-up read write rendered') =>
  ({
    fault: ({ kind }: { kind: string }) =>
      kinds.includes(kind) ? { kind: 'refused', code, message: `cloud: ${code}`, status: '500' } : null,
  }) as Situation
const having = (capabilities: Partial<Capabilities>): Situation => ({ capabilities: { ...CLOUD_CAPABILITIES, ...capabilities } })
/** Saves a plan of a changed definition. */
const saved =
  (more: (scene: Scene) => unknown = () => undefined, text = CHANGED) =>
  async (scene: Scene) => {
    definition(text)(scene)
    await scene.run('plan', '--out', 'plan.json')
    await more(scene)
  }
const textOf = ({ folder }: Scene, file: string): string => readFileSync(join(folder, file), 'utf8')
const spoiled = (spoil: (text: string) => string): Situation => ({
  live: true,
  prepare: saved((scene) => scene.write({ 'plan.json': spoil(textOf(scene, 'plan.json')) })),
})
const PLAN = { planFile: 'plan.json' }

const TTL = '- {name: ttl, each: record_set, require: {properties: {ttl: {minimum: 7200}}}, message: a TTL is at least two hours}\n'
const { file: PRIVATE_KEY, line: LINE } = makeSshKey()
const approve = async (scene: Scene): Promise<void> => {
  scene.write({ key: PRIVATE_KEY })
  chmodSync(join(scene.folder, 'key'), 0o600)
  expect((await scene.run('approve', 'plan.json', '--key', 'key', '--yes')).status).toBe(EXIT.done)
}
const APPROVALS = `approvals:\n  needed: 1\n  keys: {alice: '${LINE}'}\n`
const SNAPSHOT = { snapshot: 'snap.json' }
const snapshot = (more: (scene: Scene) => unknown = () => undefined, made = NOW): Situation => ({
  live: true,
  prepare: async (scene) => {
    expect((await scene.runIn({ now: () => made }, 'snapshot', '--out', 'snap.json')).status).toBe(EXIT.done)
    definition(CHANGED)(scene)
    await more(scene)
  },
})
const POOL = zone(`${ZONE}  pool: {type: A, ttl: 300, from: {provider: cloud, zone: source.example, name: pool}}\n`)
/** `pool` has the addresses of a zone that another client fills, and now none. */
const SOURCED: Situation = {
  files: POOL,
  zones: { 'source.example.': 'pool 300 A 192.0.2.50\nother 300 A 192.0.2.51\n' },
  live: true,
  prepare: ({ memory }) => memory.remove('source.example', 'pool.source.example.'),
}
/** Another run that is in its first change until the returned function is called. */
async function hold(scene: Scene): Promise<() => Promise<void>> {
  const [reached, going] = [new AbortController(), new AbortController()]
  scene.memory.use(async ({ kind }) => {
    if (kind !== 'write') return null
    reached.abort()
    await aborted(going)
    return null
  })
  const other = scene.run('apply', '--yes')
  await aborted(reached)
  return () => {
    going.abort()
    return other.then(() => undefined)
  }
}
const aborted = ({ signal }: AbortController): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve())))
/** A zone that an apply has created, and whose definition is gone. */
const GONE: Situation = {
  files: { ...zone(ZONE), 'zones/gone.example.yaml': ZONE.replace('example.com', 'gone.example') },
  live: true,
  prepare: ({ folder }) => rmSync(join(folder, 'zones/gone.example.yaml')),
}
/** The state of a cutover, or another text in its place. */
const moving =
  (text?: string) =>
  async ({ folder }: Scene): Promise<void> => {
    await cutoverFile(join(folder, '.zonewright'), 'example.com.').write({
      ...{
        format: 'zonewright-cutover',
        version: 1,
        zone: 'example.com.',
        from: 'cloud',
        to: 'own',
        started: NOW.toISOString(),
        step: 'lower',
      },
      ...{ lowTtl: 60, formerTtl: 300, formerZoneTtl: null, lowered: false, notBefore: null, apexNs: [], nameservers: [], parentTtl: 0 },
    })
    const path = join(folder, '.zonewright/cutovers')
    if (text !== undefined) for (const name of readdirSync(path)) writeFileSync(join(path, name), text)
  }
/** Situations of an apply whose definition was changed after it was live. */
const from = (before: string, after: string, more: Situation = {}): Situation => ({
  ...{ files: zone(before), live: true },
  ...more,
  prepare: (scene) => {
    definition(after)(scene)
    return more.prepare?.(scene)
  },
})
const files = (some: Readonly<Record<string, string>>) => (scene: Scene) => scene.write(some)
const USED = { 'usage.csv': 'name,type,count,last_asked\nwww.example.com.,CNAME,12,2026-06-01T10:00:00Z\n' }
const ABSENT = 'domain: example.com\nabsent: true\n'
const WITHOUT_WWW = ZONE.replace(/ {2}www.*\n/, '')
const OWN_NS = `${ZONE.replace('records:', 'apex_ns: manage\nrecords:').replace("'': {type: A, value: 192.0.2.1}", "'': [{type: A, value: 192.0.2.1}, {type: NS, value: ns.example.net.}]")}`

const other = (text: string, before: string, after: string) => (scene: Scene) =>
  scene.write({ [text]: scene.files()[text]?.replace(before, after) ?? '' })
const config = (before: string, after: string) => other('zonewright.yaml', before, after)
/** Faults from the end of the preparation on. */
const faulty = (prepare: (scene: Scene) => unknown, fault: FaultChoice): Situation => ({
  live: true,
  prepare: async (scene) => {
    await prepare(scene)
    scene.memory.use(fault)
  },
})
const USAGE = { usage: ['usage.csv'] }
const USED_WWW = from(ZONE, WITHOUT_WWW, { prepare: files(USED) })

/** What every value of `--allow` lifts. */
const LIMITS: readonly (readonly [
  limit: 'deletes' | 'updates' | 'empty-zone' | 'delete-zone' | 'in-use' | 'apex-ns',
  Situation,
  Options?,
])[] = [
  ['deletes', from(MANY, ZONE)],
  ['updates', from(MANY, MANY.replaceAll('192.0.2.3', '192.0.2.4'))],
  ['empty-zone', from(ZONE, ZONE.replace(/records:[\s\S]*/, 'records: {}\n'))],
  ['delete-zone', from(ZONE, ABSENT)],
  ['in-use', USED_WWW, USAGE],
  ['apex-ns', from(OWN_NS, OWN_NS.replace('ns.example.net', 'ns.example.org'), having({ servesApexNs: false }))],
]

const SELECTION = [
  applying('nothing is wrong', 'done'),
  applying('no config', 'failed config-missing', { config: 'missing.yaml' }),
  applying('an unknown zone', 'failed zone-unknown', { zones: ['example.org'] }),
  applying('no name of a zone', 'failed zone-name', { zones: ['a..b'] }),
  applying('an unknown target', 'failed provider-unknown', { target: 'clowd' }),
  applying(
    'a target that a zone lacks',
    'failed target-missing',
    { zones: ['example.com'], target: 'own' },
    {
      prepare: (scene) =>
        scene.write({ 'zonewright.yaml': `${scene.config().replace(/^ {2}cloud: (.*)$/m, '$&\n  own: $1')}zones: [{targets: [cloud]}]\n` }),
    },
  ),
  applying('a revision without a repository', 'failed revision-unreadable', { since: 'main' }),
  applying(
    'zones with errors are left out',
    'failed ttl-invalid',
    { keepGoing: true },
    {
      files: { ...zone(ZONE), 'zones/example.net.yaml': 'www: {type: A, ttl: x, value: 192.0.2.1}\n' },
    },
  ),
  applying('partial without a plan', 'failed usage', { partial: true }),
  applying('a shard', 'done', { shard: { index: 2, count: 2 } }),
  applying('names of files', 'failed file-name', {}, { files: { 'zones/a\tb.yaml': ZONE } }),
]

const CONFIG = [
  applying('a host', 'failed host-not-allowed', {}, { real: true, env: { ZONEWRIGHT_ALLOWED_HOSTS: 'api.example.net' } }),
  applying('a list of hosts', 'failed allowed-hosts-invalid', {}, { real: true, env: { ZONEWRIGHT_ALLOWED_HOSTS: 'a b/c' } }),
  applying(
    'a proxy',
    'failed proxy-invalid',
    {},
    {
      ...{ real: true, env: { HTTPS_PROXY: 'ftp://x' }, prepare: config('http://127.0.0.1:9', 'https://dns.example.net') },
    },
  ),
  applying('a path in CI', 'failed path-not-allowed', {}, { real: true, env: { CI: 'true' }, config: 'journal: ../elsewhere\n' }),
  applying('no secret', 'failed secret-missing', {}, { real: true, env: { ZONEWRIGHT_TOKEN: '' } }),
  applying('a secret in a definition', 'failed secret-exposed', {}, { files: zone(`${ZONE}  t: {type: TXT, value: ${TOKEN}}\n`) }),
  applying('an address without TLS', 'failed insecure-url', {}, { real: true, prepare: config('127.0.0.1', 'dns.example.net') }),
  applying('a policy', 'failed policy-ttl', {}, { prepare: files({ 'policies/ttl.yaml': TTL }) }),
  applying('approvals', 'refused not-approved', {}, { config: APPROVALS }),
  applying(
    'approvals of the trusted config',
    'refused not-approved',
    { trustedConfig: 'base.yaml' },
    {
      prepare: (scene) => scene.write({ 'base.yaml': scene.config() + APPROVALS }),
    },
  ),
  applying('a saved plan without approvals', 'refused not-approved', PLAN, { config: APPROVALS, prepare: saved() }),
  applying('a saved plan with an approval', 'done', PLAN, { config: APPROVALS, prepare: saved(approve) }),
  applying('an approval of another plan', 'refused not-approved', PLAN, {
    config: APPROVALS,
    prepare: saved(async (scene) => {
      await approve(scene)
      definition(ZONE)(scene)
      rmSync(join(scene.folder, 'plan.json'))
      await scene.run('plan', '--out', 'plan.json')
    }),
  }),
]

const SAFETY = [
  ...LIMITS.flatMap(([limit, given, options = {}]) => [
    applying(limit, `refused allow:${limit}`, options, given),
    planning(limit, `refused allow:${limit}`, options, given),
    applying(`${limit}, lifted`, 'done', { ...options, allow: [limit] }, given),
  ]),
  applying('in-use of a name, lifted', 'done', { ...USAGE, allow: ['in-use:www.example.com'] }, USED_WWW),
  applying('in-use of another name', 'refused allow:in-use', { ...USAGE, allow: ['in-use:a.example.com'] }, USED_WWW),
  applying('usage that cannot be read', 'refused allow:in-use', { usage: ['none.csv'] }, from(ZONE, WITHOUT_WWW)),
  applying('a limit lifted by the config', 'done', {}, from(MANY, ZONE, { config: 'zones: [{targets: [cloud], allow: [deletes]}]\n' })),
  applying(
    'a policy that keeps differences',
    'done',
    {},
    from(ZONE, CHANGED, { config: 'zones: [{targets: [cloud], policy: create-only}]\n' }),
  ),
  applying('a zone whose definition is gone', 'done', {}, GONE),
  applying(
    'expired records',
    'done',
    {},
    { files: zone(ZONE.replace('ttl: 1h', 'ttl: 1h, expires: 2026-01-01').replace('records', 'expires: 2026-01-01\nrecords')) },
  ),
  applying('a source without a record', 'done', {}, SOURCED),
  applying('a source without a record, lifted', 'done', { allow: ['quarantined'] }, SOURCED),
  applying('a source that is missing', 'done', {}, { files: POOL }),
  applying('a source that never had a record', 'done', {}, { files: POOL, zones: { 'source.example.': 'other 300 A 192.0.2.51' } }),
  applying(
    'a zone that is its own source',
    'failed source-itself',
    {},
    { files: zone(`${ZONE}  pool: {type: A, from: {provider: cloud}}\n`) },
  ),
]

const TARGETS = [
  applying('more records than allowed', 'failed record-limit', {}, having({ maxRecords: 2 })),
  applying('a zone that cannot be created', 'failed zone-fixed', {}, having({ createsZones: false })),
  applying('a zone without NS records', 'failed zone-without-ns', {}, having({ servesApexNs: false, needsApexNs: true })),
  applying('settings that a target lacks', 'done', {}, { ...having({ settings: new Set() }), zones: { 'example.com.': '' } }),
  applying('a record beside unmanaged ones', 'failed unmanaged-collision', {}, from(ZONE, `${ZONE}unmanaged: [{name: mail}]\n`)),
  applying(
    'a CNAME beside unmanaged records',
    'failed cname-not-alone',
    {},
    from(ZONE, `${ZONE}  new: {type: CNAME, value: '@'}\nunmanaged: [{name: new, type: TXT}]\n`, {
      prepare: ({ memory }) => memory.add('example.com', 'new TXT x'),
    }),
  ),
  applying(
    'records twice at the target',
    'done',
    {},
    { live: true, prepare: ({ memory }) => memory.add('example.com', 'mail 3600 A 192.0.2.2') },
  ),
]

const LOCKS = [
  applying('a file in the place of the journal', 'failed journal-failed', {}, { prepare: files({ '.zonewright': '' }) }),
  planning('a file in the place of the journal', 'pending', {}, { prepare: files({ '.zonewright': '' }) }),
  applying('a cutover that is moving the zone', 'failed zone-locked', {}, { live: true, prepare: moving() }),
  planning('a cutover that is moving the zone', 'failed zone-locked', {}, { live: true, prepare: moving() }),
  applying('a state that cannot be read', 'failed journal-failed', {}, { live: true, prepare: moving('{') }),
  applying('another run', 'failed zone-locked', {}, { prepare: hold }),
]

const READS = [
  'unreachable',
  'timeout',
  'unauthorized',
  'forbidden',
  'not-found',
  'rejected',
  'rate-limited',
  'failed',
  'garbled',
  'conflict',
] as const
let sent = false
const PROVIDERS = [
  ...READS.flatMap((what) =>
    [applying, planning].map((row) => row(`a provider: ${what}`, `failed provider-${what}`, {}, reply(`provider-${what}`))),
  ),
  applying('a rendered file that cannot be read', 'done', {}, { ...reply('provider-failed', 'rendered'), zones: { 'example.com.': '' } }),
  applying(
    'an operation that the system refuses',
    'failed system-failed',
    {},
    faulty(
      () => undefined,
      () => {
        throw Object.assign(new Error('too many files'), { syscall: 'open' })
      },
    ),
  ),
  applying('a change that is refused', 'failed', {}, reply('provider-rejected', 'write')),
  applying(
    'a change whose answer is lost',
    'done',
    {},
    faulty(definition(CHANGED), ({ kind, nth }) => (kind === 'write' && nth === 5 ? { kind: 'lost', carriedOut: true } : null)),
  ),
  applying(
    'a change whose result stays unknown',
    'partial provider-failed',
    {},
    {
      fault: ({ kind, nth }) =>
        kind === 'write'
          ? { kind: 'lost', carriedOut: false }
          : nth > 1
            ? { kind: 'refused', code: 'provider-failed', message: 'no' }
            : null,
    },
  ),
  applying(
    'a zone that another client removes meanwhile',
    'failed provider-not-found',
    {},
    faulty(definition(CHANGED), ({ kind }, memory) => {
      if (kind === 'write') memory.removeZone('example.com')
      return null
    }),
  ),
  applying(
    'a record that another client adds meanwhile',
    'failed',
    {},
    faulty(definition(CHANGED), ({ kind }, memory) => {
      if (kind === 'write') memory.add('example.com', 'theirs TXT x')
      return null
    }),
  ),
  applying(
    'a record that another client changes back',
    'failed apply-unconfirmed',
    {},
    faulty(
      (scene) => {
        sent = false
        definition(CHANGED)(scene)
      },
      ({ kind }, memory) => {
        if (kind === 'read' && sent) memory.change('example.com', 'mail 3600 A 192.0.2.99')
        sent ||= kind === 'write'
        return null
      },
    ),
  ),
]

const theirs = ({ memory }: Scene): void => memory.add('example.com', 'theirs TXT x')
const PLANS = [
  applying('a saved plan', 'done', PLAN, { live: true, prepare: saved() }),
  applying('a file that is no plan', 'failed plan-file-invalid', PLAN, { prepare: files({ 'plan.json': '{}' }) }),
  applying(
    'a truncated plan file',
    'failed plan-file-invalid',
    PLAN,
    spoiled((text) => text.slice(0, -20)),
  ),
  applying(
    'a changed plan file',
    'failed plan-file-changed',
    PLAN,
    spoiled((text) => text.replace('192.0.2.7', '192.0.2.8')),
  ),
  applying(
    'a newer plan file',
    'failed plan-file-version',
    PLAN,
    spoiled((text) => resealed(text, put('version', 3))),
  ),
  applying(
    'the plan of another target',
    'failed plan-file-target',
    PLAN,
    spoiled((text) => resealed(text, put('targets.0.address', 'https://dns.example.net'))),
  ),
  applying(
    'the plan of an unknown target',
    'failed provider-unknown',
    PLAN,
    spoiled((text) => resealed(text.replaceAll('"cloud"', '"lab"'), put('tool', 'x'))),
  ),
  applying('an unsigned plan file', 'failed plan-file-signature', PLAN, {
    ...spoiled((text) => text),
    env: { ZONEWRIGHT_PLAN_KEY: 'k'.repeat(40) },
  }),
  applying('a stale plan', 'refused plan-stale', PLAN, { live: true, prepare: saved(theirs) }),
  applying('a stale plan, partial', 'refused plan-stale', { ...PLAN, partial: true }, { live: true, prepare: saved(theirs) }),
  applying('an outdated plan', 'refused plan-outdated', PLAN, {
    live: true,
    prepare: saved(async (scene) => {
      for (const text of [ZONE.replace('192.0.2.1', '192.0.2.44'), ZONE]) {
        definition(text)(scene)
        await scene.run('apply', '--yes')
      }
    }),
  }),
  applying(
    'allow with a plan file',
    'refused allow:delete-zone',
    { ...PLAN, allow: ['delete-zone'] },
    { live: true, prepare: saved(undefined, ABSENT) },
  ),
  ...([{ target: 'cloud' }, { since: 'main' }] as const).map((one) =>
    applying(`${Object.keys(one)} with a plan file`, 'failed usage', { ...PLAN, ...one }, { live: true, prepare: saved() }),
  ),
  planning('a file that exists', 'failed file-exists', { out: 'taken' }, { prepare: files({ taken: 'x' }) }),
  planning('a file that cannot be written', 'failed file-unwritable', { out: 'none/plan.json' }),
]

const SNAPSHOTS = [
  planning('a snapshot', 'pending', SNAPSHOT, snapshot()),
  planning('a file that is no snapshot', 'failed snapshot-invalid', SNAPSHOT, { prepare: files({ 'snap.json': '{}' }) }),
  planning('a changed snapshot', 'failed snapshot-changed', SNAPSHOT, snapshot(other('snap.json', '192.0.2.2', '192.0.2.8'))),
  planning(
    'an unsigned snapshot',
    'failed snapshot-signature',
    { ...SNAPSHOT, verifyKey: 'env:KEY' },
    { ...snapshot(), env: { KEY: LINE } },
  ),
  planning(
    'an old snapshot',
    'failed snapshot-too-old',
    { ...SNAPSHOT, maxAge: 1 },
    snapshot(undefined, new Date(NOW.getTime() - 3_600_000)),
  ),
  planning('the snapshot of another config', 'failed snapshot-mismatch', SNAPSHOT, snapshot(config(':9/', ':10/'))),
  planning(
    'a zone that a snapshot lacks',
    'pending',
    SNAPSHOT,
    snapshot(files({ 'zones/example.net.yaml': ZONE.replace('example.com', 'example.net') })),
  ),
  planning('verifyKey without a snapshot', 'failed usage', { verifyKey: 'env:KEY' }),
]

const ROWS = [...SELECTION, ...CONFIG, ...SAFETY, ...TARGETS, ...LOCKS, ...PROVIDERS, ...PLANS, ...SNAPSHOTS]

const summaryOf = ({ result, errors, document }: Ended): string => {
  const refusals = (document as { zones: { refusals: { name: string; allowed: boolean }[] }[] } | null)?.zones.flatMap(
    (one) => one.refusals,
  )
  const lifted = (refusals ?? []).flatMap(({ name, allowed }) => (allowed ? [] : `allow:${name}`))
  return [result, ...new Set([...lifted, ...errors.map((line) => line.split(' ')[1])])].join(' ')
}

const seen = new Set<string>()

/** The command line prints failed changes as the outcomes of its document, the library has them as errors, too. */
const withoutOutcomes = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => !/^error change-(?:failed|unknown) /.test(line))

async function expectSame(row: Row): Promise<Ended> {
  const one = await byCommand(row)
  const two = await byLibrary(row)
  // A command that ends before it has a report prints no document.
  const document = one.document === null ? null : two.document
  expect({ ...two, document, errors: withoutOutcomes(two.errors), others: [] }).toEqual({ ...one, others: [] })
  expect(two.others).toEqual(expect.arrayContaining([...one.others]))
  for (const line of [...one.errors, ...two.errors, ...two.others]) seen.add(line.split(' ')[1] as string)
  return one
}

test.each(ROWS)('$name: $expected', async (row) => {
  expect(summaryOf(await expectSame(row))).toBe(row.expected)
})

/** The examples of the documentation: what is wrong with a config, definitions or policies. */
test.each(entries.filter(({ body }) => /^```\w+ fails/m.test(body)))('the example of $code', async ({ body }) => {
  const { 'zonewright.yaml': text = '', ...others } = examples(body, 'fails')
  const real = !/^ *(?:providers: \{)?cloud:/m.test(text)
  const prepare = files({ 'zonewright.yaml': text })
  await expectSame(
    planning('', '', {}, { files: others, prepare, real, env: { LINODE_TOKEN: TOKEN, TOKEN }, zones: { 'example.com.': '' } }),
  )
})

/** The codes without a row, by the reason. */
const EXEMPT: Readonly<Record<string, string>> = {
  'other commands report them': `approval-key run-unknown target-changed rollback-last rollback-kept rollback-conflict ci-job site-failed import-lossy
    import-aside import-pending import-mismatch zone-exists zone-undefined export-lossy serial-not-newer record-unknown record-elsewhere edit-refused
    service-start service-store images-invalid resolvers-invalid seed-invalid tsig-keys-invalid tsig-keys-readable write-unfinished`,
  'verify alone reports them':
    'zone-disabled nameservers-unknown nameservers-skipped nameserver-failed region-unknown resolver-failed verify-differs',
  'validate alone runs the tests of policies': 'policies-test-failed policies-untested policies-exception-unused',
  'the command alone notifies': 'notification-failed',
  'the command asks on a terminal, the library a function': 'not-confirmed',
  'other providers than the one in memory report them': `inventory-empty inventory-unreadable inventory-partial source-stale record-unplanned provider-class
    provider-stopped zone-inactive zone-read-only check-failed reload-failed zone-list apply-incomplete`,
  'a definition that would take long to read': 'file-too-large zonefile-too-large rrset-too-large',
  'a lease has to end by the clock; processes that lose one are in test/incidents': 'lease-lost',
  'no diagnostic has it': 'refused',
  'nothing is refused: warnings and notices': `client-record program-message policies-exception-ends ptr-not-selected quarantine-unstored interruption calls-not-proved
    rendered-stale apply-altered branch-effect txt-long zone-undescribed`,
}

test('every code that these runs can report has a row', () => {
  const exempt = new Set(Object.values(EXEMPT).flatMap((codes) => codes.split(/\s+/)))
  const codes = Object.keys(DIAGNOSTIC_CODES)
  expect(codes.filter((code) => !seen.has(code) && !exempt.has(code))).toEqual([])
  expect([...exempt].filter((code) => seen.has(code) || !codes.includes(code))).toEqual([])
})
