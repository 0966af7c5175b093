/**
 * The two things of undici that are used, from files of their own, put together as its index does: the whole takes twice as long
 * to load. In a module of its own: bundled, it is loaded with the first request.
 */
import { setFlagsFromString } from 'node:v8'
import type { Pool as PoolOfUndici } from 'undici'
// @ts-expect-error these files have no types of their own: they are those of the package.
import request from 'undici/lib/api/api-request.js'
// @ts-expect-error
import pool from 'undici/lib/dispatcher/pool.js'

// undici parses HTTP in WebAssembly, compiled when the first connection opens. Optimising that code takes V8 some 30 MiB and more time
// than thousands of answers win back, so the baseline compiler is left to it.
setFlagsFromString('--liftoff-only')

Object.assign(pool.prototype, { request })

export const Pool: typeof PoolOfUndici = pool
