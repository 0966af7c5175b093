import { readdirSync } from 'node:fs'
import { connect as connectTcp, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Client, Store } from '../harness.ts'

/** The folder of the image data. */
export const folderOf = ({ imageFolder, dataFolder }: Store): string => imageFolder ?? join(dataFolder as string, 'images')
export const filesOf = (store: Store): string[] => readdirSync(folderOf(store)).sort()

/** Waits for a condition, at most half a minute. */
export async function eventually(holds: () => boolean | Promise<boolean>, patience = 30_000): Promise<void> {
  for (const end = Date.now() + patience; Date.now() < end; await sleep(20)) if (await holds()) return
  throw new Error(`it does not hold: ${holds}`)
}

export type StartedUpload = { readonly id: string; readonly number: number; readonly url: string }

/** Creates an image that waits for its data. */
export async function startUpload(client: Client, label = 'image'): Promise<StartedUpload> {
  const { image, upload_to } = await client.ok('POST', '/images/upload', { label, region: 'us-east' })
  return { id: image.id, number: Number(image.id.split('/')[1]), url: upload_to }
}

/** Sends data by PUT; a list is sent in chunks with a pause between them. */
export async function put(
  url: string,
  data: Buffer | readonly Buffer[] | AsyncIterable<Buffer>,
  { pause = 0, type = 'application/octet-stream' } = {},
) {
  async function* pieces(): AsyncGenerator<Buffer> {
    for await (const piece of data as AsyncIterable<Buffer> | readonly Buffer[]) {
      yield piece
      if (pause > 0) await sleep(pause)
    }
  }
  const body = Buffer.isBuffer(data) ? data : pieces()
  const init = { method: 'PUT', headers: { 'content-type': type }, body, duplex: 'half' }
  const answer = await fetch(url, init as unknown as RequestInit)
  return { status: answer.status, body: (await answer.json()) as { errors?: { field: string | null; reason: string }[] } }
}

export const reasonOf = ({ status, body }: Awaited<ReturnType<typeof put>>): [number, string | undefined] => [
  status,
  body.errors?.[0]?.reason,
]

/** A request that has announced a length and sent only the first octets. */
export async function sendPart(url: string, length: number, first: Buffer): Promise<Socket> {
  const { hostname, port, pathname, host } = new URL(url)
  const socket = connectTcp(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.write(`PUT ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/octet-stream\r\nContent-Length: ${length}\r\n\r\n`)
  await new Promise<void>((resolve) => socket.write(first, () => resolve()))
  return socket
}

/** A gzip file of a disk of a given size in MB that hardly compresses. */
export const gzipOf = (megabytes: number): Buffer => gzipSync(Buffer.alloc(megabytes * 1024 * 1024, 'disk'), { level: 0 })
