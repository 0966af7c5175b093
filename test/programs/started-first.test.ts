/** The process that runs programs starts before the first secret of the config is read, and only if a program is used. */
import { beforeEach, expect, test, vi } from 'vitest'
import type { ProviderType } from '../../src/providers/provider.ts'
import { openScene } from '../cli/scene.ts'
import { expectEnd } from '../support/cli.ts'

const events = vi.hoisted((): string[] => [])

/** The functions of a module; calls of those with a name are noted. */
const noting = vi.hoisted(() => async (load: () => Promise<object>, names: Readonly<Record<string, string>>) => {
  const module = (await load()) as Record<string, (...args: unknown[]) => unknown>
  const noted = Object.entries(names).map(([name, event]) => {
    const note = (...args: unknown[]) => {
      events.push(event)
      return module[name]?.(...args)
    }
    return [name, note]
  })
  return { ...module, ...Object.fromEntries(noted) }
})
vi.mock('node:child_process', (load) => noting(load, { spawn: 'start' }))
vi.mock('../../src/config/resolve-secret.ts', (load) => noting(load, { resolveSecret: 'secret', registerSecrets: 'secret' }))

const CONFIG = 'zones: [{files: "zones/*.{yaml,ts}"}]\ndefaults: {soa_email: hostmaster@example.com}\n'
const PROGRAM = "import { zone, A } from 'zonewright/definition'\nzone('example.com', {}, [A('www', '192.0.2.1')])\n"

function open(files?: Readonly<Record<string, string>>) {
  const scene = openScene({ ...(files && { files }), config: CONFIG })
  const noted = (type: ProviderType): ProviderType => ({
    ...type,
    create(...args) {
      events.push('provider')
      return type.create(...args)
    },
  })
  const providerTypes = new Map([...scene.providerTypes].map(([name, type]) => [name, noted(type)]))
  return { ...scene, run: (...args: string[]) => scene.runIn({ providerTypes }, ...args) }
}

beforeEach(() => void events.splice(0))

// The process lives as long as the others need it, so runs without programs come first.
test('without a program, nothing starts', async () => {
  const scene = open()
  expectEnd(await scene.run('plan'), 0)
  expect(new Set(events)).toEqual(new Set(['secret', 'provider']))
})

test('a run that reads no definition starts nothing', async () => {
  expectEnd(await open({ 'zones/a.ts': PROGRAM }).run('providers'), 0)
  expect(events).toEqual(['secret'])
})

test('with a program, its process starts before a secret is read', async () => {
  expectEnd(await open({ 'zones/a.ts': PROGRAM }).run('plan'), 0)
  expect(events.slice(0, 2)).toEqual(['start', 'secret'])
  expect(events).toContain('provider')
})
