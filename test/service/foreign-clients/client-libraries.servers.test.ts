/** The Python and Go clients of the hosting service, unchanged; `python/linode_api4_walk.py` and `linodego/` use them. */
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { findForeignClient } from '../../support/foreign-clients.ts'
import { describeWithTools } from '../../support/skip.ts'
import { isServed, runClient, startClientService } from './client-service.ts'
import { expectRow, pinnedVersion } from './client-table.ts'

/** The requests of each operation, as method, path and status. */
type Requests = Readonly<Record<string, readonly string[]>>

interface Library {
  readonly name: string
  /** The file with its version, and its name there. */
  readonly pinned: readonly [string, string]
  readonly program: string
  /** The arguments of the program before its command. */
  readonly args: readonly string[]
  /** Whether the service has the operation with these requests. */
  readonly isOurs: (requests: readonly string[]) => boolean
  /** Operations that the introspection cannot cause to make a request, but that the walk uses. */
  readonly alsoUsed: readonly string[]
  /** Operations without a request, or with one that the introspection cannot cause. */
  readonly withoutRequest: RegExp
  /** Operations whose only request the service refuses. */
  readonly refused: readonly string[]
}

const LIBRARIES: readonly Library[] = [
  {
    name: 'linode_api4',
    pinned: ['python/requirements.txt', 'linode-api4'],
    program: findForeignClient('python-clients'),
    args: ['-B', fileURLToPath(new URL('python/linode_api4_walk.py', import.meta.url))],
    isOurs: (requests) => requests.length > 0 && requests.every(isServed),
    alsoUsed: [
      ...['delete', 'get', 'load', 'post', 'put'].map((name) => `LinodeClient.${name}`),
      ...['LinodeGroup.stackscript_create', 'ProfileGroup.security_questions_answer', 'ProfileGroup.ssh_key_upload', 'Tag.load'],
    ],
    withoutRequest:
      /^((Account|Networking|Longview|ObjectStorage|LKE|Database|Volume|Polling|Monitor|ImageShareGroup)\w*\.|\w+\.invalidate$|LinodeClient\.volume_create$|Instance\.(lke_cluster|placement_group|rebuild|stats_for)$)/,
    refused: [],
  },
  {
    name: 'linodego',
    pinned: ['linodego/go.mod', 'linodego'],
    program: findForeignClient('linodego'),
    args: [],
    isOurs: (requests) => requests.some(isServed),
    alsoUsed: [],
    withoutRequest:
      /^(Set\w+|Add\w*Condition|Use\w+|On\w+|Invalidate\w+|GetPollDelay|LoadConfig|R|NewEventPollerWithoutEntity|UploadImageToURL|WaitForDatabaseStatus)$/,
    // One filters configuration profiles by `interfaces`, which the API does not allow, the other sends `remove_nameserver`.
    refused: ['GetVLANIPAMAddress', 'ImportDomain'],
  },
]

const withoutStatus = (request: string): string => request.slice(0, request.lastIndexOf(' '))

for (const { name, pinned, program, args, isOurs, alsoUsed, withoutRequest, refused } of LIBRARIES) {
  const run = (more: readonly string[], env?: Readonly<Record<string, string>>) => runClient(program, [...args, ...more], env)

  describeWithTools([program], name, () => {
    let operations: readonly { readonly name: string; readonly requests: readonly string[] }[] = []
    let served: readonly string[] = []

    beforeAll(async () => {
      const found: Requests | typeof operations = await run(['operations'])
      const all = Array.isArray(found) ? found : Object.entries(found as Requests).map(([one, requests]) => ({ name: one, requests }))
      operations = all.map((one) => ({ name: one.name, requests: one.requests.map(withoutStatus) }))
      served = operations.filter(({ requests }) => isOurs(requests)).map((one) => one.name)
    })

    test('has no operation without a request that is not known', () => {
      const silent = operations.filter((one) => one.requests.length === 0 && !withoutRequest.test(one.name))
      expect(silent.map((one) => one.name).sort()).toEqual(alsoUsed.toSorted())
    })

    test.each(['v4', 'v4beta'])('every operation of the service succeeds under %s', async (version) => {
      const { environment } = await startClientService()
      const { requests, problems } = await run(['walk'], { ...environment, VERSION: version })
      expect(problems).toEqual([])
      const succeeded = (one: string): boolean => (requests[one] ?? []).some((request: string) => / 20[04]$/.test(request))
      const used = [...served, ...alsoUsed]
      expect(used.filter((one) => !succeeded(one))).toEqual(refused)
      expectRow(name, pinnedVersion(...pinned), used.length, refused)
    })
  })
}
