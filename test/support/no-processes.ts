/** Loaded before every unit test: starting a process or listening on a socket throws. */
import childProcess from 'node:child_process'
import dgram from 'node:dgram'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const refuse = (what: string) => (): never => {
  throw new Error(
    `a unit test may not ${what}; if it must, import the module directly, so that it is not a unit test (test/support/unit-tests.ts)`,
  )
}

for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const)
  Object.assign(childProcess, { [name]: refuse('start a process') })
Object.assign(net.Server.prototype, { listen: refuse('listen on a socket') })
Object.assign(net.Socket.prototype, { connect: refuse('connect') })
Object.assign(dgram.Socket.prototype, { bind: refuse('listen on a socket') })
syncBuiltinESMExports()
