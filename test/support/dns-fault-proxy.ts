/** A proxy between a DNS client and a server over TCP that injects the faults of `fault-proxy.ts` into single messages. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type Fault, type FaultProxy, NONE, type ProxiedRequest } from './fault-proxy.ts'

const UPDATE = 5
const SERVFAIL = 2

/** The first message of a response with its length, and the connection that more may follow on. */
type Response = { readonly first: Buffer; readonly server: Socket }

/**
 * Starts a proxy to the server on 127.0.0.1, which may stop and restart. The method of an UPDATE is `UPDATE`, that of a query `GET`. `answer` is a
 * SERVFAIL without a signature. Faults that DNS does not have (`reorder`, `drip`, `duplicate-reply`) are none.
 */
export async function startDnsFaultProxy(port: number): Promise<FaultProxy> {
  let chooseFault: (request: ProxiedRequest) => Fault = () => NONE
  let number = 0
  let calls = 0
  let open = 0
  let most = 0
  let upstream = 0
  const sockets = new Set<Socket>()

  const forward = async (message: Buffer): Promise<Response | null> => {
    upstream += 1
    try {
      return await firstResponse(port, message)
    } finally {
      upstream -= 1
    }
  }

  const handle = async (socket: Socket, message: Buffer): Promise<void> => {
    const isUpdate = (((message[4] ?? 0) >> 3) & 15) === UPDATE
    number += 1
    if (isUpdate) calls += 1
    const fault = chooseFault({ method: isUpdate ? 'UPDATE' : 'GET', path: '', number })
    const pass = (response: Response | null): void => {
      if (response === null || socket.destroyed) {
        response?.server.destroy()
        if (!socket.destroyed) socket.resetAndDestroy()
        return
      }
      socket.write(response.first)
      response.server.pipe(socket)
      socket.once('close', () => response.server.destroy())
    }
    const carryOut = async (): Promise<void> => (await forward(message))?.server.destroy() as undefined
    switch (fault.kind) {
      case 'delay': {
        await wait(fault.before)
        const response = await forward(message)
        await wait(fault.after)
        return pass(response)
      }
      case 'duplicate-request':
        await carryOut()
        return pass(await forward(message))
      case 'reset':
      case 'half-close':
      case 'silence': {
        const end = { reset: () => socket.resetAndDestroy(), 'half-close': () => socket.end(), silence: () => undefined }[fault.kind]
        if (fault.when === 'during') end()
        if (fault.when !== 'before') await carryOut()
        if (fault.when !== 'during') end()
        return
      }
      case 'truncate': {
        const response = await forward(message)
        response?.server.destroy()
        if (response && !socket.destroyed) socket.write(response.first.subarray(0, Math.floor(response.first.length * 0.7)))
        if (!fault.hang) socket.end()
        return
      }
      case 'late':
        upstream += 1
        await wait(fault.by)
        upstream -= 1
        return carryOut()
      case 'answer':
        if (fault.when === 'after') await carryOut()
        if (!socket.destroyed) socket.write(servfail(message))
        return
      default:
        return pass(await forward(message))
    }
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    let received = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const message = received.subarray(0, 2 + received.readUInt16BE(0))
        received = received.subarray(message.length)
        open += 1
        most = Math.max(most, open)
        void handle(socket, message).finally(() => {
          open -= 1
        })
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => number,
    calls: () => calls,
    mostUnderWay: () => most,
    underWay: () => upstream,
    async untilIdle() {
      for (let still = 0; still < 3; still = upstream === 0 ? still + 1 : 0) await wait(5)
    },
    use: (next) => {
      chooseFault = next
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

/** Sends a message, with its length, and waits for the first of the response; null if the connection ends before. */
function firstResponse(port: number, message: Buffer): Promise<Response | null> {
  return new Promise((resolve) => {
    const server = connect(port, '127.0.0.1', () => server.write(message))
    let received = Buffer.alloc(0)
    const take = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk])
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
      server.off('data', take)
      server.pause()
      resolve({ first: received, server })
    }
    server.on('data', take)
    server.on('error', () => resolve(null))
    server.on('close', () => resolve(null))
  })
}

/** A SERVFAIL to a message with a length: its header and its question, or the zone of an UPDATE. */
function servfail(message: Buffer): Buffer {
  let end = 14
  while (message[end] !== 0) end += 1 + (message[end] ?? 0)
  const response = Buffer.from(message.subarray(0, end + 5))
  response.writeUInt16BE(response.length - 2, 0)
  response[4] = ((response[4] ?? 0) & 0x78) | 0x80
  response[5] = SERVFAIL
  response.writeUInt16BE(1, 6)
  response.fill(0, 8, 14)
  return response
}
