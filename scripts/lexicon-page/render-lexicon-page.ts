/** Writes the tables of docs/providers/lexicon.md from the settings that dns-lexicon knows and the rows of `src/providers/lexicon/services.ts`. */
import { LEXICON_SERVICES, lexiconService } from '../../src/providers/lexicon/services.ts'

/** The requests of dns-lexicon itself for a list of a short zone, and for a record that is created, updated and deleted, each with its sign-in and look-up. A test measures them. */
export const LEXICON_REQUESTS: Readonly<
  Record<string, readonly [list: number, create: number, update: number | null, remove: number | null]>
> = {
  azure: [3, 4, null, null],
  cloudflare: [2, 2, 2, 2],
  desec: [2, 3, null, null],
  digitalocean: [2, 3, 2, 2],
  gandi: [2, 3, null, null],
  googleclouddns: [3, 4, null, null],
  hetzner: [2, 5, null, null],
  ovh: [6, 6, null, null],
  porkbun: [3, 4, 3, 3],
  powerdns: [1, 3, null, null],
  route53: [2, 3, null, null],
  scaleway: [2, 3, null, null],
  vultr: [2, 3, null, null],
}

/** Services with a provider of Zonewright, by the names of dns-lexicon. */
const NATIVE: Readonly<Record<string, string>> = {
  azure: 'azure',
  cloudflare: 'cloudflare',
  desec: 'desec',
  digitalocean: 'digitalocean',
  gandi: 'gandi',
  googleclouddns: 'google',
  hetzner: 'hetzner',
  linode4: 'cloud',
  ovh: 'ovh',
  porkbun: 'porkbun',
  powerdns: 'powerdns',
  route53: 'route53',
  scaleway: 'scaleway',
  vultr: 'vultr',
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('')

/** The page with new tables. `settings`: the names of each service's settings. */
export function renderLexiconPage(page: string, settings: Readonly<Record<string, readonly string[]>>): string {
  const services = Object.entries(settings)
    .filter(([name]) => name !== 'auto')
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const rows = services.map(([name, options]) => {
    const { types, ttls, onlyCreates } = lexiconService(name)
    const known = Object.hasOwn(LEXICON_SERVICES, name)
    const range = ttls === undefined ? (known ? 'any' : 'unknown') : `${ttls[0]}–${ttls[1]}`
    const native = NATIVE[name] === undefined ? '' : `take [${NATIVE[name]}](../providers.md)`
    return [
      `\`${name}\``,
      options.map((one) => `\`${one}\``).join(' '),
      types,
      range,
      onlyCreates === undefined ? 'everything' : known ? `creates: ${onlyCreates}` : 'creates: its list is unknown',
      native,
    ]
  })
  const requests = Object.entries(LEXICON_REQUESTS).map(([name, counts]) => [
    `\`${name}\``,
    ...counts.map((count) => (count === null ? '–' : String(count))),
  ])
  const between = (text: string, name: string, body: string): string =>
    text.replace(new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- end -->)`), (_, start: string, end: string) => `${start}\n${body}\n${end}`)
  const withRequests = between(page, 'requests', table(['service', 'list', 'create', 'update', 'delete'], requests))
  return between(withRequests, 'services', table(['service', 'settings', 'types', 'TTLs', 'plans do', ''], rows))
}
