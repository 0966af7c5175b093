/** Parses the `octodns:` key of a record. */
import type { Severity } from '../../dns/diagnostic.ts'
import { didYouMean } from '../../dns/nearest-word.ts'
import type { RecordSettings } from '../../dns/record.ts'
import { isBroken, isNull, type YamlNode, type YamlScalar } from '../yaml/yaml-node.ts'
import type { DiagnosticCollector } from './parse-state.ts'
import { hasRecordSettings, readRecordSettings } from './read-record-settings.ts'

/** The options of a record's `octodns:` key. */
export interface OctodnsOptions {
  readonly ignored: boolean
  readonly included: readonly string[]
  readonly excluded: readonly string[]
  readonly lenient: boolean
  /** The settings of the record, by type of provider. */
  readonly settings: Readonly<Record<string, RecordSettings>>
  /** Keys that no target supports, such as `healthcheck` or the name of an octoDNS provider. */
  readonly unsupported: readonly YamlScalar[]
}

export const NO_OCTODNS_OPTIONS: OctodnsOptions = {
  ignored: false,
  included: [],
  excluded: [],
  lenient: false,
  settings: {},
  unsupported: [],
}

const KEYS = ['ignored', 'included', 'excluded', 'lenient'] as const

/** Reads an `octodns:` mapping. An unknown key is taken for one of a provider, unless it looks misspelt: then it is reported with the severity `misspelt`. */
export function readOctodnsOptions(node: YamlNode, subject: string, problems: DiagnosticCollector, misspelt: Severity): OctodnsOptions {
  if (isNull(node) || isBroken(node)) return NO_OCTODNS_OPTIONS
  if (node.kind !== 'mapping') {
    problems.report('schema-type', node.at, subject, 'octodns must be a mapping')
    return NO_OCTODNS_OPTIONS
  }
  const settings: Record<string, RecordSettings> = {}
  const options = {
    ignored: false,
    lenient: false,
    included: [] as string[],
    excluded: [] as string[],
    settings,
    unsupported: [] as YamlScalar[],
  }
  for (const { key, value } of node.entries) {
    switch (key.text) {
      case 'ignored':
      case 'lenient':
        options[key.text] = readBoolean(value, `octodns.${key.text}`, subject, problems)
        break
      case 'included':
      case 'excluded':
        options[key.text] = readNames(value, `octodns.${key.text}`, subject, problems)
        break
      default: {
        if (hasRecordSettings(key.text)) {
          const read = readRecordSettings(key.text, value, subject, problems)
          if (read !== undefined) settings[key.text] = read
          break
        }
        const hint = value.kind === 'mapping' ? undefined : didYouMean(key.text, KEYS)
        if (hint === undefined) options.unsupported.push(key)
        else
          problems.report('schema-unknown-key', key.at, subject, `unknown key ${JSON.stringify(key.text)} under octodns`, {
            hint,
            severity: misspelt,
          })
      }
    }
  }
  return options
}

/** A boolean as octoDNS reads it: in YAML 1.1 `yes` and `on` are true, too. */
function readBoolean(node: YamlNode, name: string, subject: string, problems: DiagnosticCollector): boolean {
  if (isBroken(node)) return false
  if (node.kind === 'scalar' && node.plain) {
    if (/^(?:true|yes|on)$/i.test(node.text)) return true
    if (/^(?:false|no|off)$/i.test(node.text) || isNull(node)) return false
  }
  problems.report('schema-type', node.at, subject, `${name} must be true or false`)
  return false
}

function readNames(node: YamlNode, name: string, subject: string, problems: DiagnosticCollector): string[] {
  if (isBroken(node) || isNull(node)) return []
  const items = node.kind === 'sequence' ? node.items : [node]
  const names: string[] = []
  for (const item of items) {
    if (item.kind === 'scalar' && !isNull(item)) names.push(item.text)
    else if (!isBroken(item)) problems.report('schema-type', item.at, subject, `${name} must be a list of provider names`)
  }
  return names
}
