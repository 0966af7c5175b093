import { beforeAll, describe, expect, test } from 'vitest'
import { openPostgres } from '../../../../src/service/store/postgres/open-postgres.ts'
import { runTool } from '../../../support/tools.ts'
import { type Client, connect, freshDatabase, inParallel, LOOPBACK, MASTER, startForTest } from '../../harness.ts'
import { queryPostgres } from '../../raw-files.ts'
import { type ServiceProcess, serviceProcesses } from '../../service-process.ts'

const serve = serviceProcesses()
const database = await freshDatabase()
const processes: ServiceProcess[] = []
const clients: Client[] = []
let nameServer: ServiceProcess

/** Two processes with HTTP and a name server, one with only a name server. */
beforeAll(async () => {
  processes.push(...(await Promise.all([serve({ dataFolder: null, database }), serve({ dataFolder: null, database })])))
  for (const { baseUrl } of processes) clients.push(connect(baseUrl, 'bootstrap').client)
  nameServer = await serve({ dataFolder: null, database }, 'dns-only')
})

const client = (index: number): Client => clients[index % clients.length] as Client

/** The response of a process: the status, and the data of each record. */
async function ask({ dnsAddress: { host, port } }: ServiceProcess, name: string, type: string): Promise<string> {
  const { stdout } = await runTool('dig', [`@${host}`, '-p', String(port), '+noall', '+answer', '+comments', '+norec', name, type])
  const answers = stdout.split('\n').filter((line) => line !== '' && !line.startsWith(';'))
  return [/status: ([A-Z]+)/.exec(stdout)?.[1], ...answers.map((line) => line.split(/\s+/).slice(4).join(' ')).sort()].join(' | ')
}

/** Waits until all processes respond with `expected`; `within` is in milliseconds. */
async function expectAnswers(name: string, type: string, expected: string, within = 120_000): Promise<void> {
  for (const each of [...processes, nameServer])
    await expect.poll(() => ask(each, name, type), { timeout: within, interval: 20 }).toBe(expected)
}

const query = (text: string) => queryPostgres(database, text)

const serialOf = async (name: string): Promise<number> =>
  Number((await query(`select serial from served_zones where name = '${name}'`))[0]?.['serial'])

describe('writers of several processes', () => {
  test('stop exactly at the record limit', async () => {
    const { id } = await client(0).ok('POST', '/domains', { ...MASTER, domain: 'limit.example' })
    await query(`insert into records (domain_id, type, name, target, priority, weight, port, ttl_sec, created, updated)
      select ${id}, 'A', 'h' || n, '192.0.2.1', 0, 0, 0, 0, '2026-01-01T00:00:00', '2026-01-01T00:00:00' from generate_series(1, 11950) n`)
    await query(`update domains set record_count = 11950, revision = revision + 1 where id = ${id}`)
    const answers = await inParallel(120, 40, (index) =>
      client(index).call('POST', `/domains/${id}/records`, { type: 'A', name: `x${index}`, target: '192.0.2.1' }),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50)
    expect(await query(`select count(*)::int as records from records where domain_id = ${id}`)).toEqual([{ records: 12_000 }])
  })

  test('produce the same zone in every process, with at most one serial per change', async () => {
    const { id } = await client(0).ok('POST', '/domains', { ...MASTER, domain: 'serial.example' })
    await expectAnswers('serial.example', 'A', 'NOERROR')
    const before = await serialOf('serial.example')
    await inParallel(60, 20, (index) => client(index).ok('POST', `/domains/${id}/records`, { type: 'TXT', target: `t${index}` }))
    await expect.poll(async () => (await client(1).ok('GET', `/domains/${id}/zone-file`)).zone_file.length).toBe(3 + 5 + 60)
    const after = await serialOf('serial.example')
    expect(after - before).toBeGreaterThan(0)
    expect(after - before).toBeLessThanOrEqual(60)
    const soa = (serial: number) => `NOERROR | ns1.zonewright.test. hostmaster.example.com. ${serial} 14400 14400 1209600 86400`
    await expectAnswers('serial.example', 'SOA', soa(after))
    // A change without effect on the zone gives no new serial.
    await client(1).ok('PUT', `/domains/${id}`, { description: 'changed' })
    await new Promise((done) => setTimeout(done, 300))
    expect(await serialOf('serial.example')).toBe(after)
    // One change gives one serial, although two processes are notified.
    await client(1).ok('PUT', `/domains/${id}`, { ttl_sec: 300 })
    await expectAnswers('serial.example', 'SOA', soa(after + 1).replace(/86400$/, '300'))
  })
})

describe('a process with only a name server', () => {
  test('follows changes of records, status and name, and deletions', async () => {
    const { id } = await client(0).ok('POST', '/domains', { ...MASTER, domain: 'followed.example' })
    const record = await client(0).ok('POST', `/domains/${id}/records`, { type: 'A', name: 'www', target: '192.0.2.1' })
    await expectAnswers('www.followed.example', 'A', 'NOERROR | 192.0.2.1')
    await client(1).ok('PUT', `/domains/${id}/records/${record.id}`, { target: '192.0.2.2' })
    await expectAnswers('www.followed.example', 'A', 'NOERROR | 192.0.2.2')
    await client(0).ok('PUT', `/domains/${id}`, { status: 'disabled' })
    await expectAnswers('www.followed.example', 'A', 'REFUSED')
    await client(1).ok('PUT', `/domains/${id}`, { status: 'active' })
    await expectAnswers('www.followed.example', 'A', 'NOERROR | 192.0.2.2')
    await client(0).ok('PUT', `/domains/${id}`, { domain: 'renamed.example' })
    await expectAnswers('www.renamed.example', 'A', 'NOERROR | 192.0.2.2')
    await expectAnswers('www.followed.example', 'A', 'REFUSED')
    await client(1).ok('DELETE', `/domains/${id}`)
    await expectAnswers('www.renamed.example', 'A', 'REFUSED')
  })

  test('serves a name that moves between domains, with increasing serials', async () => {
    const first = await client(0).ok('POST', '/domains', { ...MASTER, domain: 'passed.example' })
    for (const target of ['1', '2', '3']) {
      await client(0).ok('POST', `/domains/${first.id}/records`, { type: 'TXT', target })
      await expect.poll(async () => (await ask(nameServer, 'passed.example', 'TXT')).includes(`"${target}"`)).toBe(true)
    }
    const before = await serialOf('passed.example')
    await client(1).ok('DELETE', `/domains/${first.id}`)
    const second = await client(0).ok('POST', '/domains', { ...MASTER, domain: 'passed.example' })
    await client(1).ok('POST', `/domains/${second.id}/records`, { type: 'TXT', target: 'heir' })
    await expectAnswers('passed.example', 'TXT', 'NOERROR | "heir"')
    expect(await serialOf('passed.example')).toBeGreaterThan(before)
  })

  test('misses no change if notifications are lost', async () => {
    const { id } = await client(0).ok('POST', '/domains', { ...MASTER, domain: 'news.example' })
    await client(0).ok('POST', `/domains/${id}/records`, { type: 'TXT', target: 'before' })
    await expectAnswers('news.example', 'TXT', 'NOERROR | "before"')
    // The listening connections are closed; the processes reconnect.
    await query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query = 'listen zonewright'`)
    await client(0).ok('POST', `/domains/${id}/records`, { type: 'TXT', target: 'while cut' })
    await expectAnswers('news.example', 'TXT', 'NOERROR | "before" | "while cut"')
    // No process gets notifications any more.
    await query('alter table served_revision disable trigger all')
    try {
      await client(1).ok('POST', `/domains/${id}/records`, { type: 'TXT', target: 'untold' })
      await expectAnswers('news.example', 'TXT', 'NOERROR | "before" | "untold" | "while cut"')
    } finally {
      await query('alter table served_revision enable trigger all')
    }
  })
})

test('another process completes the work of a killed process', async () => {
  const { id } = await client(0).ok('POST', '/domains', { ...MASTER, domain: 'left.example' })
  await expectAnswers('left.example', 'TXT', 'NOERROR')
  // Committed, and killed before the zone is rendered.
  const other = await openPostgres({ url: database, onError: () => undefined })
  await other.write(async (connection) => {
    const text = { type: 'TXT', name: '', target: 'left', service: null, protocol: null, tag: null }
    const fields = { ...text, priority: 0, weight: 0, port: 0, ttl_sec: 0 }
    await connection
      .insertInto('records')
      .values({ ...fields, domain_id: id, created: '', updated: '' })
      .execute()
    await connection
      .updateTable('domains')
      .set((eb) => ({ revision: eb('revision', '+', 1) }))
      .where('id', '=', id)
      .execute()
  })
  await other.close()
  await expectAnswers('left.example', 'TXT', 'NOERROR | "left"')
})

test('a new process serves the stored zones without rendering them', async () => {
  const serials = async () => query('select name, serial, revision from served_zones order by name')
  await expect.poll(() => query('select id from domains where settled < revision')).toEqual([])
  const before = await serials()
  const { service } = await startForTest({ dataFolder: null, database, dns: LOOPBACK, bootstrapToken: 'bootstrap' })
  const { host, port } = service.dnsAddress as { host: string; port: number }
  const { stdout } = await runTool('dig', [`@${host}`, '-p', String(port), '+short', 'limit.example', 'SOA'])
  expect(stdout).toContain(` ${await serialOf('limit.example')} `)
  expect(await serials()).toEqual(before)
})
