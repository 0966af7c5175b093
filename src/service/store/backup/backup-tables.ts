import type { Tables } from '../tables.ts'

/** Every table that a backup holds, with its key, referenced tables before those that refer to them. */
export const BACKUP_TABLES: Readonly<Record<Exclude<keyof Tables, 'secret_key'>, readonly string[]>> = {
  accounts: ['id'],
  users: ['id'],
  apps: ['id'],
  tokens: ['id'],
  grants: ['user_id', 'kind', 'entity_id'],
  domains: ['id'],
  records: ['id'],
  tags: ['id'],
  tagged_objects: ['kind', 'entity_id', 'tag_id'],
  volumes: ['id'],
  load_balancers: ['id'],
  zone_files: ['domain_id'],
  secondaries: ['domain_id'],
  served_zones: ['name'],
  served_revision: ['id'],
  jobs: ['id'],
  instances: ['id'],
  address_pools: ['region', 'pool'],
  addresses: ['region', 'pool', 'slot'],
  disks: ['id'],
  configs: ['id'],
  backups: ['id'],
  images: ['id'],
  scripts: ['id'],
  trusted_devices: ['id'],
  logins: ['id'],
  ssh_keys: ['id'],
  security_answers: ['user_id', 'question_id'],
  second_factors: ['user_id'],
  phone_codes: ['user_id'],
  preferences: ['user_id', 'client'],
}

/** Those that earlier schemas have: a backup may be of such, and the migrations take over what it holds. */
export const FORMER_TABLES: Readonly<Record<string, readonly string[]>> = { domain_tags: ['domain_id', 'tag_id'] }

/** Those whose rows have numbers that are never given twice. */
export const NUMBERED_TABLES: ReadonlySet<string> = new Set<keyof Tables>([
  'accounts',
  'users',
  'tokens',
  'domains',
  'records',
  'tags',
  'volumes',
  'load_balancers',
  'jobs',
  'instances',
  'disks',
  'configs',
  'backups',
  'images',
  'scripts',
  'apps',
  'trusted_devices',
  'logins',
  'ssh_keys',
])
