/** The examples of `docs/diagnostics.md` and `docs/lints/`. */
import { readdirSync, readFileSync } from 'node:fs'

const text = readFileSync(new URL('../../docs/diagnostics.md', import.meta.url), 'utf8')
export type Entry = { readonly code: string; readonly body: string }

/** The pages of lints are entries, too. */
export const LINTS = new URL('../../docs/lints/', import.meta.url)

export const pages: Entry[] = readdirSync(LINTS)
  .filter((file) => file !== 'README.md')
  .map((file) => ({ code: file.replace(/\.md$/, ''), body: readFileSync(new URL(file, LINTS), 'utf8') }))

export const entries: Entry[] = text
  .split(/^### /m)
  .slice(1)
  .map((section) => ({ code: section.split('\n', 1)[0] ?? '', body: section.split(/^## /m)[0] ?? '' }))
  .concat(pages)

/** The files of one example of an entry, by path, with a config and a zone if it has none. */
export function examples(body: string, kind: 'fails' | 'mended'): Record<string, string> {
  const files: Record<string, string> = {}
  for (const [, marker, file, content] of body.matchAll(/^```(?:yaml|zone|ts) (fails|mended)(?: file=(\S+))?\n(.*?)^```$/gms)) {
    if (marker === kind) files[file ?? 'zones/example.com.yaml'] = content ?? ''
  }
  const own = Object.keys(files)
  if (own.length === 0) return files
  const isConfigOnly = own.every((file) => !file.startsWith('zones/'))
  const { 'zonewright.yaml': config } = BASE
  return { 'zonewright.yaml': config, ...(isConfigOnly || own.some((file) => file.endsWith('.txt')) ? BASE : {}), ...files }
}

const BASE = {
  'zonewright.yaml': 'providers: {cloud: {type: cloud, preset: linode, token: env:TOKEN}}\n',
  'zones/example.com.yaml': 'www: {type: A, value: 192.0.2.1}\n',
}
