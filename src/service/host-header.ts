/** A host with an optional port (RFC 9110 section 7.2), possibly empty. A comma is not allowed: proxies join two header fields with it. */
const HOST = /^(?:[a-z0-9._-]*|\[[0-9a-f:.]+\])(?::[0-9]{0,5})?$/i

/** Matches the authority and the rest of a request target in absolute form (RFC 9112 section 3.2.2). */
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)(.*)$/is

/** Returns the path and query of a request target in any form. */
export function originForm(target: string): string {
  const rest = ABSOLUTE_FORM.exec(target)?.[2]
  if (rest === undefined) return target
  return rest.startsWith('/') ? rest : `/${rest}`
}

export interface RequestHead {
  /** Names and values alternately, as received. */
  readonly rawHeaders: readonly string[]
  readonly httpVersion: string
  /** The request target as received. */
  readonly target: string
}

/**
 * Returns the problem with the host of a request, for a response with status 400 (RFC 9112 section 3.2); null if there is none. A valid request has
 * exactly one `Host` field, equal to the authority of a target in absolute form; HTTP/1.0 needs none. A proxy and the service could interpret any
 * other request differently.
 */
export function hostProblem({ rawHeaders, httpVersion, target }: RequestHead): string | null {
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host')
  const [host] = hosts
  if (hosts.length > 1) return 'The request has more than one Host header'
  if (host === undefined) return httpVersion === '1.0' ? null : 'The request has no Host header'
  const authority = ABSOLUTE_FORM.exec(target)?.[1]
  if (!HOST.test(host)) return 'The Host header is not valid'
  if (authority === undefined || authority.toLowerCase() === host.toLowerCase()) return null
  return 'The Host header does not match the request target'
}
