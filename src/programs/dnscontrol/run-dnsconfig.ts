/** Runs a dnsconfig.js in the sandbox, and checks its result as DNSControl does. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { embeddedText } from '../../files/embedded-text.ts'
import type { Sandbox } from '../sandbox/run-program.ts'
import { type ProgramRun, positionsOf } from '../sandbox/sandbox.ts'
import { checkProgram } from './check-program.ts'
import { type JsonObject, withPositions } from './json-object.ts'
import { readSpfCache, type SpfLookUp } from './spf.ts'

/** Whether a file is a program of DNSControl, by its name. */
export const isDnsconfig = (file: string): boolean => /(?:^|[\\/])dnsconfig[^\\/]*\.js$/i.test(file)

export interface DnsconfigRun {
  /** The configuration as `dnscontrol print-ir` writes it; null if the program failed. Incomplete if a diagnostic is an error. */
  readonly config: JsonObject | null
  readonly diagnostics: readonly Diagnostic[]
  /** All files that were read or looked for, as messages show them, sorted. */
  readonly filesRead: readonly string[]
}

/** Answers for SPF flattening, beside the program. */
export const SPF_CACHE = 'spfcache.json'

/** Runs a program. `program` says what it is and how it reads files; `lookUpSpf` has the answers for SPF flattening: `spfcache.json` beside the program, if absent. */
export async function runDnsconfig(
  sandbox: Sandbox,
  program: Omit<ProgramRun, 'language' | 'prelude'>,
  lookUpSpf?: SpfLookUp,
): Promise<DnsconfigRun> {
  const { entry, files } = program
  const { output, diagnostics, filesRead } = await sandbox.run({
    ...program,
    entry: { ...entry, text: withoutDirective(entry.text) },
    language: 'dnscontrol',
    prelude: preludeFor(entry.file),
    files: {
      ...files,
      read: (path, from) => {
        const read = files.read(path, from)
        return read.ok ? { ...read, value: { ...read.value, text: withoutDirective(read.value.text) } } : read
      },
    },
  })
  if (output === null) return { config: null, diagnostics, filesRead }
  const value = withPositions(output.value, positionsOf(output))
  const cache = lookUpSpf === undefined && JSON.stringify(output.value).includes('"flatten":') ? files.read(SPF_CACHE, entry.file) : null
  const cached = cache?.ok ? readSpfCache(cache.value.text) : null
  const checked = checkProgram(value, entry.file, lookUpSpf ?? ((name) => cached?.get(name)))
  const found = [...diagnostics, ...checked.diagnostics]
  if (cache?.ok && cached === null)
    found.push({
      severity: 'error',
      code: 'file-format',
      message: `${cache.value.file} is no cache of SPF records: {"NAME": {"SPF": "v=spf1 …"}}`,
    })
  return { config: checked.config, diagnostics: found, filesRead: cache?.ok ? [...filesRead, cache.value.file].sort() : filesRead }
}

/** Takes away a byte order mark, and the effect of a directive "use strict", which DNSControl ignores. The columns of its line are one higher then. */
function withoutDirective(written: string): string {
  const text = written.replace(/^\uFEFF/, '')
  const space = /\s+|\/\/.*|\/\*[\s\S]*?\*\//y
  let start = 0
  while (space.test(text)) start = space.lastIndex
  return /^['"]use strict['"]/.test(text.slice(start, start + 12)) ? `${text.slice(0, start)};${text.slice(start)}` : text
}

/** The file with the language, beside this one or in the single executable, and the library `_` that DNSControl's programs may use. */
const preludeFor = (entry: string): string =>
  `(host) => { ${sourceOf('underscore-umd-min.js')}\n return (${sourceOf('dnscontrol-prelude.js').replace(/^\/\*\*[\s\S]*?\*\/\s*;?/, '')})(host, ${JSON.stringify(entry)}) }`

function sourceOf(name: string): string {
  const embedded = embeddedText(name)
  if (embedded !== null) return embedded
  const beside = fileURLToPath(new URL(name, import.meta.url))
  try {
    return readFileSync(beside, 'utf8')
  } catch {
    return readFileSync(createRequire(import.meta.url).resolve(`underscore/${name}`), 'utf8')
  }
}
