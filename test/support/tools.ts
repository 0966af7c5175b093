import { spawn } from 'node:child_process'
import { accessSync, constants, writeFileSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { temporaryDirectory } from './temp-directory.ts'

/** The folders of Debian's name servers, which are not always on the PATH of an ordinary user. */
const EXTRA_DIRECTORIES = ['/usr/sbin', '/usr/local/sbin', '/sbin']
const found = new Map<string, string | null>()

/** The absolute path of a program, by name or absolute path; null if it is not installed. */
export function findTool(name: string): string | null {
  const known = found.get(name)
  if (known !== undefined) return known
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), ...EXTRA_DIRECTORIES].filter((path) => path !== '')
  const candidates = isAbsolute(name) ? [name] : directories.map((directory) => join(directory, name))
  const path = candidates.find(isExecutable) ?? null
  found.set(name, path)
  return path
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export interface ToolResult {
  /** Exit status; null if a signal ended the program. */
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end. Throws if it is not installed; a non-zero status is a result. `timeout` is in milliseconds. */
export function runTool(
  name: string,
  args: readonly string[],
  { input = '', timeout = 240_000, cwd, env }: { input?: string; timeout?: number; cwd?: string | undefined; env?: NodeJS.ProcessEnv } = {},
): Promise<ToolResult> {
  const path = findTool(name)
  if (path === null) throw new Error(`${name} is not installed`)
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, { stdio: ['pipe', 'pipe', 'pipe'], timeout, cwd, env: { ...process.env, LC_ALL: 'C', ...env } })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, stdout, stderr }))
    // A program may end before it has read its input.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

export interface TsigKey {
  /** Absolute name of the key. */
  readonly name: string
  readonly algorithm: 'hmac-sha1' | 'hmac-sha256' | 'hmac-sha384' | 'hmac-sha512'
  /** Base64. */
  readonly secret: string
}

export const keyArgument = ({ name, algorithm, secret }: TsigKey): string => `${algorithm}:${name}:${secret}`

interface Query {
  /** Default: 127.0.0.1. */
  readonly host?: string | undefined
  readonly port: number
  readonly name: string
  readonly type?: string | undefined
  readonly key?: TsigKey | undefined
  readonly options?: readonly string[] | undefined
}

/** The answer of the server as printed by dig with the given `+options` (`+short`, `+noall +answer`). */
export async function dig({ host = '127.0.0.1', port, name, type = 'A', key, options = ['+short'] }: Query): Promise<string[]> {
  const signed = key ? ['-y', keyArgument(key)] : []
  const args = ['-r', `@${host}`, '-p', String(port), ...signed, '-q', name, '-t', type, '+tries=3', '+time=10', ...options]
  const { stdout, stderr } = await runTool('dig', args)
  return linesOf(stdout + stderr)
}

/** The same with kdig, an independent implementation with other defaults. */
export async function kdig({ host = '127.0.0.1', port, name, type = 'A', key, options = ['+short'] }: Query): Promise<string[]> {
  const signed = key ? ['-y', keyArgument(key)] : []
  const args = [`@${host}`, '-p', String(port), ...signed, '-q', name, '-t', type, '+retry=2', '+time=10', ...options]
  const { stdout, stderr } = await runTool('kdig', args)
  return linesOf(stdout + stderr)
}

/** The records of a zone transfer, one line each; the SOA comes first and last. */
export const transferZone = async (query: Omit<Query, 'type'>): Promise<string[]> =>
  (await dig({ ...query, type: 'AXFR', options: ['+noall', '+answer', ...(query.options ?? [])] })).filter((line) => !line.startsWith(';'))

/** Sends one update (RFC 2136) with nsupdate; `script` has its commands without `server` and `send`. */
export function nsupdate(port: number, script: string, key?: TsigKey): Promise<ToolResult> {
  return runTool('nsupdate', ['-t', '5', ...(key ? ['-y', keyArgument(key)] : [])], {
    input: `server 127.0.0.1 ${port}\n${script}\nsend\n`,
  })
}

/** The result of named-checkzone for a zone file, with the zone in BIND's canonical text. */
export async function checkZone(zone: string, text: string, options: readonly string[] = []): Promise<ToolResult> {
  const file = join(temporaryDirectory(), 'zone')
  writeFileSync(file, text)
  return runTool('named-checkzone', ['-D', '-i', 'local', ...options, zone, file])
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')
