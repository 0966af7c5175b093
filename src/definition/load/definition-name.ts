import { type Diagnostic, oneLine } from '../../dns/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'

/** How a file or folder holds a zone: YAML, a zone file (RFC 1035), or octoDNS's folder of split files. */
export type DefinitionKind = 'yaml' | 'zone-file' | 'split'

/** What the name of a file says about it. */
export interface FileName {
  readonly kind: DefinitionKind
  /** Null where the name is not a domain name. */
  readonly zone: DomainName | null
}

const CONTROL_CHARACTERS = /[\p{Cc}\u2028\u2029]/gu

/** A path without control characters and line separators. A file whose name has one is refused, and not taken for a file of another kind. */
export const withoutControlCharacters = (path: string): string => path.replace(CONTROL_CHARACTERS, '')

/** The error for a path with a control character or line separator in a name; null for other paths. `shown` names it in messages. */
export function unprintableNameError(path: string, shown: string): Pick<Diagnostic, 'severity' | 'code' | 'message' | 'hint'> | null {
  if (withoutControlCharacters(path) === path) return null
  return {
    severity: 'error',
    code: 'file-name',
    message: `${oneLine(shown)} has a line break or another control character in its name`,
    hint: 'rename it',
  }
}

const EXTENSION = /^(.*)\.(?:(yaml|yml)|(?:zone|db))$/i

/** What the name of a file says: `example.com.yaml`, `example.com.zone`, `example.com.db` or `db.example.com`; null for other names. */
export function parseFileName(name: string): FileName | null {
  const base = withoutControlCharacters(name)
  const [, stem, yaml] = EXTENSION.exec(base) ?? []
  if (stem !== undefined) return { kind: yaml === undefined ? 'zone-file' : 'yaml', zone: zoneNameOf(withoutPrefix(stem, yaml)) }
  return base.startsWith('db.') ? { kind: 'zone-file', zone: zoneNameOf(base.slice(3)) } : null
}

const withoutPrefix = (stem: string, yaml: string | undefined): string =>
  yaml === undefined && /^db\.[^.]+\./.test(stem) ? stem.slice(3) : stem

/** The zone whose split files a folder holds: its name without `extension`; null for other folders. */
export function splitFolderZone(name: string, extension: string): DomainName | null {
  const base = withoutControlCharacters(name)
  return base.endsWith(extension) ? zoneNameOf(base.slice(0, -extension.length)) : null
}

function zoneNameOf(text: string): DomainName | null {
  const stem = text.replace(/\.$/, '')
  if (stem === '') return null
  const name = parseDomainName(`${stem}.`)
  return name.ok ? name.value : null
}
