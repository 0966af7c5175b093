import { describe, expect, test } from 'vitest'
import { errors, json } from '../../providers/cloud/scripted-server.ts'
import { applyScripted, performRequest, type Script, storeRecord } from '../apply-scene.ts'

type Handler = Script['handler']

const posts = (name: string): ((request: Parameters<Handler>[0]) => boolean) => {
  return ({ method, body }) => method === 'POST' && (body as { name: string }).name === name
}

const is = (wanted: string): ((request: Parameters<Handler>[0]) => boolean) => {
  return ({ method }) => method === wanted
}

const apply = (before: string, desired: string, handler: Handler, more: Partial<Script> = {}) =>
  applyScripted({ before, desired, handler, ...more })

const answer = (status: number, body: object): Handler => {
  return (_, response) => {
    json(response, status, body)
    return true
  }
}

/** Handles only the requests with this method. */
const on = (wanted: string, handler: Handler): Handler => {
  return (request, response, store) => request.method === wanted && handler(request, response, store)
}

/** Handles only the first matching request. */
function once(fits: (request: Parameters<Handler>[0]) => boolean, handler: Handler): Handler {
  let done = false
  return (request, response, store) => {
    if (done || !fits(request)) return false
    done = true
    return handler(request, response, store)
  }
}

const reset: Handler = (_, response) => {
  response.socket?.resetAndDestroy()
  return true
}
const actAndReset: Handler = (request, response, store) => {
  storeRecord(store, request.body as Record<string, unknown>)
  return reset(request, response, store)
}

/** Another client deleted record 1. */
const afterDeletion: Handler = (request, response, store) => {
  store.delete(1)
  performRequest(request, response, store)
  return true
}
const WWW_CREATED = { outcomes: ['create www.example.com. A: applied'], readBack: 'equal' }

describe('creations without a response', () => {
  test('finds the created record and sends the call once', async () => {
    expect(await apply('', 'www A 192.0.2.1', once(posts('www'), actAndReset))).toMatchObject({ ...WWW_CREATED, calls: ['POST www'] })
  })
  test('searches by name and type instead of reading the full zone', async () => {
    const { requests } = await apply('', 'www A 192.0.2.1', once(posts('www'), actAndReset))
    expect(requests.map(({ method, headers }) => `${method} ${headers['x-filter'] ?? ''}`)).toEqual([
      'POST ',
      'GET {"type":"A","name":"www"}',
      'GET ',
    ])
  })
  test('sends a call that was not applied once more', async () => {
    expect(await apply('', 'www A 192.0.2.1', once(posts('www'), reset))).toMatchObject({ ...WWW_CREATED, calls: ['POST www', 'POST www'] })
  })
  test('the reason of a skipped change states the final outcome of the change it waited for', async () => {
    expect(
      await apply(
        'www CNAME a.example.net.\nmail A 192.0.2.2',
        'web CNAME a.example.net.\nwww A 192.0.2.1\nmail A 192.0.2.2',
        on('PUT', answer(502, errors('down'))),
      ),
    ).toMatchObject({
      outcomes: [
        'update web.example.com. CNAME: failed: 502 down; it was not applied',
        'create www.example.com. A: skipped: waiting for update web.example.com. CNAME, which was not applied',
      ],
    })
  })
  test('dependent changes continue', async () => {
    const { outcomes } = await apply(
      'old A 192.0.2.1\nalias CNAME old.example.com.',
      'new TXT "x"\nalias CNAME new.example.com.',
      once(is('POST'), actAndReset),
    )
    expect(outcomes.every((text) => text.endsWith(': applied'))).toBe(true)
  })
  test('does not resend a call that may complete later; its outcome stays unknown', async () => {
    const { outcomes, calls, readBack } = await apply(
      '',
      'www A 192.0.2.1',
      once(posts('www'), () => true),
      { timeout: 1_000 },
    )
    expect(outcomes).toEqual([
      'create www.example.com. A: unknown: 127.0.0.1 did not respond in time: it sent nothing within 1 s; when the zone was read again it had not been applied, but it still may be'.replace(
        '127.0.0.1',
        /127[^ ]+/.exec(outcomes[0] ?? '')?.[0] ?? '',
      ),
    ])
    expect({ calls, readBack }).toEqual({ calls: ['POST www'], readBack: 'different' })
  })
  test('is applied if the second call is refused because the first completed late', async () => {
    let tries = 0
    expect(
      await apply('', 'www CNAME a.example.net.', (request, response, store) => {
        if (request.method !== 'POST') return false
        tries += 1
        if (tries === 1) return reset(request, response, store)
        storeRecord(store, request.body as Record<string, unknown>)
        json(response, 400, errors('Record conflict - CNAMES must be unique', 'name'))
        return true
      }),
    ).toMatchObject({ outcomes: ['create www.example.com. CNAME: applied'] })
  })
  test('ignores an equal record that existed before', async () => {
    expect(await apply('www 300 A 192.0.2.1', 'www 300 A 192.0.2.1\nweb 300 A 192.0.2.1', once(posts('web'), reset))).toMatchObject({
      outcomes: ['create web.example.com. A: applied'],
      calls: ['POST web', 'POST web'],
    })
  })
  test('stays unknown if the zone cannot be read', async () => {
    const { outcomes, calls, diagnostics } = await apply('', 'www A 192.0.2.1', (_, response) => {
      response.socket?.resetAndDestroy()
      return true
    })
    expect(outcomes[0]).toMatch(/: unknown: the connection .* broke/)
    expect(calls).toEqual(['POST www'])
    expect(diagnostics[0]).toContain('error[provider-failed]')
  })
  test('searches for many records together', async () => {
    const desired = Array.from({ length: 20 }, (_, index) => `h${index} A 192.0.2.1`).join('\n')
    const dropped = new Set<string>()
    const { outcomes, requests } = await apply(
      '',
      desired,
      (request, response, store) => {
        const { name } = (request.body ?? {}) as { name?: string }
        if (name === undefined || dropped.has(name)) return false
        dropped.add(name)
        return actAndReset(request, response, store)
      },
      { parallelism: 20 },
    )
    expect(outcomes.every((text) => text.endsWith(': applied'))).toBe(true)
    expect(requests.filter(({ method }) => method === 'GET').length).toBeLessThan(15)
  })
})

describe('responses that do not match the request', () => {
  test.each<[string, object]>([
    ['another record', { id: 900, type: 'A', name: 'other', target: '192.0.2.9', ttl_sec: 0 }],
    ['the ID of another record', { id: 1, type: 'A', name: 'www', target: '192.0.2.1', ttl_sec: 0 }],
    ['an error with status 200', errors('went wrong')],
  ])('%s: searches for the record', async (_, answer) => {
    expect(
      await apply(
        'mail A 192.0.2.9',
        'mail A 192.0.2.9\nwww A 192.0.2.1',
        once(posts('www'), (request, response, store) => {
          storeRecord(store, request.body as Record<string, unknown>)
          json(response, 200, answer)
          return true
        }),
      ),
    ).toMatchObject({ ...WWW_CREATED, calls: ['POST www'] })
  })
  test('reports a record that was stored differently than sent', async () => {
    expect(
      await apply(
        '',
        'www 300 A 192.0.2.1',
        once(posts('www'), (request, response, store) => {
          json(response, 200, storeRecord(store, { ...(request.body as object), ttl_sec: 3600 }))
          return true
        }),
      ),
    ).toMatchObject({
      outcomes: WWW_CREATED.outcomes,
      diagnostics: ['warning[apply-altered] example.com. at cloud: the server stores TTL 3600, not 300, for www.example.com. A'],
      readBack: 'equal',
    })
  })
})

describe('changes by another client', () => {
  test('deletion of a missing record: applied, with a warning', async () => {
    expect(await apply('www A 192.0.2.1\nmail A 192.0.2.2', 'mail A 192.0.2.2', once(is('DELETE'), afterDeletion))).toMatchObject({
      outcomes: ['delete www.example.com. A: applied'],
      diagnostics: [
        'warning[apply-drift] example.com. at cloud: www.example.com. A was to be deleted, but another client had already deleted it',
      ],
      readBack: 'equal',
    })
  })
  test('update of a missing record: fails, and dependent changes are skipped', async () => {
    expect(
      await apply(
        'www CNAME a.example.net.\nmail A 192.0.2.2',
        'web CNAME a.example.net.\nwww A 192.0.2.1\nmail A 192.0.2.2',
        once(is('PUT'), afterDeletion),
      ),
    ).toMatchObject({
      outcomes: [
        'update web.example.com. CNAME: failed: 404 Not found: another client deleted the record after it was read for the plan',
        'create www.example.com. A: skipped: waiting for update web.example.com. CNAME, which was not applied',
      ],
    })
  })
  test('conflict: fails, and the warning names the existing record', async () => {
    const { outcomes, diagnostics } = await apply(
      '',
      'www CNAME a.example.net.\nmail A 192.0.2.2',
      once(posts('www'), (_, response, store) => {
        storeRecord(store, { type: 'CNAME', name: 'www', target: 'b.example.net', ttl_sec: 0 })
        json(response, 400, errors('Record conflict - CNAMES must be unique', 'name'))
        return true
      }),
    )
    expect(outcomes).toContain('create www.example.com. CNAME: failed: 400 name: Record conflict - CNAMES must be unique')
    expect(outcomes).toContain('create mail.example.com. A: applied')
    expect(diagnostics).toEqual([
      'warning[apply-drift] example.com. at cloud: another client created www.example.com. CNAME b.example.net. meanwhile',
    ])
  })
  test('reports an update that was overwritten immediately', async () => {
    expect(
      await apply(
        'www A 192.0.2.1',
        'www A 192.0.2.2',
        once(is('PUT'), (request, response, store) => {
          performRequest(request, response, store)
          store.set(1, { ...store.get(1), target: '192.0.2.7' })
          return true
        }),
      ),
    ).toMatchObject({
      diagnostics: ['error[apply-unconfirmed] example.com. at cloud: www.example.com. A was set to 192.0.2.2, but is 192.0.2.7'],
      readBack: 'different',
    })
  })
})

describe('errors that stop further calls', () => {
  const many = Array.from({ length: 60 }, (_, index) => `h${index} A 192.0.2.1`).join('\n')
  const counted = (outcomes: readonly string[]): Record<string, number> => {
    const counts: Record<string, number> = {}
    for (const text of outcomes) {
      const key = text.replace(/^.*?: /, '').replaceAll(/127\.0\.0\.1:[0-9]+/g, 'SERVER')
      counts[key] = (counts[key] ?? 0) + 1
    }
    return counts
  }
  test('a refused token stops the calls to its target', async () => {
    let count = 0
    const { outcomes, calls } = await apply('', many, ({ method }, response) => {
      if (method === 'POST') count += 1
      if (count <= 10) return false
      json(response, 401, errors('Invalid Token'))
      return true
    })
    expect(counted(outcomes)).toEqual({
      applied: 10,
      'failed: 401 Invalid Token (the token is wrong, revoked or expired)': 1,
      'skipped: cloud refused the token': 49,
    })
    expect(calls).toHaveLength(11)
  })
  test('a missing grant stops the calls for its zone', async () => {
    const { outcomes, calls } = await apply('', many, on('POST', answer(403, errors('Unauthorized'))))
    expect(calls).toHaveLength(1)
    expect(counted(outcomes)['skipped: cloud does not allow changes in example.com. with this token']).toBe(59)
  })
  test('stops calling a server that fails repeatedly', async () => {
    const { outcomes, calls } = await apply('', many, on('POST', answer(429, errors('Too many requests'))))
    expect(counted(outcomes)).toEqual({ 'failed: 429 Too many requests': 9, 'skipped: cloud did not respond to 9 requests in a row': 51 })
    expect(calls).toHaveLength(9 * 4)
  })
  test('refused records do not stop the run', async () => {
    const { outcomes } = await apply('', many, (request, response) => {
      if (request.method !== 'POST' || (request.body as { name: string }).name === 'h59') return false
      json(response, 400, errors('no', 'name'))
      return true
    })
    expect(counted(outcomes)).toEqual({ applied: 1, 'failed: 400 name: no': 59 })
  })
  test('a stopped run finishes the calls in progress and skips the rest, with the reason', async () => {
    const stop = new AbortController()
    const { outcomes, calls } = await apply(
      '',
      many,
      (request, response, store) => {
        if (request.method !== 'POST' || (request.body as { name: string }).name !== 'h3') return false
        stop.abort('the time of the run, 60 s, is over')
        setTimeout(() => performRequest(request, response, store), 20)
        return true
      },
      { run: { stop: stop.signal } },
    )
    const applied = calls.length
    expect(counted(outcomes)).toEqual({ applied, 'skipped: the time of the run, 60 s, is over': 60 - applied })
  })
  test('does not wait for a server that delays the read-back', async () => {
    const stop = new AbortController()
    const { outcomes, readBack, diagnostics } = await apply(
      'a A 192.0.2.1',
      'a A 192.0.2.1\nb A 192.0.2.2\nc A 192.0.2.3',
      ({ method, body }, response, store) => {
        if (method !== 'POST') return undefined
        const reset = Math.floor(Date.now() / 1000) + 1000
        json(response, 200, storeRecord(store, body as Record<string, unknown>), {
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': `${reset}`,
        })
        setTimeout(() => stop.abort('enough'), 50)
        return true
      },
      { run: { stop: stop.signal, lastReading: 200 } },
    )
    expect(outcomes).toEqual(['create b.example.com. A: applied', 'create c.example.com. A: skipped: enough'])
    expect(readBack).toBe('not-read')
    expect(diagnostics).toEqual([expect.stringContaining('error[provider-stopped]')])
  })
  test('a stopped run does not wait for its retries', async () => {
    const stop = new AbortController()
    const { outcomes } = await apply(
      '',
      many,
      ({ method }, response) => {
        if (method !== 'POST') return false
        setTimeout(() => stop.abort(), 20)
        json(response, 429, errors('Too many requests'), { 'retry-after': '60' })
        return true
      },
      { run: { stop: stop.signal } },
    )
    expect(counted(outcomes)).toEqual({ 'failed: 429 Too many requests': 1, 'skipped: the run was interrupted': 59 })
  })
})
