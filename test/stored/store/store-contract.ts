/** What every store of a journal must do. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SourceState } from '../../../src/plan/source-state.ts'
import { readState, updateState } from '../../../src/run/read/fill-job.ts'
import type { JournalStore } from '../../../src/stored/store/journal-store.ts'

export function storeContract(what: string, open: () => Promise<JournalStore>): void {
  describe(`${what} as a store`, () => {
    let store: JournalStore
    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store.close())
    const versionOf = async (name: string): Promise<string> => (await store.read(name))?.version ?? 'missing'

    it('has no object before one is written', async () => {
      expect(await store.read('leases/none')).toBeNull()
      expect(await store.list('leases/')).toEqual([])
      expect(await store.remove('leases/none', 'any')).toBe('removed')
      expect((await store.write('leases/none', '{}', '17')).state).toBe('conflict')
    })

    it('creates an object once', async () => {
      const text = '{"holder":"ü € 💡"}'
      const first = await store.write('leases/one', text, null)
      expect(first.state).toBe('written')
      expect((await store.write('leases/one', '{"other":true}', null)).state).toBe('conflict')
      const read = await store.read('leases/one')
      expect(read?.text).toBe(text)
      expect(first).toEqual({ state: 'written', version: read?.version })
      expect(Math.abs((await store.clock()) - (read?.modified ?? 0))).toBeLessThan(10_000)
    })

    it('replaces only the expected version', async () => {
      await store.write('fences', '1', null)
      const old = await versionOf('fences')
      expect((await store.write('fences', '2', old)).state).toBe('written')
      expect((await store.write('fences', '3', old)).state).toBe('conflict')
      expect((await store.read('fences'))?.text).toBe('2')
      expect((await store.write('fences', '1', await versionOf('fences'))).state).toBe('written')
      expect((await store.write('fences', '4', 'any')).state).toBe('written')
      expect((await store.read('fences'))?.text).toBe('4')
    })

    it('removes only the expected version, and creates a removed object again', async () => {
      await store.write('leases/two', '1', null)
      const old = await versionOf('leases/two')
      await store.write('leases/two', '2', old)
      expect(await store.remove('leases/two', old)).toBe('conflict')
      expect(await store.remove('leases/two', await versionOf('leases/two'))).toBe('removed')
      expect(await store.read('leases/two')).toBeNull()
      expect((await store.write('leases/two', '3', old)).state).toBe('conflict')
      expect((await store.write('leases/two', '4', null)).state).toBe('written')
    })

    it('keeps the counts of all runs that write the state of the sources of a zone at once', async () => {
      const counted = (state: SourceState, value: string): SourceState => ({
        ...state,
        absent: new Map([...state.absent, [value, { since: 1, counted: 1, reads: (state.absent.get(value)?.reads ?? 0) + 1 }]]),
      })
      const runs = ['a', 'b', 'c', 'd'].map((value) =>
        updateState(store, 'example.com.', 'cloud', ({ state }) => ({
          result: { state: counted(counted(state, value), 'all') },
          isChanged: true,
        })),
      )
      await Promise.all(runs)
      const { state } = await readState(store, 'example.com.', 'cloud')
      expect([...state.absent].map(([value, { reads }]) => `${value} ${reads}`)).toEqual(['a 1', 'all 4', 'b 1', 'c 1', 'd 1'])
    })

    it('lists the objects of a prefix with their versions', async () => {
      for (const name of ['state/b', 'state/a', 'state/below/c', 'states/d']) await store.write(name, '1', 'any')
      const listed = await store.list('state/')
      expect(listed.map(({ name }) => name)).toEqual(['state/a', 'state/b', 'state/below/c'])
      expect(listed[0]?.version).toBe(await versionOf('state/a'))
      expect((await store.list('state/below/')).map(({ name }) => name)).toEqual(['state/below/c'])
    })

    it('lets one of many writers of a version succeed', async () => {
      await store.write('fences', 'before', 'any')
      const version = await versionOf('fences')
      const written = await Promise.all(Array.from({ length: 8 }, (_, index) => store.write('fences', `${index}`, version)))
      expect(written.filter(({ state }) => state === 'written')).toHaveLength(1)
    })

    it('takes no name that leads elsewhere', async () => {
      for (const name of ['../x', '/x', 'a//b', '.hidden', 'a/../../b'])
        await expect(store.write(name, '', 'any')).rejects.toThrow('no name of a stored object')
    })
  })
}
