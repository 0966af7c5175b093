/** The Python client of the hosting service, unchanged; `python/linode_api4_walk.py` uses it. */
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { findForeignClient } from '../../support/foreign-clients.ts'
import { describeWithTools } from '../../support/skip.ts'
import { isInSection, isServed, runClient, startClientService } from './client-service.ts'

const PROGRAM = fileURLToPath(new URL('python/linode_api4_walk.py', import.meta.url))

const python = findForeignClient('python-clients')

/** The requests of each operation, as method, path and status. */
type Requests = Readonly<Record<string, readonly string[]>>

/** Operations that the introspection cannot cause to make a request of their own: these are used, too. */
const ALSO_USED = [
  ...['get', 'post', 'put', 'delete', 'load'].map((name) => `LinodeClient.${name}`),
  'LinodeGroup.stackscript_create',
  'ProfileGroup.security_questions_answer',
  'ProfileGroup.ssh_key_upload',
  'Tag.load',
]

/** Groups of other sections, and operations that make no request or one that the service does not have. */
const OTHERS =
  /^((Account|Networking|Longview|ObjectStorage|LKE|Database|Volume|Polling|Monitor|ImageShareGroup)\w*\.|\w+\.invalidate$|LinodeClient\.volume_create$|Instance\.(lke_cluster|placement_group|rebuild|stats_for)$)/

const run = (args: readonly string[], env?: Readonly<Record<string, string>>) => runClient(python, ['-B', PROGRAM, ...args], env)

describeWithTools([python], 'linode_api4', () => {
  let operations: readonly { readonly name: string; readonly requests: readonly string[] }[] = []
  let served: readonly string[] = []

  beforeAll(async () => {
    const found: Requests = await run(['operations'])
    operations = Object.entries(found).map(([name, requests]) => ({
      name,
      requests: requests.map((request) => request.slice(0, request.lastIndexOf(' '))),
    }))
    served = operations.filter(({ requests }) => requests.length > 0 && requests.every(isServed)).map(({ name }) => name)
  })

  test('has operations in all sections, and none without a request that is not known', () => {
    expect(operations.length).toBeGreaterThan(300)
    expect(served.length).toBeGreaterThan(70)
    expect(operations.flatMap(({ name, requests }) => (requests.length > 0 || OTHERS.test(name) ? [] : [name])).sort()).toEqual(
      [...ALSO_USED].sort(),
    )
  })

  test.each(['v4', 'v4beta'])('every operation of the service succeeds under %s', async (version) => {
    const { environment } = await startClientService()
    const { requests, problems } = await run(['walk'], { ...environment, VERSION: version })
    expect(problems).toEqual([])
    const succeeded = (name: string): boolean => (requests[name] ?? []).some((request: string) => / 20[04]$/.test(request))
    expect([...served, ...ALSO_USED].filter((name) => !succeeded(name))).toEqual([])
  })

  test('operations that the service does not have are refused', async () => {
    const absent = operations.filter(({ name, requests }) => requests.some(isInSection) && !served.includes(name)).map(({ name }) => name)
    expect(absent.length).toBeGreaterThan(50)
    const { environment } = await startClientService()
    const answers: Requests = await run(['absent', ...absent], environment)
    for (const name of absent) expect([name, answers[name]?.at(-1)]).toEqual([name, expect.stringMatching(/ 40[045]$/)])
  })
})
