/** A real PowerDNS server, its API as another client uses it, and a folder with a config for it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cli } from '../../support/cli.ts'
import type { PowerDnsServer } from '../../support/dns-servers.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

interface ApiRrset {
  readonly name: string
  readonly type: string
  readonly ttl: number
  readonly records: readonly { readonly content: string; readonly disabled: boolean }[]
  readonly comments: readonly { readonly content: string; readonly account: string }[]
}

/** The server as another client of the API sees it. Paths are relative to the zones. */
export function apiOf({ api }: PowerDnsServer) {
  const send = async (method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: string }> => {
    const response = await fetch(`${api.url}/servers/localhost${path}`, {
      method,
      headers: { 'x-api-key': api.key },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.text() }
  }
  const expectDone = async (method: string, path: string, body?: unknown): Promise<string> => {
    const response = await send(method, path, body)
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.body}`)
    return response.body
  }
  return {
    send,
    create: (name: string, more: object = {}) =>
      expectDone('POST', '/zones', { name, kind: 'Master', nameservers: ['ns1.example.net.'], ...more }),
    /** Replaces RRsets: `{name, type, ttl, records}`. */
    replace: (zone: string, ...rrsets: readonly object[]) =>
      expectDone('PATCH', `/zones/${zone}`, { rrsets: rrsets.map((rrset) => ({ changetype: 'REPLACE', ttl: 300, ...rrset })) }),
    put: (path: string, body?: unknown) => expectDone('PUT', path, body),
    post: (path: string, body?: unknown) => expectDone('POST', path, body),
    remove: (path: string) => expectDone('DELETE', path),
    async zone(name: string): Promise<{ readonly rrsets: readonly ApiRrset[]; readonly [key: string]: unknown }> {
      return JSON.parse(await expectDone('GET', `/zones/${name}`))
    },
    /** `owner TTL TYPE content`, with `(disabled)` after disabled ones; without the SOA record. */
    async lines(name: string): Promise<string[]> {
      const { rrsets } = await this.zone(name)
      return rrsets
        .filter(({ type }) => type !== 'SOA')
        .flatMap((rrset) =>
          rrset.records.map(
            ({ content, disabled }) => `${rrset.name} ${rrset.ttl} ${rrset.type} ${content}${disabled ? ' (disabled)' : ''}`,
          ),
        )
        .sort()
    },
  }
}

export const record = (content: string, disabled = false): object => ({ content, disabled })

/** A folder with a config for the server at `baseUrl`. `more`: further settings, beginning with a comma. */
export function workspace(baseUrl: string, more = ''): string {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  writeFileSync(
    join(folder, 'zonewright.yaml'),
    `providers:\n  pdns: {type: powerdns, base_url: '${baseUrl}', api_key: env:PDNS_KEY${more}}\nzones: [{files: zones/*.yaml, targets: [pdns]}]\n`,
  )
  return folder
}

/** `text`: settings and records of the definition, after its domain. */
export const define = (folder: string, zone: string, text: string): void =>
  writeFileSync(join(folder, `zones/${zone}.yaml`), `domain: ${zone}\n${text}`)

export const run = (folder: string, { api }: PowerDnsServer, ...args: string[]) =>
  cli([...args, '--no-color'], { cwd: folder, env: { PDNS_KEY: api.key } })

export const originOf = ({ api }: PowerDnsServer): string => new URL(api.url).origin
