/** The packages that are not bundled: native, optional, or looked up by name at run time (pino starts worker threads from files). */
export const EXTERNAL = [
  '@aws-sdk/*',
  'fastify',
  '@fastify/*',
  'kysely',
  'libsql',
  '@libsql/*',
  // Named so that users get the version that Node 20 runs, since npm heeds no overrides of a dependency.
  'light-my-request',
  'pg',
  'pg-native',
  'pino',
  'pino-*',
  'prom-client',
  'thread-stream',
]
