/**
 * The two things of undici that are used, from files of their own, put together as its index does: the whole takes twice as long
 * to load. In a module of its own: bundled, it is loaded with the first request.
 */
import type { Pool as PoolOfUndici } from 'undici'
// @ts-expect-error these files have no types of their own: they are those of the package.
import request from 'undici/lib/api/api-request.js'
// @ts-expect-error
import pool from 'undici/lib/dispatcher/pool.js'

Object.assign(pool.prototype, { request })

export const Pool: typeof PoolOfUndici = pool
