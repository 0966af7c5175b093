/** The server before the scripted services: requests on a real socket, and answers that are lost. */
import { expect, test } from 'vitest'
import { startScriptedServer } from './scripted-server.ts'
import { CLOUD } from './services.ts'

test('an answer is lost after its change was made, and reads are answered', async () => {
  const { create, path, headers } = CLOUD.digitalocean
  const { service, records } = create()
  const { origin, requests, loseAnswers } = await startScriptedServer(service)
  const url = `${origin}${path}/domains/example.com/records`
  const post = (name: string) =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify({ type: 'A', name, data: '192.0.2.1', ttl: 300 }) })
  loseAnswers(1)
  expect((await fetch(url, { headers })).status).toBe(200)
  await expect(post('lost')).rejects.toThrow()
  expect((await post('answered')).status).toBe(201)
  expect((records('example.com') ?? []).slice(4).map(({ name }) => name)).toEqual(['lost', 'answered'])
  expect(requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'POST'])
})
