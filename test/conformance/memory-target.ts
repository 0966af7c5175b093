/** The provider in memory with the capabilities of each kind of target, for the suites that every provider passes. */
import { setTimeout as wait } from 'node:timers/promises'
import { type Capabilities, RRSET_STORE } from '../../src/plan/capabilities.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { CLOUD } from '../../src/providers/cloud/cloud-config.ts'
import { createMemory, type MemoryFault } from '../../src/providers/memory/memory-provider.ts'
import type { Fault } from '../support/fault-proxy.ts'
import { CALL_RULES } from '../support/plan.ts'
import { rounds } from '../support/random.ts'
import { type TargetKind, ZONE } from './targets.ts'

const rrsetStore = (calls: Partial<Capabilities['calls']>): Capabilities => ({ ...RRSET_STORE, calls: { ...RRSET_STORE.calls, ...calls } })

const kindOf = (name: string, capabilities: Capabilities, settings: object = {}): TargetKind => ({
  name: `memory, ${name}`,
  tools: [],
  isInMemory: true,
  // Larger steps are for the long tests: here they would only repeat what the sizes of a call show.
  ...(rounds(1) > 1 ? {} : { maxSize: 120 }),
  async start() {
    const memory = createMemory({ capabilities, zones: capabilities.createsZones ? {} : { [ZONE]: '' } })
    const entry = "{type: cloud, base_url: 'http://127.0.0.1:9', token: env:TOKEN}"
    return {
      entry,
      type: memory.as(CLOUD),
      env: { TOKEN: 'token' },
      settings,
      transfer: async () => (memory.zone(ZONE) ?? []).map((line) => line.replace(/^(\S+) (\S+) /, '$1 $2 IN ').replace(' - IN', ' 0 IN')),
      async startProxy() {
        let [number, underWay] = [0, 0]
        return {
          entry,
          proxy: {
            count: () => number,
            use(choose) {
              memory.use(async ({ kind }) => {
                number += 1
                const fault = choose({ method: kind === 'write' ? 'POST' : 'GET', path: '/', number })
                if (fault.kind === 'late') {
                  underWay += 1
                  void wait(fault.by + 5).then(() => {
                    underWay -= 1
                  })
                }
                if (fault.kind === 'delay') await wait(fault.before)
                return memoryFault(fault)
              })
            },
            async untilIdle() {
              while (underWay > 0) await wait(5)
            },
            close: async () => memory.use(undefined),
          },
        }
      },
      stop: async () => undefined,
    }
  },
})

/** What a fault of a network is to the client. */
function memoryFault(fault: Fault): MemoryFault | null {
  switch (fault.kind) {
    case 'reset':
    case 'half-close':
    case 'silence':
      return { kind: 'lost', carriedOut: fault.when !== 'before' }
    case 'truncate':
      return { kind: 'lost', carriedOut: true }
    case 'late':
      return { kind: 'lost', carriedOut: fault.by }
    case 'answer':
      return fault.status === 429
        ? { kind: 'refused', code: 'provider-rate-limited', message: '429 Too many requests', status: '429' }
        : { kind: 'lost', carriedOut: fault.when === 'after' }
    default:
      return null
  }
}

export const MEMORY_RECORDS = kindOf('single records', CLOUD_CAPABILITIES, { soa_email: 'hostmaster@example.com' })
export const MEMORY_RRSETS = kindOf('record sets', rrsetStore(CALL_RULES.rrset))
export const MEMORY_BATCHES = kindOf('batches that are not atomic', rrsetStore({ maxUnits: 20, atomic: false, ordersChanges: false }))
export const MEMORY_MESSAGES = kindOf('messages with preconditions', rrsetStore(CALL_RULES.message))
export const MEMORY_ZONES = kindOf('whole zones', { ...rrsetStore(CALL_RULES.zone), createsZones: true, canCreateZone: () => true })
