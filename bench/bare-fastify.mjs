/** fastify alone: answers every request with the same object, serialised with a schema if it returns a record. */
import Fastify from 'fastify'

const record = (id) => ({
  id,
  type: 'A',
  name: `host-${id}`,
  target: '192.0.2.1',
  priority: 0,
  weight: 0,
  port: 0,
  service: null,
  protocol: null,
  tag: null,
  ttl_sec: 300,
  created: '2026-01-31T09:00:00',
  updated: '2026-01-31T09:00:00',
})
const page = { data: Array.from({ length: 100 }, (_, index) => record(index + 1)), page: 1, pages: 1, results: 100 }

const app = Fastify()
app.get('/v4/domains/:domainId/records', async () => page)
app.post('/v4/domains/:domainId/records', async () => page.data[0])
app.put('/v4/domains/:domainId/records/:recordId', async () => page.data[0])
const origin = await app.listen({ host: '127.0.0.1', port: 0 })
console.log(JSON.stringify({ http: `${origin}/v4` }))
process.once('SIGTERM', () => app.close())
