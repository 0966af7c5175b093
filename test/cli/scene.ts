import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, type TestContext } from 'vitest'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { CLOUD } from '../../src/providers/cloud/cloud-config.ts'
import { createMemory, type Memory, type MemoryOptions } from '../../src/providers/memory/memory-provider.ts'
import type { ProviderType } from '../../src/providers/provider.ts'
import type { GivenTypes } from '../../src/providers/registry.ts'
import { type CliResult, type CliSetting, cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

/** The token of every scene. No output may ever contain it. */
export const TOKEN = 'zw-test-token-5b0c94e1d7a2'

/** A folder with a config and definitions, and functions that run the program in this process, without a terminal. */
export interface FolderScene {
  readonly folder: string
  readonly expect: TestContext['expect']
  run(...args: string[]): Promise<CliResult>
  /** The same with additional environment variables. */
  runWith(env: Readonly<Record<string, string | undefined>>, ...args: string[]): Promise<CliResult>
  write(files: Readonly<Record<string, string>>): void
  /** The text of every file, by path. */
  files(): Record<string, string>
  /** The text of the config. */
  config(): string
}

/** A scene whose provider `cloud` is in memory, with the capabilities, settings and checks of the cloud service. */
export interface Scene extends FolderScene {
  readonly memory: Memory
  readonly providerTypes: GivenTypes
  /** Runs the program with another clock, input, folder or environment. */
  runIn(setting: Partial<CliSetting>, ...args: string[]): Promise<CliResult>
  /** Another folder with this config, the same zones in memory, and these files. */
  elsewhere(files?: Readonly<Record<string, string>>): Scene
}

export interface SceneOptions extends Partial<MemoryOptions> {
  readonly files?: Readonly<Record<string, string>>
  /** More settings of the provider, in flow style. */
  readonly provider?: string
  /** Lines for the end of the config. */
  readonly config?: string
  /** Names of other entries in the config with the same zones in memory. */
  readonly also?: readonly string[]
  /** The types of other entries in the config, by name. */
  readonly types?: Readonly<Record<string, ProviderType>>
  readonly now?: () => Date
}

/** A zone with three records, in the canonical layout. */
export const ZONE = `domain: example.com
soa_email: hostmaster@example.com
records:
  '': {type: A, value: 192.0.2.1}
  mail: {type: A, ttl: 1h, value: 192.0.2.2}
  www: {type: CNAME, value: '@'}
`

/** The same zone by another name. */
export const zoneOf = (name: string, text = ZONE): string => text.replaceAll('example.com', name)

/** The files of zones with these names. */
export const zoneFiles = (names: readonly string[], text = ZONE): Record<string, string> =>
  Object.fromEntries(names.map((name) => [`zones/${name}.yaml`, zoneOf(name, text)]))

/** Concurrent tests must pass their context. */
export function openScene(options: SceneOptions = {}, context: Pick<TestContext, 'expect'> = { expect }): Scene {
  const { files = { 'zones/example.com.yaml': ZONE }, provider = '', config = '', also = [], types = {} } = options
  const memory = createMemory({ capabilities: CLOUD_CAPABILITIES, settings: { soa_email: 'hostmaster@example.com' }, ...options })
  const extra = provider === '' ? '' : `, ${provider}`
  const entry = `providers:\n  cloud: {type: cloud, base_url: 'http://127.0.0.1:9/v4', token: 'env:ZONEWRIGHT_TOKEN'${extra}}\n`
  const providerTypes = new Map([...['cloud', ...also].map((name) => [name, memory.as(CLOUD)] as const), ...Object.entries(types)])
  const at = (text: string, some: Readonly<Record<string, string>>): Scene => {
    const folder = temporaryDirectory()
    const setting = { cwd: folder, providerTypes, ...(options.now && { now: options.now }) }
    const runIn: Scene['runIn'] = async ({ env, ...more }, ...args) =>
      withoutToken(await cli(args, { ...setting, ...more, env: { ZONEWRIGHT_TOKEN: TOKEN, ...env } }))
    const scene = folderScene(folder, context.expect, (args, env) => runIn({ env }, ...args))
    scene.write({ 'zonewright.yaml': text, ...some })
    const elsewhere: Scene['elsewhere'] = (others = {}) => at(scene.config(), others)
    return { ...scene, memory, providerTypes, runIn, elsewhere }
  }
  return at(entry + config, files)
}

/** A scene whose zones are live: an apply has created them. */
export async function openLiveScene(options: SceneOptions = {}): Promise<Scene> {
  const scene = openScene(options)
  expectEnd(await scene.run('apply', '--yes'), 0)
  return scene
}

export function folderScene(
  folder: string,
  expectOf: TestContext['expect'],
  runIn: (args: readonly string[], env: Readonly<Record<string, string | undefined>>) => Promise<CliResult>,
): FolderScene {
  const runWith: FolderScene['runWith'] = async (env, ...args) => withoutToken(await runIn(args, env))
  return {
    folder,
    expect: expectOf,
    runWith,
    run: (...args) => runWith({}, ...args),
    write(some) {
      for (const [path, text] of Object.entries(some)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), text)
      }
    },
    config: () => readFileSync(join(folder, 'zonewright.yaml'), 'utf8'),
    // The journal's own file exists from the first run that may change zones on.
    files: () => Object.fromEntries(Object.entries(filesBelow(folder)).filter(([path]) => path !== '.zonewright/.gitignore')),
  }
}

/** Expects no token in the output. */
export function withoutToken(result: CliResult): CliResult {
  expect(result.stdout + result.stderr).not.toContain(TOKEN)
  return result
}

export function filesBelow(folder: string): Record<string, string> {
  const files: Record<string, string> = {}
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile()) files[relative(folder, path)] = readFileSync(path, 'utf8')
  }
  return files
}

/** Expects exit 1, a diagnostic with the code, no write and no changed file. */
export async function expectNothingDone(
  scene: FolderScene & ({ readonly memory: Pick<Memory, 'writes'> } | { readonly proxy: { mutations(): readonly unknown[] } }),
  code: string,
  ...args: string[]
): Promise<CliResult> {
  const { expect } = scene
  const writes = (): readonly unknown[] => ('memory' in scene ? scene.memory.writes() : scene.proxy.mutations())
  const before = [scene.files(), writes().length]
  const result = await scene.run(...args)
  expect.soft(`${result.stdout}${result.stderr}`).toMatch(new RegExp(`error\\[${code}\\] \\S`))
  expect.soft(result.status).toBe(1)
  expect.soft([scene.files(), writes().length]).toEqual(before)
  return result
}
