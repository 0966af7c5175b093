/** Framing of DNS messages over TCP: a length of two octets precedes each (RFC 1035 section 4.2.2). */

/** The message with its length. */
export function frameMessage(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(2 + message.length)
  framed.writeUInt16BE(message.length, 0)
  framed.set(message, 2)
  return framed
}

/** Returns a function that takes the chunks of a stream and returns the messages they complete. */
export function createFrameReader(): (chunk: Buffer) => Buffer[] {
  let chunks: Buffer[] = []
  let held = 0
  return (chunk) => {
    chunks.push(chunk)
    held += chunk.length
    const first = chunks[0] as Buffer
    // Join the chunks only when a message is complete, so many small chunks take linear time.
    if (first.length >= 2 && held < 2 + first.readUInt16BE(0)) return []
    let joined = chunks.length === 1 ? chunk : Buffer.concat(chunks)
    const frames: Buffer[] = []
    while (joined.length >= 2) {
      const end = 2 + joined.readUInt16BE(0)
      if (joined.length < end) break
      frames.push(joined.subarray(2, end))
      joined = joined.subarray(end)
    }
    chunks = joined.length === 0 ? [] : [joined]
    held = joined.length
    return frames
  }
}
