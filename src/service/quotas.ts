/** What one account can have at most: quotas of a service that several accounts share. */
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
 * Reads `domains=1000,images=none`: whole numbers, or `none` for no limit. Quotas that are not named keep their defaults; `none` or `off`
 * alone lifts all. Throws a `RangeError` with what is wrong.
 */
export function parseQuotas(text: string): Quotas {
  if (text === 'none' || text === 'off') return UNLIMITED_QUOTAS
  const quotas = new Map<QuotaName, number | null>()
  for (const item of text.split(',')) {
    const [, name = '', value = ''] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/.exec(item) ?? []
    if (!isQuotaName(name))
      throw new RangeError(`${JSON.stringify(item)} is not a quota such as domains=1000; there are ${QUOTA_NAMES.join(', ')}`)
    if (quotas.has(name)) throw new RangeError(`the quota ${name} is given twice`)
    if (!/^(?:none|0|[1-9][0-9]{0,14})$/.test(value))
      throw new RangeError(`the quota ${name} is not a whole number or none: ${JSON.stringify(value)}`)
    quotas.set(name, value === 'none' ? null : Number(value))
  }
  return { ...DEFAULT_QUOTAS, ...Object.fromEntries(quotas) }
}

const isQuotaName = (name: string): name is QuotaName => (QUOTA_NAMES as readonly string[]).includes(name)

/** Says what an account over its quota cannot have more of. */
export const quotaReason = (name: QuotaName, limit: number): string =>
  name === 'image_octets'
    ? `The images of an account can have at most ${limit} octets of data.`
    : `An account can have at most ${limit} ${WORDS[name]}.`

const WORDS: Readonly<Record<Exclude<QuotaName, 'image_octets'>, string>> = {
  domains: 'domains',
  images: 'private images',
  instances: 'instances',
  scripts: 'scripts',
  ssh_keys: 'SSH keys',
  tags: 'tags',
  tokens: 'personal access tokens',
}
