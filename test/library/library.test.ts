/** The functions of the package: the flow of the commands, documents instead of text, and no trace in the process. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { validate as isPlan } from '../../generated/plan-schema.js'
import { validate as isRun } from '../../generated/run-schema.js'
import { validate as isValidation } from '../../generated/validation-schema.js'
import { validate as isVerification } from '../../generated/verification-schema.js'
import { sshKeyOctets } from '../../src/config/ssh-public-key.ts'
import { type ApplyOptions, apply, loadDefinitions, type Outcome, plan, verify } from '../../src/library/zonewright.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { createMemory } from '../../src/providers/memory/memory-provider.ts'
import type { ProviderPackage } from '../../src/providers/package/package-interface.ts'
import { openScene, type Scene, type SceneOptions, TOKEN, ZONE, zoneFiles } from '../cli/scene.ts'

/** A scene, and the options with which a function works in it. */
function open(options: SceneOptions = {}) {
  const scene = openScene(options)
  const given = (more: ApplyOptions = {}): ApplyOptions => ({
    ...{ cwd: scene.folder, env: { ZONEWRIGHT_TOKEN: TOKEN }, providers: { cloud: scene.memory }, journal: '.zonewright' },
    ...more,
  })
  return { scene, given }
}

const aborted = ({ signal }: AbortController): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve())))

const errorsOf = ({ diagnostics }: Pick<Outcome, 'diagnostics'>): string[] =>
  diagnostics.flatMap(({ severity, code }) => (severity === 'error' ? code : []))

/** A zone that an apply has created, and a definition that deletes most of its records. */
async function refusedScene() {
  const more = Array.from({ length: 10 }, (_, i) => `  r${i}: {type: A, value: 192.0.2.3}\n`).join('')
  const opened = open({ files: { 'zones/example.com.yaml': ZONE + more } })
  expect((await apply(opened.given())).result).toBe('done')
  opened.scene.write({ 'zones/example.com.yaml': ZONE })
  return opened
}

test('plan, apply and verify give the documents of the commands, and leave nothing in the process', async () => {
  const { scene, given } = open()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const listeners = signals.map((signal) => process.listenerCount(signal))
  const written = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')]
  const progress: string[] = []
  const planned = await plan(given({ onProgress: ({ phase, done, total }) => void progress.push(`${phase} ${done}/${total}`) }))
  const applied = await apply(given())
  const verified = await verify({ ...given(), dns: false })
  const again = await plan(given())
  const loaded = await loadDefinitions(given())
  for (const spy of written) {
    expect(spy).not.toHaveBeenCalled()
    spy.mockRestore()
  }
  expect(signals.map((signal) => process.listenerCount(signal))).toEqual(listeners)
  const results = [planned, applied, verified, again, loaded].map(({ result }) => result)
  expect(results).toEqual(['pending', 'done', 'done', 'done', 'done'])
  expect(progress).toEqual(['reading 1/1'])
  for (const document of [planned.plan, applied.plan, again.plan]) expect([isPlan(document), isPlan.errors]).toEqual([true, null])
  for (const { run } of [planned, applied, verified]) expect([isRun(run), isRun.errors]).toEqual([true, null])
  expect([isVerification(verified.verification), isValidation(loaded.validation)]).toEqual([true, true])
  expect(applied.plan.summary).toMatchObject({ applied: 4, failed: 0 })
  expect(loaded.zones[0]).toMatchObject({ zone: 'example.com.', targets: ['cloud'] })
  expect(loaded.zones[0]?.recordSets.map(({ relativeName, type, data }) => [relativeName, type, ...data])).toEqual([
    ['', 'A', '192.0.2.1'],
    ['mail', 'A', '192.0.2.2'],
    ['www', 'CNAME', 'example.com.'],
  ])
  // The journal is that of the command line, and so are the documents.
  expect((await scene.run('history')).stdout).toMatch(/apply/)
  const { created, ...document } = JSON.parse((await openScene().run('plan', '--format', 'json')).stdout)
  expect(planned.plan).toEqual({ ...document, created: planned.plan.created })
})

describe('the refusals of the command', () => {
  const elsewhere: ProviderPackage = {
    ...{ apiVersion: 1, settings: {}, capabilities: {}, hosts: () => ['https://other.example'] },
    create: () => expect.unreachable(),
  }
  const line = `ssh-ed25519 ${sshKeyOctets(Buffer.alloc(32, 7)).toString('base64')}`
  const TTL = '- {name: ttl, each: record_set, require: {properties: {ttl: {minimum: 7200}}}, message: a TTL is at least two hours}\n'
  const CASES: readonly (readonly [name: string, scene: SceneOptions, options: ApplyOptions, result: string, codes: readonly string[]])[] =
    [
      ['hosts', {}, { providers: undefined, env: { ZONEWRIGHT_ALLOWED_HOSTS: 'api.example.net' } }, 'failed', ['host-not-allowed']],
      ['a token that is not set', {}, { providers: undefined, journal: undefined, env: {} }, 'failed', ['secret-missing']],
      // It would not see the locks of other runs.
      ['a journal of its own beside a provider of the config', {}, { providers: undefined }, 'failed', ['usage']],
      ['approvals', { config: `approvals:\n  needed: 1\n  keys: {alice: '${line}'}\n` }, {}, 'refused', ['not-approved']],
      ['policies', { files: { 'zones/example.com.yaml': ZONE, 'policies/ttl.yaml': TTL } }, {}, 'failed', ['policy-ttl']],
      ['no config', {}, { config: 'missing.yaml' }, 'failed', ['config-missing']],
      ['an unknown zone', {}, { zones: ['example.org'] }, 'failed', ['zone-unknown']],
      ['a saved plan that is none', {}, { planFile: 'zones/example.com.yaml' }, 'failed', ['plan-file-invalid']],
      ['a zone that is a plan file', {}, { zones: ['plan.json'] }, 'failed', ['zone-unknown']],
      // Without the error, the provider of the config would be changed instead of the one in memory.
      [
        'a provider that the config lacks',
        {},
        { providers: { clowd: createMemory({ capabilities: CLOUD_CAPABILITIES }) } },
        'failed',
        ['provider-unknown'],
      ],
      [
        'hosts of a value',
        {},
        { providers: { cloud: elsewhere }, env: { ZONEWRIGHT_ALLOWED_HOSTS: 'api.example.net' } },
        'failed',
        ['host-not-allowed'],
      ],
      ['a value that is no provider', {}, { providers: { cloud: { apiVersion: 9 } as never } }, 'failed', ['usage']],
    ]
  test.each(CASES)('%s', async (_, options, more, result, codes) => {
    const { scene, given } = open(options)
    await plan(given({ ...more, out: 'plan.json' } as never))
    const ended = await apply(given(more))
    expect([ended.result, ...new Set(errorsOf(ended))]).toEqual([result, ...codes])
    expect([isPlan(ended.plan), isPlan.errors]).toEqual([true, null])
    expect(scene.memory.writes()).toEqual([])
  })

  test('safety limits, which only the option lifts', async () => {
    const { scene, given } = await refusedScene()
    const before = scene.memory.writes().length
    const refused = await apply(given())
    expect([refused.result, refused.plan.zones[0]?.refusals.map(({ name }) => name)]).toEqual(['refused', ['deletes']])
    expect(scene.memory.writes()).toHaveLength(before)
    expect((await apply(given({ allow: ['deletes'] }))).result).toBe('done')
  })

  const OPTIONS: readonly (readonly [options: object, message: string])[] = [
    [{ targets: 'cloud' }, 'there is no such option: "targets"'],
    [{ target: ['cloud'] }, 'the option target must be a text'],
    [{ allow: ['everything'] }, 'the option allow must be a list of such values: "everything" is not one of'],
    [{ zones: 'example.com' }, 'the option zones must be a list of texts'],
    [{ allow: 'deletes' }, 'the option allow must be a list of texts'],
    [{ cwd: 5 }, 'the option cwd must be a text'],
    [{ shard: { index: 3, count: 2 } }, 'the option shard must be an index from 1 and a count'],
    [{ shard: { index: 1, count: 257 } }, 'the option shard must be an index from 1 and a count up to 256'],
    [{ prefer: ['calls'] }, 'the option prefer must be one of continuity, calls'],
    [{ env: { CI: 1 } }, 'the option env must be an object of texts'],
    [{ variables: { port: 53 } }, 'the option variables must be an object of texts'],
    [{ journal: undefined }, 'a provider in memory needs the option journal'],
    [{ wait: -1 }, 'the option wait must be a whole number above 0'],
    [{ planFile: 'plan.json', zones: ['example.com'] }, 'planFile has its own zones'],
  ]
  test.each(OPTIONS)('the options %j', async (options, message) => {
    const { scene, given } = open()
    const { result, diagnostics } = await apply(given(options))
    expect([result, diagnostics.length, diagnostics[0]?.code]).toEqual(['failed', 1, 'usage'])
    expect(diagnostics[0]?.message).toContain(message)
    expect(scene.memory.requests).toEqual([])
  })

  test.each([[[]], [null], ['example.com'], [5]])('options that are no object: %j', async (options) => {
    const { result, diagnostics } = await apply(options as never)
    expect([result, ...diagnostics.map(({ message }) => message)]).toEqual(['failed', 'the options must be an object'])
  })

  test('an empty list of zones selects nothing', async () => {
    const { scene, given } = open()
    expect(await apply(given({ zones: [] }))).toMatchObject({ result: 'done', plan: { zones: [] } })
    expect(scene.memory.requests).toEqual([])
  })
})

describe('a run', () => {
  /** Waits in the first call until the returned function is called. */
  function held(scene: Scene): { readonly reached: Promise<void>; readonly go: () => void } {
    const reached = new AbortController()
    const going = new AbortController()
    scene.memory.use(async ({ kind }) => {
      if (kind === 'write') {
        reached.abort()
        await aborted(going)
      }
      return null
    })
    return { reached: aborted(reached), go: () => going.abort() }
  }

  test('locks its zones against another one of the same process, which may wait', async () => {
    const { scene, given } = open()
    const { reached, go } = held(scene)
    const first = apply(given())
    await reached
    const busy = await apply(given())
    expect([busy.result, errorsOf(busy)]).toEqual(['failed', ['zone-locked']])
    const messages: string[] = []
    const waiting = apply(
      given({
        wait: 60,
        onMessage: (text) => {
          messages.push(text)
          if (text.startsWith('Waiting')) go()
        },
      }),
    )
    expect([(await first).result, (await waiting).result]).toEqual(['done', 'done'])
    expect(messages.join('\n')).toContain('Waiting: ')
  })

  test('ends after the open requests when its signal is aborted, and unlocks its zones', async () => {
    const { scene, given } = open()
    const { reached, go } = held(scene)
    const controller = new AbortController()
    const stopped = apply(given({ signal: controller.signal }))
    await reached
    controller.abort()
    go()
    const ended = await stopped
    expect([ended.result, ended.run.exitStatus]).toEqual(['interrupted', 130])
    expect(ended.plan.zones[0]?.changes.map(({ outcome }) => outcome?.state)).toEqual(['applied', 'skipped', 'skipped', 'skipped'])
    scene.memory.use(undefined)
    expect((await apply(given())).result).toBe('done')
  })

  test.each([plan, verify, loadDefinitions, apply])('%o contacts nobody if it was stopped before', async (call) => {
    const { scene, given } = open()
    expect((await call(given({ signal: AbortSignal.abort() }))).result).toBe('interrupted')
    expect(scene.memory.requests).toEqual([])
  })

  test('that only reads ends between two zones', async () => {
    const { scene, given } = open({
      files: zoneFiles(Array.from({ length: 40 }, (_, i) => `zone${i}.example`)),
      latency: 1,
      parallelism: 16,
    })
    const warned = vi.spyOn(process, 'emitWarning')
    expect((await apply(given())).result).toBe('done')
    const controller = new AbortController()
    const before = scene.memory.requests.length
    const onProgress = (): void => controller.abort()
    const ended = await plan(given({ signal: controller.signal, onProgress }))
    expect([ended.result, errorsOf(ended).length > 0]).toEqual(['interrupted', true])
    expect(scene.memory.requests.length - before).toBeLessThan(60)
    // Such as that of many listeners at one signal.
    expect(warned).not.toHaveBeenCalled()
    warned.mockRestore()
  })

  test('asks for consent with the plan, and applies nothing without', async () => {
    const { scene, given } = open()
    const asked: number[] = []
    const confirm = (yes: boolean) => (shown: { readonly summary: { readonly create: number } }) => {
      asked.push(shown.summary.create)
      return yes
    }
    const declined = await apply(given({ confirm: confirm(false) }))
    expect([declined.result, errorsOf(declined), scene.memory.writes()]).toEqual(['failed', ['not-confirmed'], []])
    expect((await apply(given({ confirm: confirm(true) }))).result).toBe('done')
    expect(asked).toEqual([4, 4])
    const failing = (): never => {
      throw new Error('of the caller')
    }
    scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.1', '192.0.2.9') })
    await expect(apply(given({ confirm: failing }))).rejects.toThrow('of the caller')
    // What fails while calls are sent does not cut the run short.
    const later = async (): Promise<never> => failing()
    for (const onProgress of [failing, later]) await expect(apply(given({ onProgress }))).rejects.toThrow('of the caller')
    expect(scene.memory.zone('example.com.')?.[0]).toContain('192.0.2.9')
    expect((await apply(given())).result).toBe('done')
  })

  /** The methods of a provider without zones. */
  const EMPTY = { listZones: async () => [], readZone: async () => [], apply: async () => undefined }

  /** A provider, one of whose methods never answers. */
  function silent(method: 'listZones' | 'apply' | 'create' | 'close') {
    const reached = new AbortController()
    const wait = (): Promise<never> => {
      reached.abort()
      return new Promise(() => undefined)
    }
    const methods = { ...EMPTY, [method]: wait }
    const cloud: ProviderPackage = {
      ...{ apiVersion: 1, settings: {}, capabilities: { createsZones: true } },
      create: () => (method === 'create' ? wait() : { address: 'silent:', ...methods }),
    }
    return { providers: { cloud }, reached: aborted(reached) }
  }

  test.each([plan, apply, verify].flatMap((call) => (['listZones', 'create'] as const).map((method) => [call, method] as const)))(
    '%o ends when it is stopped although %s never answers',
    async (call, method) => {
      const { given } = open()
      const { providers, reached } = silent(method)
      const controller = new AbortController()
      const stopped = call(given({ providers, signal: controller.signal }))
      await reached
      controller.abort()
      expect((await stopped).result).toBe('interrupted')
    },
  )

  test('waits 10 s for a provider to close, and its result is not lost', async () => {
    const { given } = open()
    const { providers, reached } = silent('close')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const planning = plan(given({ providers }))
    try {
      await reached
      await vi.advanceTimersByTimeAsync(10_000)
    } finally {
      vi.useRealTimers()
    }
    const ended = await planning
    expect([ended.result, errorsOf(ended), ended.plan.summary.create]).toEqual(['failed', ['provider-stopped'], 4])
  })

  const fail = (): never => {
    throw new Error('of the provider')
  }
  test.each(['rules', 'canCreateZone', 'settingProblems'])('reports that %s of a provider throws', async (key) => {
    const { given } = open()
    const { cloud } = silent('create').providers
    const capabilities = { createsZones: true, settings: new Set(['soa_email'] as const), [key]: key === 'rules' ? [fail] : fail }
    const ended = await plan(given({ providers: { cloud: { ...cloud, capabilities, create: () => ({ address: 'x:', ...EMPTY }) } } }))
    expect([ended.result, errorsOf(ended)]).toEqual(['failed', ['provider-failed']])
    expect(ended.diagnostics.at(-1)?.message).toContain('of the provider')
  })

  test('waits 10 s for a change that is never answered, whose result is unknown', async () => {
    const { given } = open()
    const { providers, reached } = silent('apply')
    const controller = new AbortController()
    const stopped = apply(given({ providers, signal: controller.signal }))
    await reached
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      controller.abort()
      await vi.advanceTimersByTimeAsync(10_000)
    } finally {
      vi.useRealTimers()
    }
    const ended = await stopped
    expect([ended.result, errorsOf(ended)]).toEqual(['interrupted', expect.arrayContaining(['change-unknown'])])
    expect(ended.plan.zones[0]?.changes[0]?.outcome?.state).toBe('unknown')
  })

  test('ends when it is stopped while it waits for consent', async () => {
    const { scene, given } = open()
    const controller = new AbortController()
    const confirm = (): Promise<boolean> => {
      controller.abort()
      return new Promise(() => undefined)
    }
    expect((await apply(given({ confirm, signal: controller.signal }))).result).toBe('interrupted')
    expect(scene.memory.writes()).toEqual([])
  })

  test('says why changes were not applied', async () => {
    const { scene, given } = open()
    scene.memory.use(({ kind }) => (kind === 'write' ? { kind: 'refused', code: 'provider-rejected', message: '400 no' } : null))
    const ended = await apply(given())
    expect([ended.result, errorsOf(ended)]).toEqual(['failed', ['change-failed']])
    expect(ended.diagnostics.at(-1)?.message).toContain('400 no')
    expect(ended.run.errors.map(({ code }) => code)).toEqual(['change-failed'])
  })

  test('applies a saved plan', async () => {
    const { scene, given } = open()
    await plan(given({ out: 'plan.json' } as never))
    expect(JSON.parse(readFileSync(join(scene.folder, 'plan.json'), 'utf8'))).toMatchObject({ format: 'zonewright-plan' })
    expect((await apply(given({ planFile: 'plan.json' }))).result).toBe('done')
    expect(errorsOf(await apply(given({ planFile: 'plan.json' })))).toEqual(['plan-stale'])
  })

  test('reports what a provider answers as a diagnostic', async () => {
    const { scene, given } = open()
    scene.memory.use(() => ({ kind: 'refused', code: 'provider-rejected', message: '401 no', status: '401' }))
    const ended = await plan(given())
    expect([ended.result, errorsOf(ended)]).toEqual(['failed', ['provider-rejected']])
  })

  test('withholds documents with a secret of its environment', async () => {
    const { scene, given } = open({ files: { 'zones/example.com.yaml': `${ZONE}  t: {type: TXT, value: ${TOKEN}}\n` } })
    for (const call of [plan, apply, loadDefinitions]) {
      const ended = await call(given())
      expect(JSON.stringify(ended)).not.toContain(TOKEN)
      expect([ended.result, errorsOf(ended)[0]]).toEqual(['failed', 'secret-exposed'])
    }
    expect(scene.memory.writes()).toEqual([])
    scene.write({ 'zones/example.com.yaml': ZONE })
    const leaking = { kind: 'refused', code: 'provider-rejected', message: `no ${TOKEN}` } as const
    scene.memory.use(({ kind }) => (kind === 'write' ? leaking : null))
    const messages: string[] = []
    const leaked = await apply(given({ onMessage: (text) => void messages.push(text) }))
    expect(JSON.stringify([leaked, messages])).not.toContain(TOKEN)
    expect(leaked.result).toBe('failed')
  })
})
