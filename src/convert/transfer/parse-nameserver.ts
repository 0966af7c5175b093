import { isIP } from 'node:net'
import { parseDomainName } from '../../dns/domain-name.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import { parseServerAddress } from '../../dns/server-address.ts'

/** A host name in A-labels whose last label is no number, as those of addresses are (RFC 1123 section 2.1). */
const HOST_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?\.$/

/** The name server that a provider is to transfer from, as its interface takes it: an address, or a name without the final dot, and no port. */
export function readNameServer(text: string): Result<string> {
  const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text
  if (isIP(bare) !== 0 && !bare.includes('%')) return ok(bare)
  const name = parseDomainName(text.endsWith('.') ? text : `${text}.`)
  if (name.ok && HOST_NAME.test(name.value)) return ok(name.value.slice(0, -1))
  const { host, port } = parseServerAddress(text)
  if (host !== text && host !== bare && readNameServer(host).ok)
    return failure(`${JSON.stringify(text)} has a port, and the provider asks name servers at port 53 only (${port} cannot be meant)`)
  return failure(`${JSON.stringify(text)} is neither the address nor the name of a name server`)
}
