/** The directives of zone files. */
import { unescapeString } from '../character-string.ts'
import { type DomainName, isAtOrBelow, parseDomainName } from '../domain-name.ts'
import { type GeneratedText, readGenerate } from './generate.ts'
import { readNameToken, readTtl } from './read-record.ts'
import { type IncludedZoneFile, reportProblem, tokenPosition, tokenText, type ZoneFileScope } from './scope.ts'

/** The deepest nesting of included files. */
const MAX_INCLUDE_DEPTH = 16

/** Maximum number of included files, and of characters in all of them together. */
const MAX_INCLUSIONS = 1000
const MAX_INCLUDED_LENGTH = 1 << 26

/** Text that replaces a directive. */
export type Insertion =
  | { readonly kind: 'file'; readonly source: IncludedZoneFile; readonly origin: DomainName | null }
  | { readonly kind: 'generated'; readonly generated: GeneratedText }

/** Executes the entry as a directive. Returns the text to read in its place, if any; reports errors. */
export function readDirective(scope: ZoneFileScope): Insertion | null {
  const { run, lexer } = scope
  const directive = tokenText(lexer, 0).toUpperCase()
  switch (directive) {
    case '$ORIGIN':
      readOrigin(scope)
      return null
    case '$TTL':
      readDefaultTtl(scope)
      return null
    case '$INCLUDE':
      return readInclude(scope)
    case '$GENERATE': {
      const generated = readGenerate(scope)
      return generated && { kind: 'generated', generated }
    }
    default: {
      const hint = 'The directives are $ORIGIN, $TTL, $INCLUDE and $GENERATE; a name that begins with a dollar sign is written \\$.'
      const message = `${JSON.stringify(tokenText(lexer, 0).slice(0, 60))} is not a directive`
      reportProblem(run, 'zonefile-directive', message, tokenPosition(scope, 0), { hint })
      return null
    }
  }
}

/** Whether the directive has from one to `most` operands; reports an error if not. */
function hasOperands(scope: ZoneFileScope, form: string, most = 1): boolean {
  const given = scope.lexer.count - 1
  if (given >= 1 && given <= most) return true
  const place = tokenPosition(scope, given === 0 ? 1 : most + 1)
  reportProblem(scope.run, 'zonefile-directive', `the directive has the wrong number of operands (${given}); it must be ${form}`, place)
  return false
}

/** `$ORIGIN name`: sets the origin from here to the end of the file. */
function readOrigin(scope: ZoneFileScope): void {
  const { run, lexer } = scope
  if (!hasOperands(scope, '$ORIGIN NAME')) return
  const written = tokenText(lexer, 1)
  const isRelative = written !== '@' && !parseDomainName(written).ok && parseDomainName(`${written}.`).ok
  if (isRelative && run.firstOrigin === null) {
    refuseRelativeOrigin(scope, written)
    return
  }
  const origin = readNameToken(scope, 1)
  if (!origin.ok) {
    reportProblem(run, 'name-invalid', `$ORIGIN: ${origin.message}`, tokenPosition(scope, 1))
    return
  }
  scope.origin = origin.value
  run.hasCapitalOrigin ||= /[A-Z]/.test(written)
  if (written !== '@') run.firstOrigin ??= origin.value
}

/**
 * Reports a relative `$ORIGIN` that no absolute one precedes: NSD and Knot refuse it, and BIND appends the zone that its configuration names. The
 * records that follow get the name that was probably meant.
 */
function refuseRelativeOrigin(scope: ZoneFileScope, written: string): void {
  const { run, origin } = scope
  const absolute = parseDomainName(`${written}.`)
  const relative = parseDomainName(written, origin)
  const isWhole = absolute.ok && (!relative.ok || origin === null || isAtOrBelow(absolute.value, origin))
  const meant = isWhole ? absolute : relative
  if (meant.ok) scope.origin = meant.value
  run.firstOrigin = scope.origin
  const message = `$ORIGIN ${written} is relative, and no $ORIGIN before it is absolute`
  reportProblem(run, 'zonefile-directive', message, tokenPosition(scope, 1), {
    hint: `Write it with the final dot: $ORIGIN ${scope.origin}`,
  })
}

/** `$TTL time`: sets the default TTL from here to the end of the file (RFC 2308 section 4). */
function readDefaultTtl(scope: ZoneFileScope): void {
  if (!hasOperands(scope, '$TTL TIME')) return
  const ttl = readTtl(scope, 1)
  if (ttl !== null) scope.defaultTtl = ttl
}

/** `$INCLUDE file [origin]`. */
function readInclude(scope: ZoneFileScope): Insertion | null {
  const { run, lexer } = scope
  if (!hasOperands(scope, '$INCLUDE FILE [ORIGIN]', 2)) return null
  const at = tokenPosition(scope, 1)
  const refuse = (message: string): null => {
    reportProblem(run, 'zonefile-include', message, at)
    return null
  }
  let { origin } = scope
  if (lexer.count === 3) {
    const given = readNameToken(scope, 2)
    if (!given.ok) {
      reportProblem(run, 'name-invalid', `$INCLUDE: ${given.message}`, tokenPosition(scope, 2))
      return null
    }
    origin = given.value
    run.hasCapitalOrigin ||= /[A-Z]/.test(tokenText(lexer, 2))
  }
  const path = unescapeString(tokenText(lexer, 1))
  if (!path.ok) return refuse(path.message)
  if (!run.include) return refuse('files cannot be included here')
  if (run.open.length > MAX_INCLUDE_DEPTH) return refuse(`files are included more than ${MAX_INCLUDE_DEPTH} deep`)
  if (run.inclusions >= MAX_INCLUSIONS) return refuse(`more than ${MAX_INCLUSIONS} files are included`)
  const source = run.include(Buffer.from(path.value).toString('utf8'), scope.file)
  if (!source.ok) return refuse(source.message)
  if (run.open.includes(source.value.file)) return refuse(`${source.value.file} includes itself`)
  run.inclusions += 1
  run.includedLength += source.value.text.length
  if (run.includedLength > MAX_INCLUDED_LENGTH) {
    refuse(`the included files have more than ${MAX_INCLUDED_LENGTH} characters together; the rest of the file is not read`)
    run.stopped = true
    return null
  }
  run.included.add(source.value.file)
  return { kind: 'file', source: source.value, origin }
}

/** Remembers the `$TTL` of an included file, which ends with that file. */
export function rememberIncludedTtl(scope: ZoneFileScope, inner: ZoneFileScope): void {
  const { run, defaultTtl } = scope
  if (inner.defaultTtl === null || inner.defaultTtl === defaultTtl || run.hasTtlWarning) return
  scope.endedTtl = { ttl: inner.defaultTtl, file: inner.file, at: tokenPosition(scope, 0) }
}

/** Warns of the remembered TTL if anything but a `$TTL` follows: BIND and NSD keep using that TTL. */
export function warnOfIncludedTtl(scope: ZoneFileScope): void {
  const { run, lexer, defaultTtl, endedTtl } = scope
  scope.endedTtl = null
  if (endedTtl === null || run.hasTtlWarning || (lexer.count > 0 && /^\$TTL$/i.test(tokenText(lexer, 0)))) return
  run.hasTtlWarning = true
  const { ttl, file, at } = endedTtl
  const own = defaultTtl === null ? 'has none' : `is ${defaultTtl} again`
  const message = `$TTL ${ttl} of ${file} ends with that file; from here the default TTL ${own}, but BIND and NSD keep using ${ttl}`
  reportProblem(run, 'zonefile-ttl', message, at, { severity: 'warning', hint: 'Put $TTL after the $INCLUDE.' })
}
