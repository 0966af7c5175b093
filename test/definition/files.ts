import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Diagnostic, formatDiagnostic } from '../../src/base/diagnostic.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

/** A new folder with these files: text or octets by path. */
export function folderWith(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = temporaryDirectory()
  addFiles(folder, files)
  return folder
}

export function addFiles(folder: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** The config of a folder; throws if it has errors. */
export async function configIn(folder: string): Promise<Config> {
  const { config, diagnostics } = await loadConfig({ cwd: folder })
  if (!config) throw new Error(diagnostics.map(formatDiagnostic).join('\n'))
  return config
}

/** The diagnostics as `FILE:LINE:COLUMN SEVERITY CODE`. */
export const places = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.map(({ at, severity, code }) => `${at ? `${at.file}:${at.line}:${at.column} ` : ''}${severity} ${code}`)
