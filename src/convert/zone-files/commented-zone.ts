import type { ImportedZone } from '../../definition/imported-zone.ts'
import { zoneFileDefinition } from '../../definition/load/zone-file-definition.ts'
import { type Diagnostic, hasErrors } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { placeComments } from '../../dns/zone-file/place-comments.ts'
import type { IncludedZoneFile, ReadZoneInclude } from '../../dns/zone-file/scope.ts'
import type { UnsupportedFeature } from '../conversion.ts'

export interface CommentedZone {
  /** Null where nothing says which zone the file is of. */
  readonly zone: ImportedZone | null
  readonly dropped: readonly UnsupportedFeature[]
  readonly includedFiles: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/** The zone of a zone file with the comments of the file and of those it includes. With errors there are none: nothing is written then. */
export function readCommentedZone(file: IncludedZoneFile, zoneName: DomainName | null, include?: ReadZoneInclude): CommentedZone {
  const opened: IncludedZoneFile[] = []
  const { zone, read, includedFiles, diagnostics } = zoneFileDefinition(file.text, zoneName, {
    file: file.file,
    include: include && noting(include, opened),
  })
  if (zone === null) return { zone, dropped: [], includedFiles, diagnostics }
  const { name, settings, records } = zone
  if (hasErrors(diagnostics)) return { zone: { name, settings, records }, dropped: [], includedFiles, diagnostics }
  const { comments, left } = placeComments({ zone: name, file, included: opened, records: read })
  const what = `${left} more ${left === 1 ? 'line' : 'lines'} of comments than are kept`
  const dropped = left === 0 ? [] : [{ zone: name, name: null, type: null, what, at: zone.at }]
  return { zone: { name, settings, records, comments }, dropped, includedFiles, diagnostics }
}

/** The same reader, which notes what it gives. */
const noting =
  (include: ReadZoneInclude, opened: IncludedZoneFile[]): ReadZoneInclude =>
  (path, from) => {
    const source = include(path, from)
    if (source.ok) opened.push(source.value)
    return source
  }
