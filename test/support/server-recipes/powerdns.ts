import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { runTool } from '../tools.ts'
import { plainKeyName, type ServerRecipe, type ServerSetup } from './recipe.ts'

export const POWERDNS_API_KEY = 'test-api-key'

/** Slim images leave out `/usr/share/doc`. */
const SCHEMA_FILES = ['/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql', '/usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql']

/** PowerDNS 4.7 on SQLite with its HTTP API on `apiPort`: primary, transfers, dynamic update. All caches are off. */
export const powerdns = (apiPort: number): ServerRecipe => ({
  tools: ['pdns_server', 'pdnsutil'],
  files: (setup) => ({
    'pdns.conf': config(setup, apiPort),
    ...Object.fromEntries(setup.zones.map(({ name, text }) => [`${name}.zone`, text])),
  }),
  prepare,
  command: ({ directory }) => ['pdns_server', `--config-dir=${directory}`],
  staleFiles: () => [],
  zoneFile: (zone) => `${zone}.zone`,
})

async function prepare({ directory, zones, key }: ServerSetup): Promise<void> {
  const schema = SCHEMA_FILES.find((file) => existsSync(file))
  if (schema === undefined) throw new Error(`the schema of pdns-backend-sqlite3 is not at ${SCHEMA_FILES.join(' or ')}`)
  const database = new Database(join(directory, 'pdns.db'))
  database.exec(readFileSync(schema, 'utf8'))
  database.close()
  const pdnsutil = async (...args: string[]): Promise<void> => {
    const { status, stdout, stderr } = await runTool('pdnsutil', [`--config-dir=${directory}`, ...args])
    if (status !== 0) throw new Error(`pdnsutil ${args[0]} failed: ${stderr || stdout}`)
  }
  if (key) await pdnsutil('import-tsig-key', plainKeyName(key), key.algorithm, key.secret)
  for (const { name } of zones) {
    await pdnsutil('load-zone', name, join(directory, `${name}.zone`))
    await pdnsutil('set-kind', name, 'primary')
    if (!key) continue
    await pdnsutil('activate-tsig-key', name, plainKeyName(key), 'primary')
    await pdnsutil('set-meta', name, 'TSIG-ALLOW-DNSUPDATE', plainKeyName(key))
  }
}

const config = ({ directory, port, unsignedTransfer, notify }: ServerSetup, apiPort: number): string => `launch=gsqlite3
gsqlite3-database=${directory}/pdns.db
gsqlite3-pragma-synchronous=0
gsqlite3-dnssec=yes
local-address=127.0.0.1
local-port=${port}
socket-dir=${directory}
daemon=no
guardian=no
setuid=
setgid=
disable-syslog=yes
write-pid=no
log-timestamp=no
loglevel=4
primary=yes
security-poll-suffix=
api=yes
api-key=${POWERDNS_API_KEY}
webserver=yes
webserver-address=127.0.0.1
webserver-port=${apiPort}
webserver-allow-from=127.0.0.1
allow-axfr-ips=${unsignedTransfer ? '127.0.0.1' : ''}
only-notify=
also-notify=${notify.map((target) => `127.0.0.1:${target}`).join(',')}
dnsupdate=yes
allow-dnsupdate-from=127.0.0.1
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
zone-cache-refresh-interval=0
default-soa-content=ns1.@ hostmaster.@ 0 3600 600 604800 300
receiver-threads=1
distributor-threads=1
`
