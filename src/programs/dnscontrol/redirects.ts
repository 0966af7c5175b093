/** Redirects of Cloudflare: DNSControl translates the patterns of page rules to expressions of single redirects. */
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'

const CODES = [301, 302, 303, 307, 308]

const single = (name: string, code: number, when: string, then: string): string =>
  `name=(${name}) code=(${code}) when=(${when}) then=(${then})`

/** The description of a redirect, from the arguments of CF_SINGLE_REDIRECT, CF_REDIRECT or CF_TEMP_REDIRECT. */
export function translateRedirect(kind: string, args: readonly unknown[]): Result<string> {
  if (kind === 'CF_SINGLE_REDIRECT') {
    const [name, code, when, then] = args
    if (!CODES.includes(Number(code))) return failure(`the code ${quoted(String(code))} is none of ${CODES.join(', ')}`)
    return ok(single(String(name), Number(code), String(when), String(then)))
  }
  const [pattern, target] = args
  if (typeof pattern !== 'string' || typeof target !== 'string') return failure('pattern and destination are texts')
  const code = kind === 'CF_TEMP_REDIRECT' ? 302 : 301
  const when = translatePattern(pattern)
  const then = when && translateTarget(target, (pattern.match(/\*/g) ?? []).length, pattern)
  if (!when || !then) return failure(`no single redirect means the same as ${quoted(pattern)} to ${quoted(target)}`)
  return ok(single(`${code},${pattern},${target}`, code, when, then))
}

/** The condition for a pattern `HOST/PATH`, where `*` begins the host or ends the path; null for others. */
function translatePattern(pattern: string): string | null {
  const [, host = '', path = ''] = /^(?:https?:\/\/)?([^/]*)(\/.*)?$/.exec(pattern) ?? []
  const plainHost = host.replace(/^\*/, '')
  const plainPath = path.replace(/\*$/, '')
  if (plainHost === '' || /\*/.test(plainHost + plainPath)) return null
  const hosts = `http.host eq ${JSON.stringify(plainHost)}`
  if (host !== plainHost) {
    const either = `${hosts} or ends_with(http.host, ${JSON.stringify(`.${plainHost}`)})`
    return path === '/*' ? either : null
  }
  if (path === '/*') return hosts
  if (path !== plainPath) return `(starts_with(http.request.uri.path, ${JSON.stringify(plainPath)}) and ${hosts})`
  return `${hosts} and http.request.uri.path eq ${JSON.stringify(path || '/')}`
}

/** The destination. `$N` of the last wildcard stands for the path of the request. */
function translateTarget(target: string, wildcards: number, pattern: string): string | null {
  const [, origin, path = ''] = /^https?:\/\/([^/]*)(.*)$/.exec(target) ?? []
  if (origin === undefined || origin.includes('$')) return null
  if (!path.includes('$')) return `concat(${JSON.stringify(`https://${origin}${path}`)}, "")`
  const last = `$${wildcards}`
  const rest = path.endsWith(last) ? path.slice(0, -last.length) : path
  if (rest === path || rest.includes('$')) return null
  const [, fixed = '/'] = /^[^/]*(\/.*)\*$/.exec(pattern) ?? []
  const before = rest.endsWith(fixed) ? rest.slice(0, -fixed.length) : null
  if (before === null) return null
  const parts = [`https://${origin}`, before].filter(Boolean).map((part) => JSON.stringify(part))
  return `concat(${[...parts, 'http.request.uri.path'].join(', ')})`
}
