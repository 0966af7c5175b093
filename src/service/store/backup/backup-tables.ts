import type { Tables } from '../tables.ts'

/** Every table with its key, referenced tables before those that refer to them. */
export const BACKUP_TABLES: Readonly<Record<keyof Tables, readonly string[]>> = {
  accounts: ['id'],
  users: ['id'],
  tokens: ['id'],
  grants: ['user_id', 'kind', 'entity_id'],
  domains: ['id'],
  records: ['id'],
  tags: ['id'],
  domain_tags: ['domain_id', 'tag_id'],
  zone_files: ['domain_id'],
  secondaries: ['domain_id'],
  served_zones: ['name'],
  served_revision: ['id'],
}

/** Those whose rows have numbers that are never given twice. */
export const NUMBERED_TABLES: ReadonlySet<string> = new Set<keyof Tables>(['accounts', 'users', 'tokens', 'domains', 'records', 'tags'])
