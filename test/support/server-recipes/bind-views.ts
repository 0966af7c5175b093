import type { TsigKey } from '../tools.ts'
import { plainKeyName, type ServerRecipe, type ServerSetup } from './recipe.ts'

/** A view that requests signed with its key select. */
export interface View {
  readonly key: TsigKey
  /** Texts of zone files by zone name without the final dot. */
  readonly zones: Readonly<Record<string, string>>
}

/** BIND 9.18 with a view per key. The last view also answers requests without a key. */
export const bindViews = (views: readonly View[]): ServerRecipe => ({
  tools: ['named'],
  files: (setup) => ({
    'named.conf': config(setup, views),
    ...Object.fromEntries(
      views.flatMap(({ key, zones }) => Object.entries(zones).map(([name, text]) => [`${fileOf(key, name)}`, text] as const)),
    ),
  }),
  command: ({ directory }) => ['named', '-f', '-c', `${directory}/named.conf`, '-n', '1'],
  staleFiles: () => [],
  zoneFile: (zone) => `${zone}.zone`,
})

const fileOf = (key: TsigKey, zone: string): string => `${plainKeyName(key)}/${zone.replaceAll('/', '_')}.zone`

const config = ({ directory, host, port }: ServerSetup, views: readonly View[]): string => `
${views.map(({ key }) => `key "${plainKeyName(key)}" { algorithm ${key.algorithm}; secret "${key.secret}"; };`).join('\n')}
options {
  directory "${directory}";
  pid-file none; session-keyfile none; lock-file none;
  listen-on port ${port} { ${host}; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; notify no; minimal-responses yes; empty-zones-enable no;
  key-directory "${directory}"; managed-keys-directory "${directory}";
};
controls { };
logging { channel e { stderr; severity info; }; category default { e; }; };
${views
  .map(({ key, zones }, index) => {
    const name = plainKeyName(key)
    const others = views.filter((view) => view.key !== key).map((view) => `!key "${plainKeyName(view.key)}";`)
    const match = index === views.length - 1 ? `${others.join(' ')} any;` : `key "${name}";`
    const statements = Object.keys(zones).map(
      (zone) =>
        `  zone "${zone}" { type primary; file "${fileOf(key, zone)}"; check-names ignore; check-integrity no; allow-transfer { key "${name}"; }; allow-update { key "${name}"; }; };`,
    )
    return `view "${name}" {\n  match-clients { ${match} };\n${statements.join('\n')}\n};`
  })
  .join('\n')}
`
