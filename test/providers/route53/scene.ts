/** A scripted Route 53 with the zone example.com, and record sets for it. */
import { expect } from 'vitest'
import type { RecordSet } from '../../scripted/route53/record-sets.ts'
import { plainSet, type Route53Options } from '../../scripted/route53/service.ts'
import type { ScriptedServer } from '../../scripted/scripted-server.ts'
import { ACCESS_KEY, ROUTE53_ZONE } from '../../scripted/services.ts'
import type { cli } from '../../support/cli.ts'
import { type SceneOptions, startCloudScene } from '../scripted-scene.ts'

export const KEY = ACCESS_KEY
export const ZONE_ID = ROUTE53_ZONE.id
export type Route53Scene = Awaited<ReturnType<typeof startRoute53Scene>>

export async function startRoute53Scene({
  sets = [],
  definition = '',
  ...options
}: SceneOptions &
  Partial<Route53Options> & {
    /** The record sets that exist at the start. */
    readonly sets?: readonly RecordSet[]
  } = {}) {
  const scene = await startCloudScene('route53', { provider: 'aws', zones: [{ ...ROUTE53_ZONE, sets }], definition, ...options })
  const isFrame = ({ name, type }: RecordSet): boolean => name === 'example.com.' && /^(?:NS|SOA)$/.test(type)
  return {
    ...scene,
    route53: scene.scripted,
    /** The record sets of example.com apart from NS and SOA, as `name type ttl values`; an alias has its target and `health` instead of them. */
    held: (): string[] => scene.scripted.sets(ZONE_ID).flatMap((set) => (isFrame(set) ? [] : [lineOf(set)])),
  }
}

const lineOf = ({ name, type, ttl, values, alias }: RecordSet): string =>
  alias === null
    ? `${name} ${type} ${ttl} ${values.join(' | ')}`
    : `${name} ${type} ${alias.hostedZoneId} ${alias.dnsName}${alias.evaluateTargetHealth ? ' health' : ''}`

export const aliasSet = (name: string, type: string, hostedZoneId: string, dnsName: string, evaluateTargetHealth = false): RecordSet => {
  return { ...plainSet(name, type, 0), ttl: null, alias: { hostedZoneId, dnsName, evaluateTargetHealth } }
}

/** The requests that change something. */
export const changesIn = ({ requests }: ScriptedServer): number => requests.filter(({ method }) => method !== 'GET').length

/** Expects that a run succeeded, and shows its output otherwise. */
export const succeeded = ({ status, stdout, stderr }: Awaited<ReturnType<typeof cli>>): void => expect(status, stdout + stderr).toBe(0)
