/** The names of definition files. */
import { type Diagnostic, oneLine } from '../base/diagnostic.ts'
import { type DomainName, parseDomainName } from '../dns/domain-name.ts'
import { withoutControlCharacters } from '../files/file-path.ts'

/** The format of a definition: YAML, a zone file (RFC 1035), an octoDNS folder of split files, or a program. */
export type DefinitionKind = 'yaml' | 'zone-file' | 'split' | 'program'

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
  if (stem !== undefined) return { kind: yaml === undefined ? 'zone-file' : 'yaml', zone: zoneOfStem(withoutPrefix(stem, yaml)) }
  return base.startsWith('db.') ? { kind: 'zone-file', zone: zoneOfStem(base.slice(3)) } : null
}

/** Whether a file is a program by its name. Only `files` with its ending make it a definition. */
export const isProgramName = (name: string): boolean => /\.[cm]?[jt]s$/i.test(name) && !/\.d\.[cm]?ts$/i.test(name)

/** Whether a glob names programs: it ends as they do, also in braces, as `*.{ts,js}`. */
export const isProgramGlob = (glob: string): boolean => /\.(?:[cm]?[jt]s|\{[^{}/]*\b[cm]?[jt]s[,}][^{}/]*)$/i.test(glob)

const withoutPrefix = (stem: string, yaml: string | undefined): string =>
  yaml === undefined && /^db\.[^.]+\./.test(stem) ? stem.slice(3) : stem

/** The zone of a folder of split files: its name without `extension`; null for other folders. */
export function splitFolderZone(name: string, extension: string): DomainName | null {
  const base = withoutControlCharacters(name)
  return base.endsWith(extension) ? zoneOfStem(base.slice(0, -extension.length)) : null
}

/** The zone that a name without prefix and extension says. Null for an address such as `192.0.2`, whose zone is its reverse name. */
export function zoneOfStem(text: string): DomainName | null {
  const stem = text.replace(/\.$/, '')
  if (/^[\d._-]*$|:/.test(stem)) return null
  const name = parseDomainName(`${stem}.`)
  return name.ok ? name.value : null
}
