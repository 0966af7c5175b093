import type { DomainName } from '../../dns/domain-name.ts'
import { type CopiedZone, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { domainShape, ShapeError } from './api-shapes.ts'
import type { CloudApi } from './cloud-api.ts'

/** Makes a domain of a zone that the service transfers from a name server. `addresses` are those the service is known to transfer from. */
export async function importCloudZone(
  api: CloudApi,
  name: DomainName,
  nameserver: string,
  { addresses, toZone }: { readonly addresses: readonly string[]; readonly toZone: ToZone },
  call?: ProviderCallOptions,
): Promise<CopiedZone> {
  const body = { domain: name.slice(0, -1), remote_nameserver: nameserver }
  const what = `importing ${name} from ${nameserver}`
  try {
    const { value } = await api.request({ method: 'POST', path: '/domains/import', body, what, ...call }, (answer) =>
      copied(answer, name, toZone),
    )
    return value
  } catch (error) {
    throw withAddresses(error, what, addresses)
  }
}

/** Makes a domain with the settings and records of another one. */
export async function cloneCloudZone(
  api: CloudApi,
  source: ZoneReference,
  name: DomainName,
  toZone: ToZone,
  call?: ProviderCallOptions,
): Promise<CopiedZone> {
  const what = `cloning ${source.name} as ${name}`
  const request = { method: 'POST', path: `/domains/${source.id}/clone`, body: { domain: name.slice(0, -1) }, what, ...call } as const
  const { value } = await api.request(request, (answer) => copied(answer, name, toZone))
  return value
}

/** A domain as a zone; null where its name is none. */
type ToZone = (domain: ReturnType<typeof domainShape>) => ZoneReference | null

function copied(answer: unknown, name: DomainName, toZone: ToZone): CopiedZone {
  const domain = domainShape(answer)
  const zone = toZone(domain)
  if (zone?.name !== name) throw new ShapeError(`the domain ${name} came back as ${JSON.stringify(domain.domain)}, number ${domain.id}`)
  return { zone, remarks: remarksOf(answer) }
}

/** Lines of remarks that are told. */
const MAX_REMARKS = 100

/** What the service could not take over stands in the domain's `errors`, a line each, where it tells that at all. */
function remarksOf(answer: unknown): string[] {
  const { errors } = answer as { readonly errors?: unknown }
  if (typeof errors !== 'string') return []
  return errors
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, MAX_REMARKS)
    .map((line) => line.slice(0, 2000))
}

/** A name server that refuses the transfer has to be told who asks: every service has addresses of its own for that. */
function withAddresses(error: unknown, what: string, addresses: readonly string[]): unknown {
  if (
    !(error instanceof ProviderError) ||
    error.code !== 'provider-rejected' ||
    // Names of zones and servers may have these words too.
    !/remote_nameserver|transfer|axfr|was refused/i.test(error.message.replace(what, ''))
  )
    return error
  const known =
    addresses.length === 0 ? 'the addresses that the service transfers from (its documentation names them)' : addresses.join(', ')
  const hint = /must allow transfers/.test(error.message) ? undefined : `the name server must allow zone transfers (AXFR) to ${known}`
  return new ProviderError(error.code, error.message, { status: error.status ?? undefined, hint, cause: error })
}
