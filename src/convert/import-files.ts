import { isAbsolute } from 'node:path'
import { CONFIG_FILE } from '../definition/config/config.ts'
import type { OutputFile } from '../definition/imported-zone.ts'
import { printDefinition } from '../definition/print/print-definition.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'
import { ROOT } from '../dns/domain-name.ts'
import { zoneFileName } from '../dns/zone-file/zone-file-name.ts'
import type { Imported } from './conversion.ts'

export interface ImportFiles {
  /** In the order of the zones, each path once. */
  readonly files: readonly OutputFile[]
  readonly diagnostics: readonly Diagnostic[]
}

/** The files of an import: those its zones have as they are, a new definition for each other zone, and those beside them. */
export function importFiles({ zones, files = [] }: Imported): ImportFiles {
  const byPath = new Map<string, string>()
  const diagnostics: Diagnostic[] = []
  const add = ({ path, text }: OutputFile): void => {
    if (isAbsolute(path) || path.split(/[/\\]/).includes('..')) {
      diagnostics.push({ severity: 'error', code: 'path-outside', message: `${path} leads out of the folder for the definitions` })
      return
    }
    const known = byPath.get(path)
    if (known === undefined) byPath.set(path, text)
    else if (known !== text) {
      const message = `two different files would be written as ${path}`
      diagnostics.push({ severity: 'error', code: 'file-exists', message, hint: 'import the zones one by one, into folders of their own' })
    }
  }
  for (const zone of zones) for (const file of zone.files ?? []) add(file)
  // A zone may be called as the config is.
  const taken = new Set([CONFIG_FILE, ...byPath.keys()])
  for (const zone of zones) {
    if (zone.name === ROOT)
      diagnostics.push({ severity: 'error', code: 'zone-name', message: 'the root cannot be managed as a zone', hint: 'leave it out' })
    if (zone.files !== undefined) continue
    add({ path: zoneFileName(zone.name, taken, 'yaml'), text: printDefinition(zone) })
  }
  for (const file of files) add(file)
  return { files: [...byPath].map(([path, text]) => ({ path, text })), diagnostics }
}
