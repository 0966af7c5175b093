import { plainKeyName, type ServerRecipe, type ServerSetup } from './recipe.ts'

/** BIND 9.18: primary and secondary, transfers, dynamic update. Runs as any user: nothing is written outside the directory. */
export const bind: ServerRecipe = {
  tools: ['named'],
  files: (setup) => ({ 'named.conf': config(setup), ...Object.fromEntries(setup.zones.map(({ name, text }) => [`${name}.zone`, text])) }),
  command: ({ directory }) => ['named', '-f', '-c', `${directory}/named.conf`, '-n', '1'],
  // The journal of the old file would be replayed over the new one, or prevent the zone from loading.
  staleFiles: (zone) => [`${zone}.zone.jnl`],
  zoneFile: (zone) => `${zone}.zone`,
}

function config({
  directory,
  host,
  port,
  zones,
  secondaryZones,
  key,
  unsignedTransfer,
  notify,
  signedNotify,
  incremental,
}: ServerSetup): string {
  const transferers = [...(key ? [`key "${plainKeyName(key)}";`] : []), ...(unsignedTransfer ? ['127.0.0.1;'] : [])]
  const transfer = transferers.length === 0 ? 'none;' : transferers.join(' ')
  const update = key ? `key "${plainKeyName(key)}";` : 'none;'
  const notifyKey = signedNotify && key ? ` key "${plainKeyName(key)}"` : ''
  const notified = notify.map((target) => `127.0.0.1 port ${target}${notifyKey};`).join(' ')
  const notifiers = notifyKey === '' ? '127.0.0.1;' : `!{ !127.0.0.1; any; };${notifyKey};`
  const shared = `allow-transfer { ${transfer} };${notified === '' ? '' : ` also-notify { ${notified} };`}`
  return `
${key ? `key "${plainKeyName(key)}" { algorithm ${key.algorithm}; secret "${key.secret}"; };` : ''}
options {
  directory "${directory}";
  pid-file none; session-keyfile none; lock-file none;
  listen-on port ${port} { ${host}; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; notify explicit; minimal-responses yes; minimal-any no;
  allow-query { 127.0.0.1; }; allow-transfer { none; }; allow-update { none; };
  key-directory "${directory}"; managed-keys-directory "${directory}";
  notify-delay 0; serial-query-rate 100; min-refresh-time 1; min-retry-time 1;
};
controls { };
logging { channel e { stderr; severity info; print-time yes; }; category default { e; }; };
${zones
  .map(
    ({ name }) =>
      `zone "${name}" { type primary; file "${name}.zone"; check-names ignore; check-integrity no; ${shared} allow-update { ${update} }; max-journal-size 1m;${incremental ? ' ixfr-from-differences yes;' : ''} };`,
  )
  .join('\n')}
${secondaryZones
  .map(({ name, primaryPort, signed }) => {
    const signature = signed && key ? ` key "${plainKeyName(key)}"` : ''
    return `zone "${name}" { type secondary; file "${name}.zone"; masterfile-format text; primaries { 127.0.0.1 port ${primaryPort}${signature}; }; transfer-source ${host}; allow-notify { ${notifiers} }; ${shared} };`
  })
  .join('\n')}
`
}
