/** The standard streams of the child, without an event loop. */
import { readSync, writeSync } from 'node:fs'
import type { FromChild, ToChild } from './sandbox.ts'

type Answer = Exclude<ToChild, { readonly run: unknown }>

/** Octets that are read at once. */
const CHUNK = 65_536

/** Asks the parent, and waits for the answer. */
export function ask(question: FromChild): Answer {
  send(question)
  const line = readLine()
  if (line === null) process.exit(0)
  return JSON.parse(line) as Answer
}

export const send = (message: FromChild): void => writeAll(`${JSON.stringify(message)}\n`)

export function writeAll(text: string): void {
  const octets = Buffer.from(text)
  for (let written = 0; written < octets.length; ) written += retrying(() => writeSync(1, octets, written))
}

const chunk = Buffer.allocUnsafe(CHUNK)
let rest = Buffer.alloc(0)

/** The next line of the standard input; null at its end. */
export function readLine(): string | null {
  const parts: Buffer[] = []
  for (;;) {
    const end = rest.indexOf(10)
    if (end !== -1) {
      parts.push(rest.subarray(0, end))
      rest = rest.subarray(end + 1)
      return Buffer.concat(parts).toString('utf8')
    }
    parts.push(rest)
    const count = retrying(() => readSync(0, chunk, 0, chunk.length, null))
    if (count === 0) return null
    rest = Buffer.from(chunk.subarray(0, count))
  }
}

/** Repeats a call on a pipe that does not block, where the system gives the process such a one. */
function retrying(call: () => number): number {
  for (;;) {
    try {
      return call()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EOF') return 0
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}
