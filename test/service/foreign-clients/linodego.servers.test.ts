/** The Go client of the hosting service, unchanged; `linodego/` has the program that uses it. */
import { beforeAll, expect, test } from 'vitest'
import { findForeignClient } from '../../support/foreign-clients.ts'
import { describeWithTools } from '../../support/skip.ts'
import { isInSection, isServed, runClient, startClientService } from './client-service.ts'

interface Operation {
  readonly name: string
  /** Requests as method, path and status. */
  readonly requests: readonly string[]
}

/**
 * Methods whose only request the service refuses: one filters configuration profiles by `interfaces`, which the API does not allow, the other sends
 * `remove_nameserver` for `remote_nameserver`.
 */
const REFUSED = ['GetVLANIPAMAddress', 'ImportDomain']

/** Methods without a request, or with one that its introspection cannot cause. */
const WITHOUT_REQUEST =
  /^(Set\w+|Add\w*Condition|Use\w+|On\w+|Invalidate\w+|GetPollDelay|LoadConfig|R|NewEventPollerWithoutEntity|UploadImageToURL|WaitForDatabaseStatus)$/

const client = findForeignClient('linodego')

const withoutStatus = (request: string): string => request.slice(0, request.lastIndexOf(' '))

const findOperations = async (): Promise<readonly Operation[]> =>
  (await runClient(client, ['operations'])).map(({ name, requests }: Operation) => ({ name, requests: requests.map(withoutStatus) }))

describeWithTools([client], 'linodego', () => {
  let operations: readonly Operation[] = []
  let served: readonly string[] = []

  beforeAll(async () => {
    operations = await findOperations()
    served = operations.filter(({ requests }) => requests.some(isServed)).map(({ name }) => name)
  })

  test('has operations in all sections, and no method without a request that is not known', () => {
    expect(operations.length).toBeGreaterThan(400)
    expect(served.length).toBeGreaterThan(75)
    expect(operations.filter(({ name, requests }) => requests.length === 0 && !WITHOUT_REQUEST.test(name))).toEqual([])
  })

  test.each(['v4', 'v4beta'])('every operation of the service succeeds under %s', async (version) => {
    const { environment } = await startClientService()
    const { requests, problems } = await runClient(client, ['walk'], { ...environment, VERSION: version })
    expect(problems).toEqual([])
    const succeeded = (name: string): boolean => (requests[name] ?? []).some((request: string) => / 20[04]$/.test(request))
    expect(served.filter((name) => !succeeded(name))).toEqual(REFUSED)
  })

  test('operations that the service does not have are refused', async () => {
    const absent = operations.filter(({ name, requests }) => requests.some(isInSection) && !served.includes(name)).map(({ name }) => name)
    expect(absent.length).toBeGreaterThan(40)
    const { environment } = await startClientService()
    const answers: Record<string, string[]> = await runClient(client, ['absent', ...absent], environment)
    for (const name of absent) expect([name, ...new Set(answers[name])]).toEqual([name, expect.stringMatching(/ 40[045]$/)])
  })
})
