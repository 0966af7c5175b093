/** moto in its server mode: AWS on this machine, as its users in Python test with. */
import { type ChildProcess, spawn } from 'node:child_process'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { findForeignClient } from './foreign-clients.ts'
import { freePort } from './free-port.ts'

const python = findForeignClient('cloud-clients')

/** The program; a name that no program has if it is not installed. */
export const MOTO: string = python.includes('/') ? join(dirname(python), 'moto_server') : 'moto_server'

export interface Moto {
  readonly origin: string
  stop(): void
}

/** Starts moto. Throws if it does not listen within 30 seconds. */
export async function startMoto(): Promise<Moto> {
  const port = await freePort()
  const child: ChildProcess = spawn(MOTO, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  const deadline = Date.now() + 30_000
  while (!(await accepts(port))) {
    if (Date.now() > deadline || child.exitCode !== null) throw new Error('moto does not listen')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { origin: `http://127.0.0.1:${port}`, stop: () => child.kill('SIGTERM') }
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
