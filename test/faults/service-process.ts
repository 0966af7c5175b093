import { setTimeout as wait } from 'node:timers/promises'
import { type ProgramRun, startProgram } from '../support/built-program.ts'
import { freePort } from '../support/free-port.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

export const TOKEN = 'zw-fault-token-8c41e0b2'

export interface ServiceRecord {
  readonly id: number
  readonly type: string
  readonly name: string
  readonly target: string
  readonly priority: number
  readonly weight: number
  readonly port: number
  readonly ttl_sec: number
}

/** A service in a separate process, with direct access that bypasses any proxy. */
export interface ServiceProcess {
  readonly origin: string
  /** Kills it (SIGKILL) and starts it again on the same data and port. */
  killAndRestart(): Promise<void>
  /** Every record of a domain; null if the domain does not exist. */
  records(domain: string): Promise<ServiceRecord[] | null>
  /** Sends any request to the service. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>
  stop(): Promise<void>
}

export async function startServiceProcess(): Promise<ServiceProcess> {
  const folder = temporaryDirectory()
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const args = ['serve', '--listen', `127.0.0.1:${port}`, '--dns', 'none', '--data', folder, '--rate-limit', 'off']
  const start = async (): Promise<ProgramRun> => {
    const run = await startProgram(args, { cwd: folder, env: { ZONEWRIGHT_BOOTSTRAP_TOKEN: TOKEN } })
    await run.until('listening')
    return run
  }
  let run = await start()
  let restarting: Promise<void> | null = null
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    await restarting
    const response = await fetch(`${origin}/v4${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }
  const list = async <T>(path: string): Promise<T[]> => {
    const items: T[] = []
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const answer = await call<{ data: T[]; pages: number }>('GET', `${path}?page=${page}&page_size=500`)
      items.push(...answer.data)
      pages = answer.pages
    }
    return items
  }
  return {
    origin,
    call,
    killAndRestart() {
      restarting ??= (async () => {
        run.kill('SIGKILL')
        await run.ended
        await wait(20)
        run = await start()
        restarting = null
      })()
      return restarting
    },
    async records(domain) {
      const domains = (await list<{ id: number; domain: string }>('/domains')).filter((one) => one.domain === domain)
      if (domains.length > 1) throw new Error(`${domain} is there twice`)
      return domains[0] ? list<ServiceRecord>(`/domains/${domains[0].id}/records`) : null
    },
    async stop() {
      await restarting
      run.kill('SIGTERM')
      await run.ended
    },
  }
}
