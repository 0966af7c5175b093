/** Finds the release that the running program was installed from, so that CI can install the same. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageFolder } from '../package-folder.ts'

/** Each field is empty if it is not known. */
export interface Release {
  /** The address of the tarball, over HTTPS. */
  readonly tarball: string
  /** The SHA-256 or SHA-512 of the tarball in lower-case hexadecimal. */
  readonly checksum: string
}

export const NO_RELEASE: Release = { tarball: '', checksum: '' }

declare const __RELEASE__: Release | undefined

/** What the release script states at build time. A tarball cannot state its own checksum. */
const BUILT: Release = typeof __RELEASE__ === 'object' ? __RELEASE__ : NO_RELEASE

/**
 * The release that this program comes from. npm records the address and the SHA-512 of a tarball that it installs in a project; other installations have
 * what was stated when the program was built.
 */
export function installedRelease(folder: () => string = packageFolder, built: Release = BUILT): Release {
  const recorded = npmRecord(folder)
  return { tarball: recorded.tarball || built.tarball, checksum: recorded.checksum || built.checksum }
}

function npmRecord(folder: () => string): Release {
  try {
    const text = readFileSync(join(dirname(folder()), '.package-lock.json'), 'utf8')
    const { packages } = JSON.parse(text) as { readonly packages: Readonly<Record<string, Record<string, unknown>>> }
    const { resolved, integrity } = packages['node_modules/zonewright'] ?? {}
    return { tarball: tarballOf(resolved), checksum: checksumOf(integrity) }
  } catch {
    return NO_RELEASE
  }
}

/** Only addresses that need no quoting in YAML or a shell. */
const tarballOf = (resolved: unknown): string =>
  typeof resolved === 'string' && /^https:\/\/[\w.-]+(?::\d+)?\/[\w./~%+@-]+$/.test(resolved) ? resolved : ''

const checksumOf = (integrity: unknown): string =>
  typeof integrity === 'string' && /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)
    ? Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex')
    : ''
