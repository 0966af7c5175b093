/** The last commit of the branch is fetched with the token of the job, also if the checkout has left one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { noSecrets } from '../../src/base/secret-guard.ts'
import { zonesOfLaterCommits } from '../../src/cli/ci/apply-job.ts'
import { createOutput } from '../../src/cli/output.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { git } from '../support/workflow-runner.ts'

describeWithTools(['git'], 'the branch of a job', () => {
  test.each([
    ['ghs_right', []],
    ['ghs_right', ['AUTHORIZATION: basic b2xk']],
    ['ghs_wrong', []],
  ])('is fetched with the token %s and the headers %j of the checkout', async (token, left) => {
    const [root, cwd] = [temporaryDirectory(), temporaryDirectory()]
    git(root, 'init', '-q', '.')
    git(root, 'commit', '-q', '--allow-empty', '-m', 'first')
    const server = createServer((request, response) => {
      // GitHub refuses two headers.
      if (request.rawHeaders.filter((one) => one.toLowerCase() === 'authorization').length !== 1) return response.writeHead(400).end()
      if (request.headers.authorization !== `basic ${Buffer.from('x-access-token:ghs_right').toString('base64')}`)
        return response.writeHead(403).end()
      const { pathname: PATH_INFO, search } = new URL(request.url ?? '', 'http://x')
      const variables = { GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: '1', PATH_INFO, QUERY_STRING: search.slice(1) }
      const { method: REQUEST_METHOD, headers } = request
      const env = { ...process.env, ...variables, REQUEST_METHOD, CONTENT_TYPE: headers['content-type'], GIT_PROTOCOL: 'version=2' }
      const child = spawn('git', ['http-backend'], { env })
      request.pipe(child.stdin)
      const chunks: Buffer[] = []
      child.stdout.on('data', (chunk) => chunks.push(chunk))
      child.on('close', () => {
        const all = Buffer.concat(chunks)
        const end = all.indexOf('\r\n\r\n')
        const lines = all.toString('latin1', 0, end).split('\r\n')
        for (const line of lines) response.setHeader(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim())
        response.end(all.subarray(end + 4))
      })
    })
    server.listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    git(cwd, 'clone', '-q', root, '.')
    git(cwd, 'remote', 'set-url', 'origin', `${origin}/.git`)
    for (const header of left) git(cwd, 'config', `http.${origin}/.extraheader`, header)
    git(root, 'commit', '-q', '--allow-empty', '-m', 'second')
    const env = { PATH: process.env['PATH'], HOME: cwd, GITHUB_TOKEN: token, GITHUB_SERVER_URL: origin }
    const stream = { write: () => true }
    const io = { env, cwd, now: () => new Date(0), secrets: noSecrets(), stdout: stream, stderr: stream, stdin: process.stdin }
    const job = { site: 'github', branch: 'main' } as Parameters<typeof zonesOfLaterCommits>[0]['job']
    const found = zonesOfLaterCommits({ io, job, output: createOutput(io, {}) }, join(cwd, 'none.yaml'))
    if (token === 'ghs_wrong') return expect(found).rejects.toThrow(/last commit of main: .*403/)
    expect(await found).toEqual({ names: new Set(), branch: 'main' })
    expect(git(cwd, 'rev-parse', 'origin/main')).toBe(git(root, 'rev-parse', 'main'))
  })
})
