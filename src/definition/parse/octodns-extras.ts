import type { Severity } from '../../dns/diagnostic.ts'
import { isBroken, isNull, type YamlNode, type YamlScalar } from '../yaml/yaml-node.ts'
import type { DiagnosticCollector } from './collect-diagnostics.ts'
import { didYouMean } from './suggest.ts'

/** What octoDNS's `octodns:` key of a record says. */
export interface RecordExtras {
  readonly ignored: boolean
  readonly included: readonly string[]
  readonly excluded: readonly string[]
  readonly lenient: boolean
  /** Keys that have no meaning here, such as `healthcheck` or a provider's name. */
  readonly others: readonly YamlScalar[]
}

export const NO_EXTRAS: RecordExtras = { ignored: false, included: [], excluded: [], lenient: false, others: [] }

const KEYS = ['ignored', 'included', 'excluded', 'lenient'] as const

/**
 * Reads an `octodns:` mapping. Keys of providers are their own business and are handed back in `others`; a key that looks
 * misspelt is reported with the severity given.
 */
export function readExtras(node: YamlNode, subject: string, problems: DiagnosticCollector, misspelt: Severity): RecordExtras {
  if (isNull(node) || isBroken(node)) return NO_EXTRAS
  if (node.kind !== 'mapping') {
    problems.report('schema-type', node.at, subject, 'octodns is a mapping')
    return NO_EXTRAS
  }
  const extras = { ignored: false, lenient: false, included: [] as string[], excluded: [] as string[], others: [] as YamlScalar[] }
  for (const { key, value } of node.entries) {
    switch (key.text) {
      case 'ignored':
      case 'lenient':
        extras[key.text] = readBoolean(value, `octodns.${key.text}`, subject, problems)
        break
      case 'included':
      case 'excluded':
        extras[key.text] = readNames(value, `octodns.${key.text}`, subject, problems)
        break
      default: {
        const hint = value.kind === 'mapping' ? undefined : didYouMean(key.text, KEYS)
        if (hint === undefined) extras.others.push(key)
        else
          problems.report('schema-unknown-key', key.at, subject, `octodns has no key ${JSON.stringify(key.text)}`, {
            hint,
            severity: misspelt,
          })
      }
    }
  }
  return extras
}

/** octoDNS reads YAML 1.1, where `yes` and `on` are booleans too. */
function readBoolean(node: YamlNode, name: string, subject: string, problems: DiagnosticCollector): boolean {
  if (isBroken(node)) return false
  if (node.kind === 'scalar' && node.plain) {
    if (/^(?:true|yes|on)$/i.test(node.text)) return true
    if (/^(?:false|no|off)$/i.test(node.text) || isNull(node)) return false
  }
  problems.report('schema-type', node.at, subject, `${name} is true or false`)
  return false
}

function readNames(node: YamlNode, name: string, subject: string, problems: DiagnosticCollector): string[] {
  if (isBroken(node) || isNull(node)) return []
  const items = node.kind === 'sequence' ? node.items : [node]
  const names: string[] = []
  for (const item of items) {
    if (item.kind === 'scalar' && !isNull(item)) names.push(item.text)
    else if (!isBroken(item)) problems.report('schema-type', item.at, subject, `${name} is a list of names of providers`)
  }
  return names
}
