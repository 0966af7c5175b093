/**
 * The provenance of a release: an in-toto statement with a SLSA v1 predicate, which says from which commit and which packages the files were built, and by what.
 * https://slsa.dev/spec/v1.0/provenance, https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
 */
import { sign } from 'node:crypto'

const PAYLOAD_TYPE = 'application/vnd.in-toto+json'

/**
 * @typedef {object} Facts
 * @property {readonly { name: string, sha256: string }[]} files the files of the release
 * @property {string} commit
 * @property {string} committed the time of the commit, RFC 3339
 * @property {string} repository the address of the repository, '' if it is not known
 * @property {string} builder an identifier of who ran the build, as a URI
 * @property {Record<string, unknown>} settings what was given to the script
 * @property {Record<string, { version?: string, integrity?: string }>} packages the packages of package-lock.json by path
 * @property {{ node: string, npm: string, platform: string }} tools
 */

/**
 * Returns the statement. It has no time of the build and no folder, so that the same commit gives the same statement.
 * @param {Facts} facts
 */
export function provenanceStatement({ files, commit, committed, repository, builder, settings, packages, tools }) {
  const source = repository === '' ? 'git:.' : `git+${repository}`
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:zonewright:release-script:1',
        externalParameters: { source: `${source}@${commit}`, ...settings },
        internalParameters: tools,
        resolvedDependencies: [
          { uri: `${source}@${commit}`, digest: { gitCommit: commit }, annotations: { committed } },
          ...Object.entries(packages)
            .filter(([path]) => path !== '')
            .map(([path, { version, integrity }]) => ({
              uri: `pkg:npm/${purlName(path)}@${version}`,
              digest: { sha512: Buffer.from((integrity ?? '').replace(/^sha512-/, ''), 'base64').toString('hex') },
            }))
            .sort((a, b) => (a.uri < b.uri ? -1 : 1))
            .filter(({ uri }, index, all) => uri !== all[index - 1]?.uri),
        ],
      },
      runDetails: { builder: { id: builder } },
    },
  }
}

/** The name of the package at a path of a lock file, as in a package URL: the `@` of a scope is escaped. */
const purlName = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length).replace(/^@/, '%40')

/**
 * Signs a statement: an envelope of DSSE (https://github.com/secure-systems-lab/dsse) with one Ed25519 signature.
 * @param {string} statement its JSON text
 * @param {import('node:crypto').KeyObject} key a private key
 * @param {string} keyid which key to verify with
 */
export function signedEnvelope(statement, key, keyid) {
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key for the provenance is not an Ed25519 key')
  const sig = sign(null, preAuthenticationEncoding(PAYLOAD_TYPE, Buffer.from(statement)), key).toString('base64')
  return { payload: Buffer.from(statement).toString('base64'), payloadType: PAYLOAD_TYPE, signatures: [{ keyid, sig }] }
}

/** What is signed: `DSSEv1`, then each part with its length in octets. */
export const preAuthenticationEncoding = (type, body) =>
  Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${body.length} `), body])
