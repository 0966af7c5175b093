/**
 * What a release installs: the packages that the bundle leaves out, each with its version and SHA-512 from package-lock.json. With `npm-shrinkwrap.json` in
 * the unpacked tarball, `npm ci` installs exactly these, so the checksum of the tarball vouches for everything that is installed.
 */

/**
 * The package.json of a release: without scripts and development packages, and only with the dependencies that are not bundled.
 * @param {Record<string, any>} manifest the package.json of the repository
 * @param {readonly string[]} external names of packages that are not bundled, with `*` for the rest of a name
 */
export function releaseManifest(manifest, external) {
  const { scripts: _, devDependencies: __, dependencies, overrides: ___, ...rest } = manifest
  return { ...rest, dependencies: Object.fromEntries(Object.entries(dependencies).filter(([name]) => isExternal(name, external))) }
}

export const isExternal = (name, external) => external.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one))

/**
 * The part of a lock file that the dependencies of a manifest need, for all systems.
 * @param {Record<string, any>} manifest as from `releaseManifest`
 * @param {{ packages: Record<string, any> }} lock package-lock.json
 */
export function shrinkwrapOf(manifest, lock) {
  const { name, version, license, dependencies, bin, engines } = manifest
  const found = new Map()
  const visit = (from, dependency, isOptional) => {
    const path = locate(lock.packages, from, dependency)
    if (path === null) {
      if (isOptional) return
      throw new Error(`package-lock.json has no ${dependency} for ${from || name}`)
    }
    if (found.has(path)) return
    const { dev: _, devOptional: __, peer: ___, ...entry } = lock.packages[path]
    if (!/^sha512-/.test(entry.integrity ?? '')) throw new Error(`package-lock.json has no SHA-512 of ${path}`)
    found.set(path, entry)
    for (const one of Object.keys(entry.dependencies ?? {})) visit(path, one, false)
    for (const one of Object.keys(entry.optionalDependencies ?? {})) visit(path, one, true)
    for (const one of Object.keys(entry.peerDependencies ?? {})) visit(path, one, entry.peerDependenciesMeta?.[one]?.optional === true)
  }
  for (const dependency of Object.keys(dependencies)) visit('', dependency, false)
  const packages = Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
  return {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': { name, version, license, dependencies, bin, engines }, ...packages },
  }
}

/** Where a package at a path finds another one, as Node.js looks for it; null if nowhere. */
function locate(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (packages[path] !== undefined) return path
    if (folder === '') return null
  }
}
