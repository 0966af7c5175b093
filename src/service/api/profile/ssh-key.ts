/** The types of SSH public keys that are accepted: of the elliptic curves, each beginning of the type's name. */
export const SSH_KEY_TYPES = ['ssh-dss', 'ssh-rsa', 'ecdsa-sha2-nistp', 'ssh-ed25519', 'sk-ecdsa-sha2-nistp256'] as const

const KEY =
  /^(?:ssh-dss|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)|ssh-ed25519|sk-ecdsa-sha2-nistp256(?:@openssh\.com)?) ([A-Za-z0-9+/]+={0,2})(?: [^\r\n]*)?$/

/** Whether a text is a public key as OpenSSH writes it: type, base64, comment. The key must say the type itself (RFC 4253 section 6.6). */
export function isSshKey(text: string): boolean {
  const line = text.trim()
  const base64 = KEY.exec(line)?.[1]
  if (base64 === undefined) return false
  const key = Buffer.from(base64, 'base64')
  const type = line.slice(0, line.indexOf(' '))
  if (key.length < 4 + type.length + 4) return false
  return key.readUInt32BE(0) === type.length && key.toString('latin1', 4, 4 + type.length) === type
}
