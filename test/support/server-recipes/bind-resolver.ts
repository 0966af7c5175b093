import type { ServerRecipe, ServerSetup } from './recipe.ts'

/** A zone for which the resolver queries the server on a port of 127.0.0.1. */
export type ForwardedZone = { readonly name: string; readonly port: number }

/** BIND 9.18 as a caching resolver without Internet access: its own root zone delegates the zones that it forwards. */
export const bindResolver = (forwarded: readonly ForwardedZone[]): ServerRecipe => ({
  tools: ['named'],
  files: (setup) => ({ 'named.conf': config(setup, forwarded), 'root.zone': rootZone(forwarded) }),
  command: ({ directory }) => ['named', '-f', '-c', `${directory}/named.conf`, '-n', '1'],
  staleFiles: () => [],
  zoneFile: () => 'root.zone',
})

const config = ({ directory, host, port }: ServerSetup, forwarded: readonly ForwardedZone[]): string => `
options {
  directory "${directory}";
  pid-file none; session-keyfile none; lock-file none;
  listen-on port ${port} { ${host}; }; listen-on-v6 { none; };
  recursion yes; dnssec-validation no; minimal-responses yes; empty-zones-enable no;
  allow-query { 127.0.0.1; }; allow-recursion { 127.0.0.1; };
  key-directory "${directory}"; managed-keys-directory "${directory}";
};
controls { };
logging { channel e { stderr; severity info; }; category default { e; }; };
zone "." { type primary; file "root.zone"; };
${forwarded.map(({ name, port: at }) => `zone "${name}" { type forward; forward only; forwarders { 127.0.0.1 port ${at}; }; };`).join('\n')}
`

const rootZone = (forwarded: readonly ForwardedZone[]): string =>
  [
    '$TTL 3600',
    '. IN SOA a.invalid. hostmaster.invalid. 1 3600 900 86400 60',
    '. IN NS a.invalid.',
    'a.invalid. IN A 127.0.0.1',
    ...forwarded.map(({ name }) => `${name}. IN NS a.invalid.`),
    '',
  ].join('\n')
