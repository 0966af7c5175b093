import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Ports below the ephemeral ones: systems use ports from 32768 or 49152 on for sockets without a given port, so another process could take
 * one after it was found free.
 */
const LOWEST = 10_240
const HIGHEST = 32_767

/** Concurrent test files use different parts of the range. */
const PARTS = 8
const PART = Math.floor((HIGHEST - LOWEST + 1) / PARTS)
const first = LOWEST + (Number(process.env['VITEST_POOL_ID'] ?? 0) % PARTS) * PART

/** Consecutive processes begin at different ports, because a port that was just closed may not be free yet. */
let next = (process.pid * 61) % PART

/** A port on 127.0.0.1 that is currently free for TCP and UDP, and that this process has not used before. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < PART; attempt += 1) {
    const port = first + next
    next = (next + 1) % PART
    if ((await isFreeForTcp(port)) && (await isFreeForUdp(port))) return port
  }
  throw new Error('no port is free for both TCP and UDP')
}

async function isFreeForTcp(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

async function isFreeForUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  try {
    socket.bind(port, '127.0.0.1')
    await once(socket, 'listening')
    return true
  } catch {
    return false
  } finally {
    socket.close()
  }
}
