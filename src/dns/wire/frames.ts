/** The framing of DNS messages over TCP: two octets of length before each (RFC 1035 section 4.2.2). */

/** A message as it is sent over TCP. */
export function frameMessage(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(2 + message.length)
  framed.writeUInt16BE(message.length, 0)
  framed.set(message, 2)
  return framed
}

/** Cuts a stream into messages, whatever the pieces it comes in. */
export function createFrameReader(): (chunk: Buffer) => Buffer[] {
  let chunks: Buffer[] = []
  let held = 0
  return (chunk) => {
    chunks.push(chunk)
    held += chunk.length
    const first = chunks[0] as Buffer
    // Joined only when a whole message is there, so that many small chunks cost no more than their octets.
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
