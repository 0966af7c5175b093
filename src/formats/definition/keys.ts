/** The keys of a definition with settings, in the order they are best read. */
export const SETTING_KEYS = [
  'domain',
  'enabled',
  'absent',
  'type',
  'status',
  'description',
  'group',
  'tags',
  'soa_email',
  'master_ips',
  'axfr_ips',
  'ttl_sec',
  'refresh_sec',
  'retry_sec',
  'expire_sec',
  'default_ttl',
  'targets',
  'policy',
  'allow',
  'apex_ns',
  'unsupported',
  'include',
  'unmanaged',
  'records',
] as const

/** The keys of a record in the order they are best read; those of octoDNS that no target here can express come last. */
export const RECORD_KEYS = ['type', 'ttl', 'value', 'values', 'octodns', 'geo', 'dynamic', 'healthcheck'] as const
