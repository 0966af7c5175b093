import { type DomainName, parseDomainName, relativeName } from '../../dns/domain-name.ts'

/** How the service names an SRV record: the service without underscore, the protocol without underscore and with the sub-name below the apex. */
export interface SrvOwner {
  readonly service: string
  /** `tcp` at the apex, `tcp.sub` below it, as other clients of the service do. */
  readonly protocol: string
}

/** Takes `_service._proto[.sub]` apart; null for an owner of another form, such as one with a second underscore, which the service would cut off. */
export function splitSrvOwner(name: DomainName, zone: DomainName): SrvOwner | null {
  const parts = /^_([a-z0-9-][a-z0-9_-]*)\._([a-z0-9-]+(?:\.[a-z0-9_.-]+)?)$/.exec(relativeName(name, zone))
  const [, service, protocol] = parts ?? []
  return service === undefined || protocol === undefined ? null : { service, protocol }
}

/** The owner of an SRV record from what the service stores; underscores that are there already are not doubled. */
export function joinSrvOwner(service: string, protocol: string, zone: DomainName): DomainName | null {
  const name = parseDomainName(`_${service.replace(/^_/, '').replace(/\.$/, '')}._${protocol.replace(/^_/, '')}.${zone}`)
  return name.ok ? name.value : null
}
