/** Reads octoDNS's `Route53Provider/ALIAS`, aliases of the types A and AAAA, as one ALIAS record. */

import { type DomainName, parseDomainName, ROOT } from '../../dns/domain-name.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { lookUp, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'

export const ROUTE53_ALIAS = 'Route53Provider/ALIAS'

/** Aliases have the TTL of their target; Route 53 answers those of AWS resources with 60 seconds. */
const ALIAS_TTL = 60 as Ttl

/** The names of AWS resources, which octoDNS reads as absolute; any other name is below the zone. */
const SERVICE = /(?:^|\.)(?:amazonaws|cloudfront|elasticbeanstalk|awsglobalaccelerator)\.(?:com|net)(?:\.cn)?\.$/

/** The record; null if the values are not aliases of addresses with one target. */
export function readRoute53Alias(node: YamlMapping, name: DomainName, zone: DomainName): DefinedRecord | null {
  const given = lookUp(node, 'values') ?? lookUp(node, 'value')
  if (given === undefined) return null
  const targets = new Set((given.kind === 'sequence' ? given.items : [given]).map((value) => targetOf(value, zone)))
  const [target] = targets
  if (targets.size !== 1 || target === undefined || target === null) return null
  // The hosted zone and the health check of an existing alias stay as they are.
  return { name, type: 'ALIAS', ttl: ALIAS_TTL, data: target, at: given.at, providerSettings: { route53: {} } }
}

function targetOf(value: YamlNode, zone: DomainName): DomainName | null {
  if (value.kind !== 'mapping') return null
  const [type, target] = [textOf(lookUp(value, 'type')), textOf(lookUp(value, 'name')) ?? '']
  if (type !== 'A' && type !== 'AAAA') return null
  if (target === '') return zone
  const parsed = parseDomainName(target, SERVICE.test(target) ? ROOT : zone)
  return parsed.ok ? parsed.value : null
}

const textOf = (node: YamlNode | undefined): string | null => (node?.kind === 'scalar' ? node.text : null)
