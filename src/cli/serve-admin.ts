/** `zonewright serve account` and `serve audit`: administer the hosting service while it runs, or its database while it does not. */
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { ExitStatus } from '../run/context/exit-status.ts'
import type { AdminClient } from '../service/index.ts'
import { type SetAction, subcommand, withStoreOptions } from './command.ts'
import { reportingProblems, type StoreOptions, storeOptions, storePlace } from './commands/backup.ts'
import type { CliIo } from './io.ts'
import { type CliOutput, createOutput } from './output.ts'

interface AdminOptions extends StoreOptions {
  readonly admin?: string
  readonly email?: string
  readonly account?: string
  readonly quotas?: string
  readonly restricted?: boolean
  readonly label?: string
  readonly scopes?: string
  readonly expiry?: string
  readonly revoke?: string
  readonly object?: string
  readonly since?: string
  readonly until?: string
}

type Work = (client: AdminClient, output: CliOutput, name: string, options: AdminOptions, argument: string | undefined) => Promise<void>

interface Account {
  readonly id: number
  readonly users: readonly string[]
  readonly suspended: string | null
  readonly domains: number
  readonly quotas: Readonly<Record<string, number | null>>
}

const describe = ({ id, users, suspended, domains, quotas }: Account): string => {
  const own = Object.entries(quotas).map(([quota, limit]) => `${quota}=${limit ?? 'none'}`)
  const state = suspended === null ? 'active' : `suspended since ${suspended}`
  return `${[id, users.join(','), `${domains} domains`, state, ...(own.length === 0 ? [] : [own.join(',')])].join('\t')}\n`
}

const pathOf = (name: string): string => `/accounts/${encodeURIComponent(name)}`

const printToken = async (client: AdminClient, output: CliOutput, name: string, options: AdminOptions): Promise<void> => {
  const { label, scopes, expiry } = options
  const { token, id } = await client.request('POST', `${pathOf(name)}/tokens`, { label, scopes, expiry })
  output.note(`Token ${id} of ${name}, shown this once:`)
  output.print(`${token}\n`)
}

/** Quotas such as `domains=5,images=none`; `none` for those of the service. */
const ownQuotas = async (text: string): Promise<object> => (text === 'none' ? {} : (await import('../service/index.ts')).parseQuotas(text))

const ACTIONS: Readonly<Record<string, readonly [args: string, summary: string, work: Work]>> = {
  list: [
    '',
    'list the accounts: number, users, domains, state, own quotas',
    async (client, output) => {
      for (let after: number | null = 0; after !== null; ) {
        const { data, next }: { data: Account[]; next: number | null } = await client.request('GET', `/accounts?after=${after}`)
        output.print(data.map(describe).join(''))
        after = next
      }
    },
  ],
  add: [
    '<user>',
    'create a user with an account, and print a token',
    async (client, output, name, options) => {
      const { email = '', restricted = false, account, quotas, label = 'operator', scopes, expiry } = options
      // User and token are one request, so that a wrong scope leaves no user without a token.
      const token = randomBytes(32).toString('hex')
      const user = { username: name, email, restricted, tokens: [{ token, label, scopes, expiry }] }
      if (account !== undefined) await client.request('POST', `${pathOf(account)}/users`, user)
      else await client.request('POST', '/accounts', { users: [user], quotas: quotas && (await ownQuotas(quotas)) })
      output.note(`Token of ${name}, shown this once:`)
      output.print(`${token}\n`)
    },
  ],
  suspend: [
    '<account>',
    'refuse its requests and stop answering for its zones',
    (client, output, name) => post(client, output, name, 'suspend'),
  ],
  resume: ['<account>', 'end a suspension', (client, output, name) => post(client, output, name, 'resume')],
  token: [
    '<user>',
    'print a new token, or revoke one',
    async (client, output, name, options) => {
      if (options.revoke === undefined) return printToken(client, output, name, options)
      await client.request('DELETE', `${pathOf(name)}/tokens/${encodeURIComponent(options.revoke)}`)
      output.note(`Token ${options.revoke} is revoked.`)
    },
  ],
  quota: [
    '<account> <quotas>',
    'set its own quotas, such as domains=5,images=none; "none" for the defaults',
    async (client, output, name, _options, quotas = '') => {
      output.print(describe(await client.request('PUT', `${pathOf(name)}/quotas`, await ownQuotas(quotas))))
    },
  ],
  remove: [
    '<account>',
    'delete a suspended account with all its zones and objects',
    async (client, output, name) => {
      await client.request('DELETE', pathOf(name))
      output.note(`The account of ${name} is deleted.`)
    },
  ],
}

async function post(client: AdminClient, output: CliOutput, name: string, action: string): Promise<void> {
  output.print(describe(await client.request('POST', `${pathOf(name)}/${action}`)))
}

const HELP = `
An account is named by one of its users or by its number. The command asks the
running service: at the socket in the folder of --data, or at --admin, with the
token in ZONEWRIGHT_ADMIN_TOKEN. With --database it changes the database, and
the running processes follow.`

const withTarget = (command: Command): Command =>
  withStoreOptions(command).option('--admin <url>', 'URL or socket of the administrative API (also: ZONEWRIGHT_ADMIN)')

/** Adds the subcommands to `serve`, whose options may come before their names. */
export function configureAdmin(serve: Command, setAction: SetAction): void {
  const account = serve
    .command('account')
    .summary('manage accounts while the service runs')
    .description('manage accounts while the service runs')
  account.addHelpText('after', HELP)
  for (const [name, [args, summary, work]] of Object.entries(ACTIONS)) {
    const command = withTarget(subcommand(account, name, summary))
    for (const argument of args.split(' ').filter((text) => text !== '')) command.argument(argument)
    if (name === 'add')
      command
        .requiredOption('--email <address>', 'its email address')
        .option('--account <account>', 'add the user to this account instead of a new one')
        .option('--quotas <list>', 'own quotas of the new account')
        .option('--restricted', 'a user that may use only what is granted')
    if (name === 'add' || name === 'token')
      command
        .option('--label <text>', 'label of the token (default: "operator")')
        .option('--scopes <list>', 'scopes of the token (default: "*")')
        .option('--expiry <time>', 'end of the token: 2030-01-31T09:00:00')
    if (name === 'token') command.option('--revoke <number>', 'revoke this token instead')
    setAction(command, (io: CliIo, [given = '', argument]: readonly string[], options: AdminOptions) =>
      administer(io, { ...storeOptions(serve.opts()), ...options }, (client, output) => work(client, output, given, options, argument)),
    )
  }
  const audit = withTarget(subcommand(serve, 'audit', 'print the audit log as lines of JSON'))
    .option('--account <account>', 'only changes by this account or of it')
    .option('--object <kind>', 'only changes of this kind of object, such as domain or record')
    .option('--since <time>', 'from this time on: 2026-01-31 or 2026-01-31T09:00')
    .option('--until <time>', 'before this time')
  setAction(audit, (io: CliIo, _args: readonly [], options: AdminOptions) =>
    administer(io, { ...storeOptions(serve.opts()), ...options }, (client, output) => printAudit(client, output, options)),
  )
}

async function printAudit(client: AdminClient, output: CliOutput, { account, object, since, until }: AdminOptions): Promise<void> {
  // The entries of a removed account remain; only its number finds them.
  const number = account === undefined || /^[0-9]+$/.test(account) ? account : String((await client.request('GET', pathOf(account))).id)
  const filter = new URLSearchParams({
    ...(number && { account: number }),
    ...(object && { object }),
    ...(since && { since }),
    ...(until && { until }),
  })
  for (let after: number | null = 0; after !== null; ) {
    const { data, next }: { data: unknown[]; next: number | null } = await client.request('GET', `/audit?after=${after}&${filter}`)
    output.print(data.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
    after = next
  }
}

function administer(
  io: CliIo,
  options: AdminOptions,
  work: (client: AdminClient, output: CliOutput) => Promise<void>,
): Promise<ExitStatus> {
  const output = createOutput(io, options)
  return reportingProblems(output, async () => {
    const { openAdmin } = await import('../service/index.ts')
    const token = io.env['ZONEWRIGHT_ADMIN_TOKEN'] || null
    const isPlaced = options.data !== undefined || options.database !== undefined
    const admin = options.admin ?? (isPlaced ? undefined : io.env['ZONEWRIGHT_ADMIN'] || undefined)
    const url = admin === undefined || /^https?:/.test(admin) ? admin : resolve(io.cwd, admin.replace(/^unix:/, ''))
    const client = await openAdmin(url === undefined ? storePlace(io, options) : { admin: url, token }, token)
    try {
      await work(client, output)
    } finally {
      await client.close()
    }
  })
}
