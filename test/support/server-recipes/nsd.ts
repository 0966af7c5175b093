import { plainKeyName, type ServerRecipe, type ServerSetup } from './recipe.ts'

/** NSD 4.6: primary and secondary, transfers; it has no dynamic update. */
export const nsd: ServerRecipe = {
  tools: ['nsd'],
  files: (setup) => ({ 'nsd.conf': config(setup), ...Object.fromEntries(setup.zones.map(({ name, text }) => [`${name}.zone`, text])) }),
  command: ({ directory }) => ['nsd', '-d', '-c', `${directory}/nsd.conf`],
  staleFiles: () => [],
  zoneFile: (zone) => `${zone}.zone`,
}

/** Response rate limiting would drop most of a test's queries; a user, a chroot and remote control need root or keys. */
function config(setup: ServerSetup): string {
  const { directory, host, port, zones, secondaryZones, key, unsignedTransfer, notify, signedNotify, incremental } = setup
  const transfers = [
    ...(unsignedTransfer ? ['    provide-xfr: 127.0.0.1 NOKEY'] : []),
    ...(key ? [`    provide-xfr: 127.0.0.1 ${plainKeyName(key)}`] : []),
  ].join('\n')
  const notifyKey = signedNotify && key ? plainKeyName(key) : 'NOKEY'
  const notified = notify.map((target) => `    notify: 127.0.0.1@${target} ${notifyKey}`).join('\n')
  const ixfr = incremental ? '\n    store-ixfr: yes\n    create-ixfr: yes' : ''
  return `
server:
    server-count: 1
    ip-address: ${host}@${port}
    do-ip6: no
    username: ""
    chroot: ""
    zonesdir: "${directory}"
    database: ""
    pidfile: "${directory}/nsd.pid"
    xfrdfile: "${directory}/xfrd.state"
    xfrdir: "${directory}"
    zonelistfile: "${directory}/zone.list"
    verbosity: 2
    rrl-ratelimit: 0
    xfrd-reload-timeout: 0
remote-control:
    control-enable: no
${key ? `key:\n    name: "${plainKeyName(key)}"\n    algorithm: ${key.algorithm}\n    secret: "${key.secret}"` : ''}
${zones.map(({ name }) => `zone:\n    name: "${name}"\n    zonefile: "${name}.zone"${ixfr}\n${transfers}\n${notified}`).join('\n')}
${secondaryZones
  .map(({ name, primaryPort, signed }) => {
    const signature = signed && key ? plainKeyName(key) : 'NOKEY'
    return `zone:
    name: "${name}"
    zonefile: "${name}.zone"
    request-xfr: ${incremental ? '' : 'AXFR '}127.0.0.1@${primaryPort} ${signature}
    outgoing-interface: ${host}
    allow-notify: 127.0.0.1 ${notifyKey}
    min-refresh-time: 1
    min-retry-time: 1
${transfers}`
  })
  .join('\n')}
`
}
