/** Prints a record of the API as a line of a zone file, for judges that read those. */
import type { CloudflareRecord } from './records.ts'

/** The TTL in seconds that Cloudflare chooses. */
const AUTOMATIC = 300
const host = (name: string): string => (name === '.' ? name : `${name}.`)

export function zoneFileLine({ name, type, ttl, content, priority, data }: CloudflareRecord): string {
  return `${host(name)} ${ttl === 1 ? AUTOMATIC : ttl} IN ${type} ${rdata()}`

  function rdata(): string {
    switch (type) {
      case 'CNAME':
      case 'NS':
      case 'PTR':
        return host(content)
      case 'MX':
        return `${priority} ${host(content)}`
      case 'SRV':
        return `${data?.['priority']} ${data?.['weight']} ${data?.['port']} ${host(String(data?.['target']))}`
      case 'URI':
        return `${priority} ${content}`
      case 'NAPTR':
        return content.replace(/ ([^" ]+)$/, (_, target: string) => ` ${host(target.replace(/\.$/, '') || '.')}`)
      case 'TXT':
        return content.startsWith('"') ? content : `"${content}"`
      default:
        return content
    }
  }
}
