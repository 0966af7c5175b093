/** Runs `git` without a shell, without the secrets of the environment and without the network, unless it is asked to fetch, with bounded time and output. */
import { spawn } from 'node:child_process'
import { type Diagnostic, oneLine } from '../../dns/diagnostic.ts'
import { excerpt } from '../../dns/excerpt.ts'
import { findProgram, NO_PROGRAM } from './find-program.ts'

/** Milliseconds after which a call of git is killed. */
const TIMEOUT = 60_000

/** The environment of git. Its own variables are not passed: those of a hook name another folder. */
const VARIABLES = /^(?:PATH|HOME|XDG_CONFIG_HOME|USERPROFILE|SYSTEMROOT|TMPDIR|GIT_CONFIG_.*)$/
const NETWORK_VARIABLES = /^(?:(?:https?|all|no)_proxy|GIT_SSL_.*|SSH_AUTH_SOCK)$/i

/** Why a revision cannot be read. */
export class RevisionError extends Error {
  readonly diagnostic: Diagnostic
  constructor(message: string, hint?: string) {
    super(message)
    this.diagnostic = { severity: 'error', code: 'revision-unreadable', message, hint }
  }
}

interface GitOutput {
  readonly status: number
  readonly stdout: Buffer
  readonly stderr: string
}

export type Git = (args: readonly string[], options?: { readonly input?: string; readonly maxOctets?: number }) => Promise<GitOutput>

/**
 * Options that keep git from running programs that the config of the repository names, and from taking a folder of the checkout, which may hold the files of
 * a bare repository, for the repository (git 2.38 or later).
 */
const SAFE = [
  ...['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'safe.bareRepository=explicit'].flatMap((setting) => ['-c', setting]),
  ...['--no-replace-objects', '--no-optional-locks'],
]

const INSTALL_GIT = 'install git, or select zones by name, path or glob instead of by revision'

const ONLINE = { GIT_ALLOW_PROTOCOL: 'https:http:ssh:file' }
/** No protocol is allowed, so that a partial clone fetches nothing. */
const OFFLINE = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' }

/** `isOnline`: whether git may contact the remote. */
export const gitIn =
  (folder: string, env: Readonly<Record<string, string | undefined>>, isOnline = false): Git =>
  (args, { input = '', maxOctets = 65_536 } = {}) =>
    new Promise((done, fail) => {
      const own = Object.entries(env).filter(([name]) => VARIABLES.test(name) || (isOnline && NETWORK_VARIABLES.test(name)))
      const program = findProgram('git', { folder, env })
      if (program === null) return fail(new RevisionError(`git ${NO_PROGRAM}`, INSTALL_GIT))
      const child = spawn(program, [...SAFE, '-C', folder, ...args], {
        env: { ...Object.fromEntries(own), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', ...(isOnline ? ONLINE : OFFLINE) },
        stdio: 'pipe',
        timeout: TIMEOUT,
        killSignal: 'SIGKILL',
      })
      const chunks: Buffer[] = []
      let octets = 0
      let stderr = ''
      child.stdout.on('data', (chunk: Buffer) => {
        octets += chunk.length
        if (octets <= maxOctets) chunks.push(chunk)
        else child.kill('SIGKILL')
      })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr = (stderr + text).slice(0, 4096)
      })
      // Git may end before it has read everything.
      child.stdin.on('error', () => undefined).end(input)
      child.once('error', (error: NodeJS.ErrnoException) =>
        fail(new RevisionError(`git cannot be started (${error.code ?? error.message})`, INSTALL_GIT)),
      )
      child.once('close', (status, signal) => {
        if (octets > maxOctets)
          return fail(new RevisionError(`the output of git ${args[0]} is too large`, 'put the config into a smaller folder'))
        if (status === null) return fail(new RevisionError(`git ${args[0]} was ended by ${signal}`))
        done({ status, stdout: Buffer.concat(chunks), stderr: excerpt(oneLine(stderr.trim().split('\n', 1)[0] ?? ''), 300) })
      })
    })
