/** The names of definition files. */
import { type Diagnostic, oneLine } from '../base/diagnostic.ts'
import { type DomainName, parseDomainName } from '../dns/domain-name.ts'
import { withoutControlCharacters } from '../files/file-path.ts'

/** The format of a definition: YAML, a zone file (RFC 1035), or an octoDNS folder of split files. */
export type DefinitionKind = 'yaml' | 'zone-file' | 'split'

/** The format and zone that a file name indicates. */
export interface FileName {
  readonly kind: DefinitionKind
  /** Null if the name is not a domain name. */
  readonly zone: DomainName | null
}

/** The error for a path with a control character or line separator; null for other paths. `shown` is the path in the message. */
export function unprintableNameError(path: string, shown: string): Pick<Diagnostic, 'severity' | 'code' | 'message' | 'hint'> | null {
  if (withoutControlCharacters(path) === path) return null
  return {
    severity: 'error',
    code: 'file-name',
    message: `the name of ${oneLine(shown)} contains a line break or another control character`,
    hint: 'rename the file or folder',
  }
}

const EXTENSION = /^(.*)\.(?:(yaml|yml)|(?:zone|db))$/i

/** Parses a file name such as `example.com.yaml`, `example.com.zone`, `example.com.db` or `db.example.com`; null for other names. */
export function parseFileName(name: string): FileName | null {
  const base = withoutControlCharacters(name)
  const [, stem, yaml] = EXTENSION.exec(base) ?? []
  if (stem !== undefined) return { kind: yaml === undefined ? 'zone-file' : 'yaml', zone: zoneNameOf(withoutPrefix(stem, yaml)) }
  return base.startsWith('db.') ? { kind: 'zone-file', zone: zoneNameOf(base.slice(3)) } : null
}

const withoutPrefix = (stem: string, yaml: string | undefined): string =>
  yaml === undefined && /^db\.[^.]+\./.test(stem) ? stem.slice(3) : stem

/** The zone of a folder of split files: its name without `extension`; null for other folders. */
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
