import { isIPv6 } from 'node:net'

/** `ADDRESS:PORT` or `[ADDRESS]:PORT`; port 0 lets the system choose. Null for anything else. */
export function parseListen(text: string): { host: string; port: number } | null {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):([0-9]{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === undefined || Number(port) > 65_535 || (bracketed !== undefined && !isIPv6(bracketed))) return null
  return { host, port: Number(port) }
}
