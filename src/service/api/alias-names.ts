/**
 * The names that clients of the hosting service behind this API use for paths, fields and values: the only table of them. Each row maps a client's
 * name to the name in this API. `translate-names.ts` applies the table to requests and responses.
 */

/** The version segment of clients that also use beta operations. Its operations are those of `/v4`. */
export const ALIAS_VERSION = 'v4beta'

/** Paths after the version segment, with everything below them. */
export const ALIAS_PATHS = {
  '/linode/instances': '/compute/instances',
  '/linode/kernels': '/compute/kernels',
  '/linode/stackscripts': '/compute/scripts',
  '/linode/types': '/compute/types',
} as const

/** Top-level fields of requests under these paths. */
export const ALIAS_FIELDS = { linode_id: 'instance_id', stackscript_id: 'script_id', stackscript_data: 'script_data' } as const

/** The start of the ids of public images, in requests and responses. */
export const ALIAS_IMAGES = { 'linode/': 'public/' } as const

/** Families of scopes. */
export const ALIAS_SCOPES = { linodes: 'instances', stackscripts: 'scripts' } as const

/** Fields that list objects in the creation of a tag, which has the same path under both names: both are accepted. */
export const ALIAS_TAG_FIELDS = { linodes: 'instances', nodebalancers: 'loadbalancers' } as const

/** Fields of grants, in the list and in its `global` object. The list has the same path under both names, so responses have both. */
export const ALIAS_GRANTS = {
  add_linodes: 'add_instances',
  add_longview: 'add_monitors',
  add_nodebalancers: 'add_loadbalancers',
  add_stackscripts: 'add_scripts',
  linode: 'instance',
  longview: 'monitor',
  longview_subscription: 'monitor_subscription',
  nodebalancer: 'loadbalancer',
  stackscript: 'script',
} as const

/** Fields of the profile. Updates accept both; if only one is a change, it counts, and otherwise the name of this API. Responses have both. */
export const ALIAS_PROFILE_FIELDS = { lish_auth_method: 'shell_auth_method' } as const

/** Fields of a volume in the list of the objects with a tag, which has both names. */
export const ALIAS_VOLUME_FIELDS = { linode_id: 'instance_id', linode_label: 'instance_label' } as const

/** A table from a client's name to the name in this API. */
export type AliasTable = Readonly<Record<string, string>>

/** Returns the object with each field that the table names also under the client's name. */
export const withAliases = <T extends object>(object: T, table: AliasTable): T => ({
  ...object,
  ...Object.fromEntries(
    Object.entries(table).flatMap(([alias, name]) => (Object.hasOwn(object, name) ? [[alias, object[name as keyof T]]] : [])),
  ),
})

const listOf = (table: AliasTable): string =>
  Object.entries(table)
    .map(([alias, name]) => `\`${alias}\` for \`${name}\``)
    .join(', ')

/** The table as a paragraph of Markdown. */
export const ALIASES_IN_WORDS = `Clients of the hosting service behind this API can use their own paths (${listOf(ALIAS_PATHS)}). The scopes, request
fields and ids of public images have other names there: ${listOf({ ...ALIAS_SCOPES, ...ALIAS_FIELDS, ...ALIAS_IMAGES })}. All operations also answer under
\`/${ALIAS_VERSION}\`, with these names.`

/** The path that clients of the hosting service use for a path of this API; null if it is the same. */
export function aliasPathOf(path: string): string | null {
  for (const [alias, name] of Object.entries(ALIAS_PATHS)) {
    if (path === name || path.startsWith(`${name}/`)) return alias + path.slice(name.length)
  }
  return null
}
