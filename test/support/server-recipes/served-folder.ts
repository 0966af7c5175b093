/**
 * Servers that serve the zone files of the folder `served`, listed in the file `zones.conf`, and are controlled by their own programs. A consumer of a catalog
 * zone gets its zones from another server.
 */
import type { ServerRecipe, ServerSetup } from './recipe.ts'

export type ServedBy = 'bind' | 'nsd' | 'knot'

export interface FolderServer {
  readonly recipe: ServerRecipe
  /** The arguments of the program that controls the server in this directory. */
  control(directory: string): readonly [string, ...string[]]
  /** What makes it load one zone, and read the list of zones. */
  readonly reload: readonly string[]
  readonly reconfig: readonly string[]
}

const RNDC_KEY = `key "rndc" { algorithm hmac-sha256; secret "${Buffer.alloc(32, 1).toString('base64')}"; };`

const bindOptions = ({ directory, port }: ServerSetup): string => `
options {
  directory "${directory}";
  pid-file none; session-keyfile none; lock-file none;
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; notify explicit; notify-delay 0;
  allow-transfer { 127.0.0.1; };
  key-directory "${directory}"; managed-keys-directory "${directory}";
`

const LOGGING = 'logging { channel e { stderr; severity info; }; category default { e; }; };'
const FILES = { 'served/': '', 'zones.conf': '' }
const common = { staleFiles: () => [], zoneFile: (zone: string) => `served/${zone}.zone` }

export function bindOfFolder(controlPort: number): FolderServer {
  return {
    recipe: {
      ...common,
      tools: ['named', 'rndc'],
      files: (setup) => ({
        ...FILES,
        'rndc.key': RNDC_KEY,
        'named.conf': `include "${setup.directory}/rndc.key";
controls { inet 127.0.0.1 port ${controlPort} allow { 127.0.0.1; } keys { "rndc"; }; };
${bindOptions(setup)}};
${LOGGING}
include "${setup.directory}/zones.conf";
`,
      }),
      command: ({ directory }) => ['named', '-f', '-c', `${directory}/named.conf`, '-n', '1'],
    },
    control: (directory) => ['rndc', '-s', '127.0.0.1', '-p', String(controlPort), '-k', `${directory}/rndc.key`],
    reload: ['reload', '{zone}'],
    reconfig: ['reconfig'],
  }
}

export function nsdOfFolder(): FolderServer {
  return {
    recipe: {
      ...common,
      tools: ['nsd', 'nsd-control'],
      files: ({ directory, port }) => ({
        ...FILES,
        'nsd.conf': `
server:
    server-count: 1
    ip-address: 127.0.0.1@${port}
    do-ip6: no
    username: ""
    chroot: ""
    zonesdir: "${directory}"
    database: ""
    pidfile: "${directory}/nsd.pid"
    xfrdfile: "${directory}/xfrd.state"
    xfrdir: "${directory}"
    zonelistfile: "${directory}/zone.list"
    rrl-ratelimit: 0
    xfrd-reload-timeout: 0
remote-control:
    control-enable: yes
    control-interface: "${directory}/nsd.ctl"
include: "${directory}/zones.conf"
`,
      }),
      command: ({ directory }) => ['nsd', '-d', '-c', `${directory}/nsd.conf`],
    },
    control: (directory) => ['nsd-control', '-c', `${directory}/nsd.conf`],
    reload: ['reload', '{zone}'],
    reconfig: ['reconfig'],
  }
}

export function knotOfFolder(): FolderServer {
  return {
    recipe: {
      ...common,
      tools: ['knotd', 'knotc'],
      files: ({ directory, port }) => ({
        ...FILES,
        'run/': '',
        'db/': '',
        'knot.conf': `
server:
    rundir: "${directory}/run"
    listen: 127.0.0.1@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: "${directory}/db"
template:
  - id: default
    zonefile-sync: -1
include: "${directory}/zones.conf"
`,
      }),
      command: ({ directory }) => ['knotd', '-c', `${directory}/knot.conf`],
    },
    control: (directory) => ['knotc', '-s', `${directory}/run/knot.sock`],
    reload: ['zone-reload', '{zone}'],
    reconfig: ['reload'],
  }
}

/** A secondary that takes its list of zones from the catalog zone at a primary. */
export function bindConsumer(catalog: string, primaryPort: number): ServerRecipe {
  return {
    ...common,
    tools: ['named'],
    files: (setup) => ({
      'named.conf': `${bindOptions(setup)}
  min-refresh-time 1; min-retry-time 1;
  catalog-zones { zone "${catalog}" default-primaries { 127.0.0.1 port ${primaryPort}; } in-memory yes min-update-interval 1; };
};
controls { };
${LOGGING}
zone "${catalog}" { type secondary; file "catalog"; primaries { 127.0.0.1 port ${primaryPort}; }; allow-notify { 127.0.0.1; }; };
`,
    }),
    command: ({ directory }) => ['named', '-f', '-c', `${directory}/named.conf`, '-n', '1'],
  }
}

export function knotConsumer(catalog: string, primaryPort: number): ServerRecipe {
  return {
    ...common,
    tools: ['knotd'],
    files: ({ directory, port }) => ({
      'run/': '',
      'db/': '',
      'zones/': '',
      'knot.conf': `
server:
    rundir: "${directory}/run"
    listen: 127.0.0.1@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: "${directory}/db"
remote:
  - id: primary
    address: 127.0.0.1@${primaryPort}
acl:
  - id: notified
    address: 127.0.0.1
    action: notify
template:
  - id: default
    storage: "${directory}/zones"
    zonefile-sync: -1
    refresh-min-interval: 2
    retry-min-interval: 2
  - id: member
    storage: "${directory}/zones"
    master: primary
    acl: notified
    refresh-min-interval: 2
    retry-min-interval: 2
zone:
  - domain: "${catalog}"
    master: primary
    acl: notified
    catalog-role: interpret
    catalog-template: member
`,
    }),
    command: ({ directory }) => ['knotd', '-c', `${directory}/knot.conf`],
  }
}
