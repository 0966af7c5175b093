/** Creates and deletes zones. */
import type { DomainName } from '../../dns/domain-name.ts'
import { checkZoneName, fieldsOf, idOf } from '../json-shape.ts'
import type { AppliedCall, ProviderCallOptions, ZoneReference } from '../provider.ts'
import { type ApiZone, type CloudflareApi, ID, zoneShape } from './cloudflare-api.ts'

/** Creates a zone in an account. It is `pending`, and serves its records, until its parent delegates it. */
export async function createZone(
  api: CloudflareApi,
  account: string,
  name: DomainName,
  referenceTo: (zone: ApiZone, name: DomainName) => ZoneReference,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const body = { name: name.slice(0, -1), account: { id: account }, type: 'full' }
  const request = { method: 'POST', path: '/zones', body, what: `creating ${name}`, ...options } as const
  const zone = await api.request(request, (result) => {
    const created = zoneShape(result)
    checkZoneName(body.name, created.name)
    return created
  })
  return { changes: [{ id: zone.id }], zone: referenceTo(zone, name) }
}

/** Deletes a zone with all that Cloudflare has of it. */
export async function deleteZone(api: CloudflareApi, zone: ZoneReference, options?: ProviderCallOptions): Promise<AppliedCall> {
  await api.request({ method: 'DELETE', path: `/zones/${zone.id}`, what: `deleting ${zone.name}`, ...options }, (result) =>
    idOf(fieldsOf(result, 'the result'), 'id', 'the result', ID),
  )
  return {}
}
