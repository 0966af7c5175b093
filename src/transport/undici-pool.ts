/** The one thing of undici that is used, in a module of its own: bundled, it is loaded with the first request. */
export { Pool } from 'undici'
