/** Public keys of every type, created by OpenSSH 9.2 for these tests; the security key is derived from another key. */
export const SSH_KEYS = {
  'ssh-ed25519': 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHK8t5e50a4S9Ad1I6K+JfBHpv0niJA1wQMc7jI8v/5U someone@example.com',
  'ssh-rsa':
    'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC3GxCQ8/jADkb1vX3r/zNk5UD3rUSvDtwW3haqBQHo/DvZvIh/SH5G2KoCKuHHCfjC48rJHPfMDj/SC0EhggaDs3BtSmMiV528Bxnp53OqpWOWIpCXsq6GvuKSUAobxqdJ0bTVgVTOBrRWqV9YWYL8ijdUB2u8GXzUG/W1CF1sTsj/Z1x84iyqa7UrTFZH34DAGyrrPLsg2QD4agA60V6qnwXdPVQip+2u6JcXBA87Bv6plgKSVf/u2ZdrAfNMG4ep9JElEpmxdL9jS/v+rcmhFsjQQn9135bt1erOb9CATW4+VeM2lxVTgqJ26IpvpS1eGJofHMckPulJ7k9FckxD someone@example.com',
  'ecdsa-sha2-nistp256':
    'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBENDzCjr8c1j+QH8QWXD0oWs6SaP2YD6zVr8/E0+bcfxhL8mFNO2w/l2KepK3TJxxO85p0jThfL3fp6tAHL6rh4= someone@example.com',
  'ecdsa-sha2-nistp384':
    'ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBDJSbvZEU8PuUQV6hheIPIRc0LzjKjcZXJ/XaAoBoJJqY124zPzYF0+TesI36tj25vB+ZwlbIPlbU3Zp4W/h5JT++oKMo+DYHIfz3b/akZV3wnjkEQvGIWSg8H9ZwWmbYg== someone@example.com',
  'ecdsa-sha2-nistp521':
    'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBACAIb9QAiqdVQPfy5YirptqsicsI2UwUvGR2Hbncx7ykoYlmI145c6caaa6ng0nywMz/+fC0UhcOLcix4V/twJl5wBJiQhuKglz+AhXTHRATg3gPlFPTRdq2D2uLnoCWcvLVfqyfZ0k8KJsFzQPF5/tWdGutE+vP05cFncKIHCV2Gi1pA== someone@example.com',
  'ssh-dss':
    'ssh-dss AAAAB3NzaC1kc3MAAACBAPEB38pNXUSRitobk8ZXWhS8QdODyQcgb2yageV1CcuxRfNbM79rmc6BaShYIbQa7R1YkVsV32w6h2kOn70Lwmj0mCGAYc6BGRZztNKoUKu7klm8/4ZBr987AxaxgFuP7ls47MwMduwgNqRjOJWxcqbNwdPdFsehAY/v0kPHbMEvAAAAFQD6CCz8xPqeDK0D3KoW11K3s75gvwAAAIEApT4UAUjAEmrVSIcxoT9LmSbxV8K7+Brs1qBSGiKvpi5OgFHLeedGdzqjrPvs2h3jr9cxk+q1fRVdTQ4SWKuveVil1Gd5q7PBebQcUI7Il4Vw2XW8r0rlT1zaPv1zfTZXt1OKHlLwjWGhZ2ofw3tdN+aPuuoJKWboynxWkHKJFY8AAACBANj09yR177uhRU0/XiDyKoQSI+jP3EgBS2pczllin7h+8VUsVTxg6XENuVZ2Xr19TqX1HXjhMd7ia2c6abNByzs870+I1BfeOkfpE0vKHAgvmFyyFvehvJsvprZDzm+mDU+fQBq8dWbcPwB2OK8U9/sINmyDVpl/C3cPNlZZokf2 someone@example.com',
} as const

/** A field in the data of a key (RFC 4251 section 5). */
export function sshString(value: string | Buffer): Buffer {
  const octets = Buffer.from(value as string)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(octets.length)
  return Buffer.concat([length, octets])
}

/** A key with any data, including its type. */
export const sshKeyOf = (type: string, ...fields: readonly (string | Buffer)[]): string =>
  `${type} ${Buffer.concat([type, ...fields].map(sshString)).toString('base64')}`

/** The fields of a key's data. */
export function fieldsOf(key: string): Buffer[] {
  const data = Buffer.from(key.split(' ')[1] as string, 'base64')
  const fields: Buffer[] = []
  for (let at = 0; at < data.length; ) {
    const length = data.readUInt32BE(at)
    fields.push(data.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return fields
}
