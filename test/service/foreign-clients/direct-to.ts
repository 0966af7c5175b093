import { baseRequest } from '@linode/api-v4/lib/request'
import { afterAll } from 'vitest'

/** Directs the library to our service, with the current token, until the tests of the file have ended. Only the origin of its requests changes. */
export function directTo(baseUrl: string, token: () => string): void {
  const { request } = baseRequest.interceptors
  const own = request.use((config: { url?: string; headers: { set(name: string, value: string): void } }) => {
    const url = new URL(config.url as string)
    config.url = new URL(baseUrl).origin + url.pathname + url.search
    config.headers.set('authorization', `Bearer ${token()}`)
    return config
  })
  afterAll(() => request.eject(own))
}
