import { baseRequest } from '@linode/api-v4/lib/request'
import { afterAll } from 'vitest'

/** Has the library ask a service of ours, with the token of the moment, until the tests of the file are done. */
export function directTo(baseUrl: string, token: () => string): void {
  const { request } = baseRequest.interceptors
  const own = request.use((config: { url?: string; headers: { set(name: string, value: string): void } }) => {
    const url = new URL(config.url as string)
    config.url = baseUrl + url.pathname.replace(/^\/v4(beta)?/, '') + url.search
    config.headers.set('authorization', `Bearer ${token()}`)
    return config
  })
  afterAll(() => request.eject(own))
}
