/** Quotas limit the objects of one account. */
export const QUOTA_NAMES = ['domains', 'images', 'image_octets', 'instances', 'scripts', 'ssh_keys', 'tags', 'tokens'] as const

export type QuotaName = (typeof QUOTA_NAMES)[number]

/** Null for no limit. */
export type Quotas = Readonly<Record<QuotaName, number | null>>

export const DEFAULT_QUOTAS: Quotas = {
  domains: 1000,
  images: 25,
  image_octets: 50_000_000_000,
  instances: 100,
  scripts: 100,
  ssh_keys: 100,
  tags: 5000,
  tokens: 100,
}

export const UNLIMITED_QUOTAS: Quotas = {
  domains: null,
  images: null,
  image_octets: null,
  instances: null,
  scripts: null,
  ssh_keys: null,
  tags: null,
  tokens: null,
}

/**
 * Parses quotas such as `domains=1000,images=none`, with whole numbers or `none` for no limit. A single `none` or `off`
 * lifts all quotas. Throws a `RangeError` if the text is not valid.
 */
export function parseQuotas(text: string): Partial<Quotas> {
  if (text === 'none' || text === 'off') return UNLIMITED_QUOTAS
  const quotas = new Map<QuotaName, number | null>()
  for (const item of text.split(',')) {
    const [, name = '', value = ''] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/.exec(item) ?? []
    if (!isQuotaName(name))
      throw new RangeError(`${JSON.stringify(item)} is not a quota such as domains=1000; the quotas are ${QUOTA_NAMES.join(', ')}`)
    if (quotas.has(name)) throw new RangeError(`the quota ${name} appears twice`)
    if (!/^(?:none|0|[1-9][0-9]{0,14})$/.test(value))
      throw new RangeError(`the quota ${name} is not a whole number or none: ${JSON.stringify(value)}`)
    quotas.set(name, value === 'none' ? null : Number(value))
  }
  return Object.fromEntries(quotas)
}

const isQuotaName = (name: string): name is QuotaName => (QUOTA_NAMES as readonly string[]).includes(name)

/** The error text for an account that has reached a quota. */
export const quotaReason = (name: QuotaName, limit: number): string =>
  name === 'image_octets'
    ? `The images of an account can have at most ${limit} octets of data.`
    : `An account can have at most ${limit} ${OBJECT_NAMES[name]}.`

const OBJECT_NAMES: Readonly<Record<Exclude<QuotaName, 'image_octets'>, string>> = {
  domains: 'domains',
  images: 'private images',
  instances: 'instances',
  scripts: 'scripts',
  ssh_keys: 'SSH keys',
  tags: 'tags',
  tokens: 'personal access tokens',
}
