/** A service for client programs in other languages, with a clock that they advance, and the comparison of their operations with those of the service. */
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { expect } from 'vitest'
import { aliasPathOf } from '../../../src/service/api/alias-names.ts'
import type { Route } from '../../../src/service/api/route.ts'
import { ROUTES } from '../../../src/service/api/routes.ts'
import { type RunningService, readSeed, type ServiceOptions } from '../../../src/service/index.ts'
import { afterThisFile } from '../../support/after-file.ts'
import { selfSigned } from '../../support/certificate.ts'
import { runTool } from '../../support/tools.ts'
import { startForTest, temporaryDirectory } from '../harness.ts'
import { SSH_KEYS } from '../profile/ssh-key-samples.ts'
import { record, scriptedMaster, serving, soa } from '../transfers/scripted-master.ts'

const SEED = {
  accounts: [
    {
      users: [
        {
          username: 'alice',
          email: 'alice@example.com',
          tokens: [{ token: 'alice-token' }],
          apps: ['dashboard', 'other'].map((label) => ({ label, tokens: [label] })),
          devices: [{ user_agent: 'Mozilla/5.0' }, { user_agent: 'Mozilla/5.0' }],
        },
        {
          username: 'robert',
          email: 'robert@example.com',
          restricted: true,
          tokens: [{ token: 'robert-token' }],
          grants: { global: { add_instances: true }, instance: [{ label: 'seeded', permissions: 'read_write' }] },
        },
      ],
      instances: [{ id: 1001, label: 'seeded', region: 'us-east', image: 'public/debian11' }],
      volumes: [{ id: 4001, label: 'data', region: 'us-east', instance: 'seeded' }],
      load_balancers: [{ id: 6001, label: 'front', region: 'us-east', ipv4: '192.0.2.7' }],
    },
  ],
}

/** The start of the clock. */
const START = Date.UTC(2026, 0, 31, 9)

export interface ClientService {
  readonly service: RunningService
  /** The environment of a client program: the service, tokens, the file of messages, and the URL that advances the clock. */
  readonly environment: Readonly<Record<string, string>>
  /** Advances the clock by seconds and runs the due jobs. Returns its time in seconds. */
  readonly pass: (seconds: number) => Promise<number>
}

/** Starts the service, a master of the zone `example.test` for imports, and a server that advances the clock: `GET /pass/SECONDS` returns its time in seconds. */
export async function startClientService(options: Pick<Partial<ServiceOptions>, 'dns' | 'tls'> = {}): Promise<ClientService> {
  const { seed, diagnostics } = readSeed(JSON.stringify(SEED), 'seed.json')
  expect(diagnostics).toEqual([])
  let now = START
  const messages = join(temporaryDirectory(), 'messages')
  const peerPort = await scriptedMaster(serving([soa(), record('www.example.test.', 'A', '192.0.2.1')]), { keep: true })
  const { service } = await startForTest({ seed, clock: () => now, peerPort, smsSink: { kind: 'file', path: messages }, ...options })
  const pass = async (seconds: number): Promise<number> => {
    now += 1000 * seconds
    await service.catchUp()
    await service.flush()
    return now / 1000
  }
  const control = createServer(async (request, response) => response.end(String(await pass(Number(request.url?.split('/').at(-1))))))
  const environment = {
    SERVICE: new URL(service.baseUrl).origin,
    VERSION: 'v4',
    TOKEN: 'alice-token',
    RESTRICTED_TOKEN: 'robert-token',
    SMS: messages,
    SSH_KEY: SSH_KEYS['ssh-ed25519'] as string,
    CONTROL: `http://127.0.0.1:${await listening(control)}`,
  }
  return { service, environment, pass }
}

/**
 * Starts the service for clients that know one host only: with a certificate for it, behind a proxy that leads there whatever is queried. Needs openssl.
 */
export async function startBehindProxy(): Promise<ClientService> {
  const tls = selfSigned('test', ['rsa:2048'], 'DNS:api.linode.com')
  const certificate = join(temporaryDirectory(), 'certificate.pem')
  writeFileSync(certificate, tls.cert)
  const { environment, ...rest } = await startClientService({ tls })
  const proxy = createServer().on('connect', (_request, socket) => {
    const connection = connect(Number(new URL(environment['SERVICE'] as string).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n')
      connection.pipe(socket).pipe(connection)
    })
    for (const end of [socket, connection]) end.on('error', () => void connection.destroy(socket.destroy() as never))
  })
  const port = await listening(proxy)
  return { ...rest, environment: { ...environment, HTTPS_PROXY: `http://127.0.0.1:${port}`, REQUESTS_CA_BUNDLE: certificate } }
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterThisFile(() => server.close())
  return (server.address() as AddressInfo).port
}

type Environment = Readonly<Record<string, string>>

/** Runs a client program that prints JSON. Throws with what it printed if it fails. */
// biome-ignore lint/suspicious/noExplicitAny: each program prints its own
export async function runClient(program: string, args: readonly string[], env: Environment = {}, input = ''): Promise<any> {
  const { status, stdout, stderr } = await runTool(program, args, { env, input, timeout: 110_000 })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stderr.slice(-4000)}`)
  return JSON.parse(stdout)
}

/** The number and the text that client programs use for the parameters of a path when they only record their requests. */
const PLACEHOLDER = '(?:999999999|probe)'

const patternOf = ({ method, path }: Route): RegExp =>
  new RegExp(`^${method} /v4(?:beta)?${(aliasPathOf(path) ?? path).replace(/\{\w+\}/g, PLACEHOLDER)}$`)

const PATTERNS = ROUTES.map(patternOf)

/** Whether a recorded request, such as `GET /v4/domains/999999999`, is an operation of the service. */
export const isServed = (request: string): boolean => PATTERNS.some((pattern) => pattern.test(request))

/** Whether a recorded request belongs to a section of the service. */
export const isInSection = (request: string): boolean =>
  /^\w+ \/v4(?:beta)?\/(?:linode\/(?:instances|kernels|stackscripts)|domains|images|regions|tags|profile)(?:\/|$)/.test(request)
