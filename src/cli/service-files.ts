/** Reads the files that options of `serve` name: seed, resolvers, images, transfer keys, certificate. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { resolveSecret } from '../definition/config/resolve-secret.ts'
import { describeReadError, readText } from '../definition/files/read-text.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'
import type { Certificate, PublicImage, RegionResolvers, Seed, TransferKey } from '../service/index.ts'
import type { CliIo } from './io.ts'
import type { CliOutput } from './output.ts'

/** Reads the accounts and users of a seed file. Reports a file that cannot be used, and returns undefined. */
export async function readSeedFile(io: CliIo, output: CliOutput, file: string): Promise<Seed | undefined> {
  const text = await textOf(io, output, file)
  if (text === undefined) return undefined
  const { readSeed } = await import('../service/index.ts')
  const { seed, diagnostics } = readSeed(text, file)
  output.diagnostics(diagnostics, { secret: true })
  return seed ?? undefined
}

/** Reads the resolvers of regions. Reports a file that cannot be used, and returns undefined. */
export async function readRegionResolversFile(io: CliIo, output: CliOutput, file: string): Promise<RegionResolvers | undefined> {
  const text = await textOf(io, output, file)
  if (text === undefined) return undefined
  const { readRegionResolvers } = await import('../service/index.ts')
  const { resolvers, diagnostics } = readRegionResolvers(text, file)
  output.diagnostics(diagnostics)
  return resolvers ?? undefined
}

/** Reads additional public images. Reports a file that cannot be used, and returns undefined. */
export async function readPublicImagesFile(io: CliIo, output: CliOutput, file: string): Promise<readonly PublicImage[] | undefined> {
  const text = await textOf(io, output, file)
  if (text === undefined) return undefined
  const { readPublicImages } = await import('../service/index.ts')
  const { images, diagnostics } = readPublicImages(text, file)
  output.diagnostics(diagnostics)
  return images ?? undefined
}

/** Reads the keys of transfers. Paths of secrets are relative to the file's folder. Reports a file that cannot be used, and returns undefined. */
export async function readTransferKeysFile(io: CliIo, output: CliOutput, file: string): Promise<readonly TransferKey[] | undefined> {
  const text = await textOf(io, output, file)
  if (text === undefined) return undefined
  const { readTransferKeys } = await import('../service/index.ts')
  const source = { folder: dirname(resolve(io.cwd, file)), env: io.env, loaded: io.secrets }
  const { keys, diagnostics } = await readTransferKeys(text, file, (secret, what, at) => resolveSecret(secret, what, at, source))
  output.diagnostics([...diagnostics, ...(await readableByOthers(io, file))], { secret: true })
  return keys ?? undefined
}

/** Permissions of the group and of other users. */
const OTHERS = 0o077

async function readableByOthers(io: CliIo, file: string): Promise<Diagnostic[]> {
  const { mode } = await stat(resolve(io.cwd, file))
  if ((mode & OTHERS) === 0) return []
  const message = `${file} has the mode ${(mode & 0o777).toString(8).padStart(4, '0')}: other users of this machine may read it`
  return [{ severity: 'warning', code: 'tsig-keys-readable', message, hint: `chmod 600 ${file}` }]
}

async function textOf(io: CliIo, output: CliOutput, file: string): Promise<string | undefined> {
  const text = await readText(resolve(io.cwd, file), file, null)
  if (text.ok) return text.text
  output.error(text.problem.code, text.problem.message)
  return undefined
}

/** The largest PEM file, in octets. */
const MAX_PEM = 1_000_000

export interface CertificateOptions {
  readonly tlsCert?: string
  readonly tlsKey?: string
}

/** Reads the certificate and its key; null without TLS. Reports files that cannot be read, and returns undefined. `isRunning` is for a service that must not wait. */
export function readCertificate(
  io: CliIo,
  output: CliOutput,
  { tlsCert, tlsKey }: CertificateOptions,
  isRunning = false,
): Certificate | null | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return null
  if (tlsCert === undefined || tlsKey === undefined) {
    output.error('usage', '--tls-cert and --tls-key belong together')
    return undefined
  }
  const read = (option: string, file: string): string => {
    try {
      return readPem(resolve(io.cwd, file), isRunning)
    } catch (error) {
      throw new RangeError(`${option} ${file} ${error instanceof RangeError ? error.message : describeReadError(error)}`)
    }
  }
  try {
    return { cert: read('--tls-cert', tlsCert), key: read('--tls-key', tlsKey) }
  } catch (error) {
    output.error('service-start', (error as Error).message)
    return undefined
  }
}

/** Reads a file, or at the start a pipe, which secret stores use. Stops after the limit, since a device has no end. */
function readPem(file: string, isRunning: boolean): string {
  // O_NONBLOCK keeps a named pipe from blocking the service.
  const descriptor = openSync(file, isRunning ? constants.O_RDONLY | constants.O_NONBLOCK : constants.O_RDONLY)
  try {
    if (isRunning && !fstatSync(descriptor).isFile()) throw new RangeError('is not a regular file, the only kind that SIGHUP reads')
    const octets = Buffer.alloc(MAX_PEM + 1)
    let length = 0
    for (let read = -1; read !== 0 && length <= MAX_PEM; length += read)
      read = readSync(descriptor, octets, length, octets.length - length, null)
    if (length > MAX_PEM) throw new RangeError(`is larger than ${MAX_PEM} octets`)
    return octets.toString('utf8', 0, length)
  } finally {
    closeSync(descriptor)
  }
}
