import { failure, ok, type Result } from '../result.ts'
import { excerpt, type Token } from './field.ts'
import { canonicalUnsigned } from './numbers.ts'

/** Ports by the names that WKS records use for them (RFC 1010), and a few that came later. */
const SERVICES: Readonly<Record<string, number>> = {
  tcpmux: 1,
  rje: 5,
  echo: 7,
  discard: 9,
  users: 11,
  systat: 11,
  daytime: 13,
  netstat: 15,
  quote: 17,
  qotd: 17,
  chargen: 19,
  'ftp-data': 20,
  ftp: 21,
  ssh: 22,
  telnet: 23,
  smtp: 25,
  time: 37,
  rlp: 39,
  name: 42,
  nameserver: 42,
  nicname: 43,
  whois: 43,
  login: 49,
  domain: 53,
  bootps: 67,
  bootpc: 68,
  tftp: 69,
  gopher: 70,
  finger: 79,
  http: 80,
  www: 80,
  link: 87,
  kerberos: 88,
  supdup: 95,
  hostname: 101,
  hostnames: 101,
  'iso-tsap': 102,
  x400: 103,
  'x400-snd': 104,
  'csnet-ns': 105,
  rtelnet: 107,
  pop2: 109,
  pop3: 110,
  sunrpc: 111,
  auth: 113,
  ident: 113,
  sftp: 115,
  'uucp-path': 117,
  nntp: 119,
  ntp: 123,
  'netbios-ns': 137,
  'netbios-dgm': 138,
  'netbios-ssn': 139,
  imap: 143,
  imap2: 143,
  snmp: 161,
  bgp: 179,
  irc: 194,
  ldap: 389,
  https: 443,
  submission: 587,
  ldaps: 636,
  imaps: 993,
  pop3s: 995,
}

/** Ports of a WKS record as numbers, each once, in order. */
export function canonicalServices(tokens: readonly Token[]): Result<string> {
  const ports = new Set<number>()
  for (const { text } of tokens) {
    const name = text.toLowerCase()
    if (Object.hasOwn(SERVICES, name)) {
      ports.add(SERVICES[name] as number)
      continue
    }
    if (!/^[0-9]/.test(text)) return failure(`${excerpt(text)} is not a service; write the number of its port`)
    const port = canonicalUnsigned(text, 'u16')
    if (!port.ok) return port
    ports.add(Number(port.value))
  }
  return ok([...ports].sort((a, b) => a - b).join(' '))
}
