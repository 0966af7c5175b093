import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PROGRAM } from './measure.mjs'

export const TOKEN = 'bench'.padEnd(64, '0')

/** Starts the service as a separate process, with an empty store that is removed at the end. */
export async function startService(options = []) {
  const data = mkdtempSync(join(tmpdir(), 'zonewright-bench-'))
  const running = await startOnFolder(data, options)
  return {
    ...running,
    async stop() {
      await running.stop()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

/** Starts the service as a separate process, with this data folder. */
export function startOnFolder(data, options = []) {
  const limits = ['--rate-limit', 'off', '--quotas', 'none']
  const serve = ['serve', '--listen', '127.0.0.1:0', '--dns', '127.0.0.1:0', '--data', data, '--log-level', 'warn', ...limits, ...options]
  return start([PROGRAM, ...serve], { ZONEWRIGHT_BOOTSTRAP_TOKEN: TOKEN })
}

/** Starts a server of this folder as a separate process. */
export const startProcess = (file) => start([join(import.meta.dirname, file)], {})

/** Starts a server that prints its addresses as one line of JSON. */
async function start(args, env) {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  const line = await Promise.race([
    new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve)),
    new Promise((_, reject) => child.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code}`)))),
  ])
  return {
    ...JSON.parse(line),
    pid: child.pid,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Starts a proxy between client and service that counts the requests by method and path. */
export async function countRequests(target) {
  const counts = new Map()
  const base = new URL(target)
  const server = createServer((incoming, response) => {
    const key = `${incoming.method} ${incoming.url.replace(/\?.*$/, '').replace(/\d+/g, 'N')}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
    const onward = request(
      { host: base.hostname, port: base.port, method: incoming.method, path: incoming.url, headers: incoming.headers },
      (answer) => {
        response.writeHead(answer.statusCode, answer.headers)
        answer.pipe(response)
      },
    )
    onward.on('error', () => response.destroy())
    incoming.pipe(onward)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    http: `http://127.0.0.1:${server.address().port}${base.pathname}`,
    counts,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(resolve)
      }),
  }
}
