import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Certificate } from '../../src/service/index.ts'
import { temporaryDirectory } from './temp-directory.ts'

/** Creates a self-signed certificate, by default for 127.0.0.1; `kind` is the key type for `openssl req -newkey`. Needs openssl. */
export function selfSigned(name: string, kind: readonly string[] = ['rsa:2048'], subjects = 'IP:127.0.0.1'): Certificate {
  const directory = temporaryDirectory()
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${subjects}`]
  execFileSync('openssl', ['req', '-x509', '-newkey', ...kind, '-nodes', '-keyout', key, '-out', cert, '-days', '2', ...subject], {
    stdio: 'ignore',
  })
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}
