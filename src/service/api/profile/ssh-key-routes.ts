/**
 * The operations on the user's SSH keys.
 *
 * SSH public keys in OpenSSH's one-line format: type, base64, comment. The data are length-prefixed fields (RFC 4251 section 5) that depend on the
 * type: RFC 4253 section 6.6, RFC 5656 section 3.1, RFC 8709 section 4, and PROTOCOL.u2f of OpenSSH.
 */
import { createPublicKey } from 'node:crypto'
import SSH_KEY_SCHEMA from '../../../../schemas/service/ssh-key.json' with { type: 'json' }
import SSH_KEY_CREATE from '../../../../schemas/service/ssh-key-create.json' with { type: 'json' }
import SSH_KEY_UPDATE from '../../../../schemas/service/ssh-key-update.json' with { type: 'json' }
import { insertSshKey, SSH_KEY_FILTER_FIELDS, SSH_KEYS } from '../../store/ssh-key-store.ts'
import { checkQuota } from '../check-quota.ts'
import { badRequest } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Route } from '../route.ts'

/** The accepted types; for elliptic curves, the beginning of the name. */
const SSH_KEY_TYPES = ['ssh-dss', 'ssh-rsa', 'ecdsa-sha2-nistp', 'ssh-ed25519', 'sk-ecdsa-sha2-nistp256'] as const

/** The error for an invalid key. */
export const SSH_KEY_PROBLEM = `A key must be an SSH public key of type ${SSH_KEY_TYPES.join(', ')}.`

/** Maximum length of a key with its comment in characters. */
const MAX_SSH_KEY = 16_000

/**
 * Allows no options before the type, no second line and no control characters. A comment cannot begin with white space: otherwise the expression
 * could match in several ways, and long white space would take seconds.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what the comment must not have
const LINE = /^([a-z0-9@.-]{1,50})[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]+(?![ \t])([^\u0000-\u001f\u007f-\u009f\u2028\u2029]*))?$/

/** Parses a key and returns its line with single spaces; null if it is not a key of an accepted type. */
export function parseSshKey(text: string): string | null {
  if (text.length > MAX_SSH_KEY) return null
  const [, type, base64, comment = ''] = LINE.exec(text.trim()) ?? []
  if (type === undefined || base64 === undefined) return null
  const data = Buffer.from(base64, 'base64')
  // Only canonical base64: decoders disagree about other spellings.
  if (data.toString('base64') !== base64) return null
  const fields = fieldsOf(data)
  if (fields === null || fields[0]?.toString('latin1') !== type || !isKey(type, fields.slice(1))) return null
  return comment.trim() === '' ? `${type} ${base64}` : `${type} ${base64} ${comment.trim()}`
}

/** Splits the data into its fields; null if it is malformed. */
function fieldsOf(data: Buffer): Buffer[] | null {
  const fields: Buffer[] = []
  for (let at = 0; at < data.length; ) {
    if (data.length - at < 4) return null
    const length = data.readUInt32BE(at)
    if (length > data.length - at - 4) return null
    fields.push(data.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return fields
}

const CURVES: Readonly<Record<string, { readonly name: string; readonly octets: number }>> = {
  nistp256: { name: 'P-256', octets: 32 },
  nistp384: { name: 'P-384', octets: 48 },
  nistp521: { name: 'P-521', octets: 66 },
}

function isKey(type: string, fields: readonly Buffer[]): boolean {
  switch (type) {
    case 'ssh-ed25519':
      return fields.length === 1 && fields[0]?.length === 32
    case 'ssh-rsa':
      // The public exponent and the modulus, for which OpenSSH accepts 1024 to 16384 bits.
      return (
        fields.length === 2 && bitsOf(fields[0]) >= 2 && isOdd(fields[0]) && isBetween(bitsOf(fields[1]), 1024, 16_384) && isOdd(fields[1])
      )
    case 'ssh-dss':
      // p, q, g and y, with 1024 bits for p and 160 for q (FIPS 186-2).
      return (
        fields.length === 4 &&
        bitsOf(fields[0]) === 1024 &&
        bitsOf(fields[1]) === 160 &&
        fields.slice(2).every((each) => isBetween(bitsOf(each), 2, 1024))
      )
    case 'ecdsa-sha2-nistp256':
    case 'ecdsa-sha2-nistp384':
    case 'ecdsa-sha2-nistp521':
      return fields.length === 2 && `ecdsa-sha2-${fields[0]}` === type && isPoint(String(fields[0]), fields[1] as Buffer)
    case 'sk-ecdsa-sha2-nistp256@openssh.com':
      // The last field is the application of the key.
      return fields.length === 3 && String(fields[0]) === 'nistp256' && isPoint('nistp256', fields[1] as Buffer) && fields[2]?.length !== 0
    default:
      return false
  }
}

/** The bits of a positive `mpint` in its shortest form; 0 for anything else. */
function bitsOf(number: Buffer | undefined): number {
  const [first = 0x80, second = 0] = number ?? []
  if (number === undefined || first >= 0x80 || (first === 0 && second < 0x80)) return 0
  return first === 0 ? (number.length - 1) * 8 : (number.length - 1) * 8 + (32 - Math.clz32(first))
}

const isOdd = (number: Buffer | undefined): boolean => ((number?.at(-1) ?? 0) & 1) === 1

const isBetween = (value: number, min: number, max: number): boolean => value >= min && value <= max

/** Whether the octets are an uncompressed point on the curve (SEC 1 section 2.3.3). */
function isPoint(curve: string, point: Buffer): boolean {
  const { name = '', octets = 0 } = CURVES[curve] ?? {}
  if (point.length !== 1 + 2 * octets || point[0] !== 4) return false
  const [x, y] = [point.subarray(1, 1 + octets), point.subarray(1 + octets)].map((part) => part.toString('base64url'))
  try {
    createPublicKey({ key: { kty: 'EC', crv: name, x: x as string, y: y as string }, format: 'jwk' })
    return true
  } catch {
    return false
  }
}

const SSH_KEY = resource({
  path: '/profile/sshkeys',
  parameter: 'sshKeyId',
  family: 'account',
  schema: SSH_KEY_SCHEMA,
  filter: SSH_KEY_FILTER_FIELDS,
})

export const SSH_KEY_ROUTES: readonly Route[] = [
  SSH_KEY.list("List the user's SSH keys", (connection, { actor, query }) => SSH_KEYS.list(connection, query, actor.userId)),
  SSH_KEY.create<{ readonly label: string; readonly ssh_key: string }>(
    'Add an SSH key',
    SSH_KEY_CREATE,
    async ({ actor, body: { label, ssh_key } }, { database, quotas, now }) => {
      const key = parseSshKey(ssh_key)
      if (key === null) throw badRequest({ field: 'ssh_key', reason: SSH_KEY_PROBLEM })
      return database.write(async (connection) => {
        await checkQuota(connection, actor, 'ssh_keys', quotas)
        return insertSshKey(connection, actor.userId, { label, key }, now())
      })
    },
  ),
  SSH_KEY.get('Read an SSH key', (connection, { actor, ids }) => SSH_KEYS.find(connection, ids.sshKeyId, actor.userId)),
  SSH_KEY.update<{ readonly label?: string }>('Change the label of an SSH key', SSH_KEY_UPDATE, ({ actor, ids, body }, { database }) =>
    database.write((connection) => SSH_KEYS.relabel(connection, ids.sshKeyId, body.label, actor.userId)),
  ),
  SSH_KEY.remove('Delete an SSH key; instances keep their copies', (connection, { actor, ids }) =>
    SSH_KEYS.remove(connection, ids.sshKeyId, actor.userId),
  ),
]
