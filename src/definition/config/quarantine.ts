/** Reads `quarantine` of the config. */
import { parseTtl } from '../../dns/ttl.ts'
import { DEFAULT_QUARANTINE, MAX_QUARANTINE, type QuarantineRule } from '../../dns/zone-source.ts'
import { positionAt } from '../yaml/yaml-node.ts'
import type { ConfigDocument, Reading } from './config-document.ts'

export function quarantineOf(
  { reads, for: time }: NonNullable<ConfigDocument['quarantine']> = {},
  { root, diagnostics }: Reading,
): QuarantineRule {
  const seconds = parseTtl(String(time ?? DEFAULT_QUARANTINE.seconds))
  if (!seconds.ok || seconds.value > MAX_QUARANTINE.seconds) {
    const message = `"quarantine.for": ${seconds.ok ? 'it is more than 30 days' : seconds.message}`
    diagnostics.push({ severity: 'error', code: 'schema-value', message, at: positionAt(root, ['quarantine', 'for']) })
  }
  return { reads: reads ?? DEFAULT_QUARANTINE.reads, seconds: seconds.ok ? seconds.value : DEFAULT_QUARANTINE.seconds }
}
