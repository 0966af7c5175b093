import { type DomainName, parseDomainName } from '../model/domain-name.ts'

/** How a file or folder holds a zone: YAML, a zone file (RFC 1035), or octoDNS's folder of split files. */
export type DefinitionKind = 'yaml' | 'zone-file' | 'split'

/** What the name of a file says about it. */
export interface FileName {
  readonly kind: DefinitionKind
  /** Null where the name is not a domain name. */
  readonly zone: DomainName | null
}

const EXTENSION = /^(.*)\.(?:(yaml|yml)|(?:zone|db))$/i

/** What the name of a file says: `example.com.yaml`, `example.com.zone`, `example.com.db` or `db.example.com`; null for other names. */
export function fileNameOf(base: string): FileName | null {
  const [, stem, yaml] = EXTENSION.exec(base) ?? []
  if (stem !== undefined) return { kind: yaml === undefined ? 'zone-file' : 'yaml', zone: zoneNameOf(withoutPrefix(stem, yaml)) }
  return base.startsWith('db.') ? { kind: 'zone-file', zone: zoneNameOf(base.slice(3)) } : null
}

const withoutPrefix = (stem: string, yaml: string | undefined): string =>
  yaml === undefined && /^db\.[^.]+\./.test(stem) ? stem.slice(3) : stem

/** The zone whose split files a folder holds: its name without `extension`; null for other folders. */
export function splitFolderZone(base: string, extension: string): DomainName | null {
  return base.endsWith(extension) ? zoneNameOf(base.slice(0, -extension.length)) : null
}

function zoneNameOf(text: string): DomainName | null {
  const stem = text.replace(/\.$/, '')
  if (stem === '') return null
  const name = parseDomainName(`${stem}.`)
  return name.ok ? name.value : null
}
