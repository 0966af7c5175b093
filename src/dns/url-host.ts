/** `https://HOST/…`, `//HOST/…`, `HOST:PORT` or `HOST/…`, also with a final dot that was added to make it a name. */
const URL_FORMS = [
  /^(?:[a-z][a-z0-9+.-]*:)?\/\/(?:[^/?#@]*@)?([^/?#@:]+)/i,
  /^([a-z0-9_.-]+):[0-9]{1,5}(?:[/.]|$)/i,
  // Not the slash of 0/25.2.0.192.in-addr.arpa (RFC 2317).
  /^((?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*)\//i,
]

/** The absolute name of the host if the text is a URL, or has a port or path, instead of a name; otherwise null. */
export function hostOfUrl(text: string): string | null {
  if (!text.includes(':') && !text.includes('/')) return null
  for (const form of URL_FORMS) {
    const host = form.exec(text)?.[1]
    if (host !== undefined) return `${host.endsWith('.') ? host.slice(0, -1) : host}.`
  }
  return null
}
