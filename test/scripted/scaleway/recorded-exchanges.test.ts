/** The scripted Scaleway answers as the real one did. */
import type { RecordedCase } from '../replay.ts'
import { replayTests } from '../replay-tests.ts'
import type { ScalewayRecord } from './records.ts'
import { createScaleway } from './service.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

interface List {
  readonly total_count: number
  readonly records: readonly ScalewayRecord[]
}

const listsOf = ({ exchanges }: RecordedCase): List[] =>
  exchanges.filter(({ method, status }) => method === 'GET' && status === 200).map(({ response }) => JSON.parse(response) as List)

/** The records at the start of a case, and how many it adds. The cases are not stored in the order in which they were recorded; each begins where another ended. */
function orderOf(one: RecordedCase): readonly [start: number, added: number] {
  const lists = listsOf(one)
  const start = lists[0]?.total_count ?? 0
  const creates = one.exchanges.filter(({ request }) => request.includes('"add"')).length
  const deletes = one.exchanges.flatMap(({ request }) => request.match(/"delete"/g) ?? []).length
  return [start, creates - deletes]
}

replayTests({
  name: 'scaleway',
  size: [28, 124],
  generated: {
    pattern: (field) => (field === 'id' ? UUID : null),
    // Records with the same name are in any order.
    keyOf: (field) => (field === 'records' ? (item) => ['name', 'type', 'data'].map((key) => String(item[key])).join(' ') : null),
  },
  sort: (a, b) => {
    const [[startA, addedA], [startB, addedB]] = [orderOf(a), orderOf(b)]
    return startA - startB || addedA - addedB
  },
  seed(cases) {
    const records = listsOf(cases.find((one) => one.case === 'test_provider_authenticate') as RecordedCase)[0]?.records ?? []
    const { service } = createScaleway({ token: 'test-token', zones: [{ domain: 'example.com', records }] })
    return { service, headers: { 'x-auth-token': 'test-token' }, shared: records.map(({ id }) => id) }
  },
})
