/** A `.tar.gz` that depends on its files alone. GNU's and BSD's `tar` have different options for that. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const BLOCK = 512

/**
 * Packs the files of a folder, sorted, below another name.
 * @param {string} folder
 * @param {string} name what the archive unpacks to
 * @param {number} time seconds since 1970: when all files were changed, so it says
 * @returns {Buffer}
 */
export function tarGz(folder, name, time) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const blocks = files.flatMap((file) => {
    const content = readFileSync(file)
    const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)
    return [headerOf(name + file.slice(folder.length).replaceAll('\\', '/'), content.length, time), content, padding]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 })
}

/** A header of POSIX.1-1988 (ustar), whose names have at most 100 octets. */
function headerOf(path, size, time) {
  if (Buffer.byteLength(path) > 100) throw new Error(`${path}: too long for the archive`)
  const header = Buffer.alloc(BLOCK)
  const octal = (value, digits) => `${value.toString(8).padStart(digits, '0')}\0`
  const fields = [
    [0, path],
    [100, octal(0o644, 7) + octal(0, 7) + octal(0, 7)],
    [124, octal(size, 11) + octal(time, 11)],
    [148, '        0'],
    [257, 'ustar\x0000'],
  ]
  for (const [offset, text] of fields) header.write(text, offset)
  header.write(
    `${octal(
      header.reduce((sum, octet) => sum + octet, 0),
      6,
    )} `,
    148,
  )
  return header
}
