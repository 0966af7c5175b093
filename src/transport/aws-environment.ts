/** What the environment says to an AWS SDK: keys, and the hosts that it may ask for others. */
import type { Diagnostic } from '../base/diagnostic.ts'
import type { Environment } from '../base/environment.ts'
import { ALLOWED_HOSTS, endpointOfUrl, readHostPolicy } from './allowed-hosts.ts'

/** The keys of an AWS account. */
export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** The keys of the environment, unless a profile is chosen, as the SDK does; null if the SDK looks for others. */
export function environmentKeys(env: Environment, profile: string | null): Credentials | null {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token, AWS_PROFILE: other } = env
  if (profile !== null || other || !id || !secret) return null
  return { accessKeyId: id, secretAccessKey: secret, ...(token && { sessionToken: token }) }
}

/** Checks the hosts that the SDK asks for credentials. If hosts are listed, these must be among them. `refuse` makes the error of another one. */
export function credentialHosts(env: Environment, what: string, refuse: (refused: Diagnostic) => Error): (url: URL) => void {
  if (env[ALLOWED_HOSTS] === undefined) return () => undefined
  const policy = readHostPolicy(env)
  return (url) => {
    const refused = policy.check(`${what}: credentials`, endpointOfUrl(url))
    if (refused !== null) throw refuse(refused)
  }
}
