/** Parses the settings of a record at one type of provider: the key `cloudflare:` of a record, or the same key under `octodns:`. */
import type { Result } from '../../base/result.ts'
import { type Ownership, ownershipOf, parseFullDate, parseOwner } from '../../dns/ownership.ts'
import type { RecordSettings } from '../../dns/record.ts'
import { isBroken, isNull, lookUp, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import type { DiagnosticCollector } from './parse-state.ts'

type Kind = 'boolean' | 'text' | 'texts'

/** The settings by type of provider. `auto_ttl` gives the record no TTL. */
const SETTINGS: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  cloudflare: { proxied: 'boolean', auto_ttl: 'boolean', comment: 'text', tags: 'texts' },
}

export const hasRecordSettings = (provider: string): boolean => Object.hasOwn(SETTINGS, provider)

/** Whether a key is a setting of records at a type of provider. */
export const isRecordSetting = (provider: string, key: string): boolean => Object.hasOwn(SETTINGS[provider] ?? {}, nameOf(key))

/** octoDNS writes `auto-ttl`. */
const nameOf = (key: string): string => key.replaceAll('-', '_')

/** Reads the settings of one type of provider; those that are not valid are reported and left out. */
export function readRecordSettings(
  provider: string,
  node: YamlNode,
  subject: string,
  problems: DiagnosticCollector,
): RecordSettings | undefined {
  if (isBroken(node) || isNull(node)) return undefined
  if (node.kind !== 'mapping') {
    problems.report('schema-type', node.at, subject, `${provider} must be a mapping of settings`)
    return undefined
  }
  const kinds = SETTINGS[provider] ?? {}
  const settings: Record<string, RecordSettings[string]> = {}
  for (const { key, value } of node.entries) {
    const name = nameOf(key.text)
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
    if (kind === undefined) {
      const hint = `The settings are ${Object.keys(kinds).join(', ')}.`
      problems.report('schema-unknown-key', key.at, subject, `unknown key ${JSON.stringify(key.text)} under ${provider}`, { hint })
      continue
    }
    const read = isBroken(value) ? undefined : readSetting(value, kind)
    if (read !== undefined) settings[name] = read
    else if (!isBroken(value)) problems.report('schema-type', value.at, subject, `${provider}.${key.text} must be ${FORMS[kind]}`)
  }
  return settings
}

const FORMS: Readonly<Record<Kind, string>> = { boolean: 'true or false', text: 'a text', texts: 'a list of texts' }

function readSetting(node: YamlNode, kind: Kind): RecordSettings[string] | undefined {
  if (kind === 'texts') {
    const items = node.kind === 'sequence' ? node.items : [node]
    return items.every((item) => item.kind === 'scalar' && !isNull(item))
      ? [...new Set(items.map((item) => (item as { text: string }).text))].sort()
      : undefined
  }
  if (node.kind !== 'scalar' || isNull(node)) return undefined
  if (kind === 'text') return node.text
  if (/^(?:true|yes|on)$/i.test(node.text)) return true
  return /^(?:false|no|off)$/i.test(node.text) ? false : undefined
}

// Parses `owner` and `expires` of a record or zone.

/** Reads the two keys. An invalid one is reported and left out. */
export function readOwnership(
  node: YamlMapping,
  subject: string,
  { invalid, problems }: { readonly invalid: ReadonlySet<YamlNode>; readonly problems: DiagnosticCollector },
): Ownership {
  const read = <T>(key: string, parse: (text: string) => Result<T>): T | undefined => {
    const value = lookUp(node, key)
    if (value === undefined || invalid.has(value) || isBroken(value)) return undefined
    const parsed: Result<T> = value.kind === 'scalar' && !isNull(value) ? parse(value.text) : { ok: false, message: 'must be text' }
    if (parsed.ok) return parsed.value
    problems.report('schema-value', value.at, subject, `${key}: ${parsed.message}`)
    return undefined
  }
  const [owner, expires] = [read('owner', parseOwner), read('expires', parseFullDate)]
  return ownershipOf({ owner, expires })
}
