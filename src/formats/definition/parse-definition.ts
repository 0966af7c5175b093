import type { Diagnostic, SourcePosition } from '../../model/diagnostic.ts'
import type { DomainName } from '../../model/domain-name.ts'
import type { Result } from '../../model/result.ts'
import { type Ttl, ttlFromSeconds } from '../../model/ttl.ts'
import type { DesiredZone } from '../../model/zone.ts'
import { readYaml } from '../yaml/read-yaml.ts'
import type { YamlNode } from '../yaml/yaml-node.ts'
import { collectFaults, type Faults } from './faults.ts'
import { readRecordMap } from './read-record-map.ts'
import type { Layout, Reading } from './reading.ts'

/** A file that a definition draws in. `file` identifies it (the same file always by the same text) and stands in positions. */
export interface IncludedFile {
  readonly file: string
  readonly text: string
}

/** Reads a file named in `include:` or `!include`: `path` as it is written, `from` the file that names it. Does the I/O for a pure parser. */
export type ReadInclude = (path: string, from: string) => Result<IncludedFile>

export interface ParseOptions {
  /** The name of the file in positions and diagnostics. */
  readonly file: string
  /** The zone by the name of the file; used where the file has no `domain:`. */
  readonly zoneName?: DomainName | null | undefined
  /** Seconds for records without `ttl` in the layout that is the record map alone; 3600 where absent. */
  readonly octodnsDefaultTtl?: number | undefined
  /** Without it, a file that includes others is an error. */
  readonly include?: ReadInclude | undefined
  /** The most characters one file may have; 10 Mi where absent. */
  readonly maxLength?: number | undefined
}

/** One entry of `include:`. */
export interface IncludeEntry {
  readonly path: string
  readonly with: ReadonlyMap<string, string>
  readonly at: SourcePosition
}

export interface ParsedDefinition {
  /** Null where the file has faults that leave no zone to speak of. With errors among the diagnostics a zone lacks what was at fault. */
  readonly zone: DesiredZone | null
  readonly layout: Layout
  /** False with `enabled: false`: the definition is to be left alone. */
  readonly enabled: boolean
  /** The entries of `include:`; already merged into the zone. */
  readonly includes: readonly IncludeEntry[]
  /** Every other file that was read, by `file`, sorted. */
  readonly includedFiles: readonly string[]
  /** RRsets whose definition says `octodns: {lenient: true}`, by `rrsetKey`. */
  readonly lenient: ReadonlySet<string>
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads a definition in either layout. Every fault of the file becomes a diagnostic with its place; never throws on bad input. */
export function parseDefinition(text: string, options: ParseOptions): ParsedDefinition {
  const { file } = options
  const faults = collectFaults()
  const document = readYaml(text, { file, maxLength: options.maxLength })
  faults.diagnostics.push(...document.diagnostics)
  const reading = readOctodns(document.root === null ? [] : [document.root], options, faults)
  return { zone: null, layout: 'octodns', enabled: true, includes: [], includedFiles: [], lenient: new Set(), diagnostics: [], ...reading }
}

function readOctodns(roots: readonly YamlNode[], options: ParseOptions, faults: Faults): Partial<ParsedDefinition> {
  const zone = options.zoneName as DomainName
  const defaultTtl = ttlFromSeconds(options.octodnsDefaultTtl ?? 3600)
  const reading: Reading = {
    layout: 'octodns',
    zone,
    defaultTtl: defaultTtl.ok ? defaultTtl.value : (3600 as Ttl),
    faults,
    faulty: new Set(),
    records: [],
    foreign: [],
    scopes: [],
    lenient: new Set(),
  }
  for (const root of roots) readRecordMap(root, reading)
  return {
    zone: {
      name: zone,
      at: { file: options.file, line: 1, column: 1 },
      settings: {},
      records: reading.records,
      foreign: reading.foreign,
      scopes: reading.scopes,
      unmanaged: [],
      apexNs: 'keep',
      unsupported: 'error',
      absent: false,
      targets: null,
      policy: null,
      allow: [],
    },
    lenient: reading.lenient,
    diagnostics: faults.diagnostics,
  }
}

export interface SplitZoneFile {
  /** The path in positions and diagnostics. */
  readonly file: string
  readonly text: string
}

/**
 * Reads an octoDNS split directory: several files, each a record map, make one zone. The files are read in the order of their
 * paths; `zoneName` is the directory's name without the `split_extension`.
 */
export function parseSplitZone(
  files: readonly SplitZoneFile[],
  options: Omit<ParseOptions, 'file'> & { readonly zoneName: DomainName },
): ParsedDefinition {
  const faults = collectFaults()
  const roots = files.flatMap(({ file, text }) => {
    const d = readYaml(text, { file })
    faults.diagnostics.push(...d.diagnostics)
    return d.root ? [d.root] : []
  })
  return {
    zone: null,
    layout: 'octodns',
    enabled: true,
    includes: [],
    includedFiles: [],
    lenient: new Set(),
    diagnostics: [],
    ...readOctodns(roots, { ...options, file: '' }, faults),
  }
}
