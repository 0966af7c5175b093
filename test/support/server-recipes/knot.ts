import { plainKeyName, type ServerRecipe, type ServerSetup } from './recipe.ts'

/** Knot DNS 3.2: primary and secondary, transfers, dynamic update. Updates live in its journal; zone files are never rewritten. */
export const knot: ServerRecipe = {
  tools: ['knotd'],
  files: (setup) => ({
    'knot.conf': config(setup),
    'run/': '',
    'db/': '',
    'zones/': '',
    ...Object.fromEntries(setup.zones.map(({ name, text }) => [`zones/${name}.zone`, text])),
  }),
  command: ({ directory }) => ['knotd', '-c', `${directory}/knot.conf`],
  staleFiles: () => [],
  zoneFile: (zone) => `zones/${zone}.zone`,
}

function config({ directory, host, port, zones, secondaryZones, key, unsignedTransfer, notify, signedNotify }: ServerSetup): string {
  const acls = [...(key ? ['signed'] : []), ...(unsignedTransfer ? ['unsigned'] : [])]
  const notifyKey = signedNotify && key ? `\n    key: ${plainKeyName(key)}` : ''
  const notified = notify.map((_, index) => `notify-${index}`)
  return `
server:
    rundir: "${directory}/run"
    listen: ${host}@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
log:
  - target: stderr
    any: info
database:
    storage: "${directory}/db"
${key ? `key:\n  - id: ${plainKeyName(key)}\n    algorithm: ${key.algorithm}\n    secret: ${key.secret}` : ''}
remote:
${notify.map((target, index) => `  - id: notify-${index}\n    address: 127.0.0.1@${target}${notifyKey}`).join('\n')}
${secondaryZones
  .map(
    ({ primaryPort, signed }, index) =>
      `  - id: primary-${index}\n    address: 127.0.0.1@${primaryPort}\n    via: ${host}${signed && key ? `\n    key: ${plainKeyName(key)}` : ''}`,
  )
  .join('\n')}
acl:
  - id: notified
    address: 127.0.0.1${notifyKey}
    action: notify
  - id: unsigned
    address: 127.0.0.1
    action: transfer
${key ? `  - id: signed\n    key: ${plainKeyName(key)}\n    action: [transfer, update]` : ''}
template:
  - id: default
    storage: "${directory}/zones"
    file: "%s.zone"
    zonefile-sync: -1
    zonefile-load: difference-no-serial
    journal-content: all
    semantic-checks: on
    refresh-min-interval: 2
    retry-min-interval: 2
  - id: secondary
    storage: "${directory}/zones"
    file: "%s.zone"
    zonefile-sync: -1
    refresh-min-interval: 2
    retry-min-interval: 2
${zones.length + secondaryZones.length > 0 ? 'zone:' : ''}
${zones
  .map(
    ({ name }) =>
      `  - domain: "${name}"\n    acl: [${acls.join(', ')}]${notified.length > 0 ? `\n    notify: [${notified.join(', ')}]` : ''}`,
  )
  .join('\n')}
${secondaryZones
  .map(
    ({ name }, index) =>
      `  - domain: "${name}"\n    template: secondary\n    master: primary-${index}\n    acl: [${['notified', ...acls].join(', ')}]`,
  )
  .join('\n')}
`
}
