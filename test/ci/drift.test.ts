/** What the job for drift says. The whole path, with its issue, is in `story.servers.test.ts`. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openLiveScene, zoneFiles } from '../cli/scene.ts'

const JOB = {
  ...{ GITHUB_ACTIONS: 'true', GITHUB_SERVER_URL: 'https://github.example', GITHUB_REPOSITORY: 'team/dns', GITHUB_RUN_ID: '1' },
  ...{ GITHUB_EVENT_NAME: 'schedule', GITHUB_REF_NAME: 'main', GITHUB_SHA: 'a'.repeat(40) },
}

test('the summary names zones without a definition, what differs, and what could not be compared', async () => {
  const scene = await openLiveScene({ files: { ...zoneFiles(['example.com', 'example.net']), 'event.json': '{}' } })
  const summary = join(scene.folder, 'summary.md')
  const drift = async () => {
    rmSync(summary, { force: true })
    const env = { ...JOB, GITHUB_EVENT_PATH: join(scene.folder, 'event.json'), GITHUB_STEP_SUMMARY: summary }
    const { status, stdout } = await scene.runWith(env, 'ci', 'drift', '--no-issue')
    return { status, stdout, summary: existsSync(summary) ? readFileSync(summary, 'utf8') : '' }
  }
  scene.memory.set('stray.example', '@ A 192.0.2.1')
  // No name server is asked: those of the zones are not reachable from here.
  scene.write({ 'zonewright.yaml': `${scene.config()}nameservers: []\n` })
  expect(await drift()).toMatchObject({
    status: 0,
    summary: expect.stringMatching(/All zones are as defined.*zone-undescribed.*stray\.example\./s),
  })

  scene.memory.change('example.net', 'mail A 192.0.2.66')
  expect(await drift()).toMatchObject({
    status: 2,
    summary: expect.stringMatching(/1 zone of 2 differs.*<code>1 change pending<\/code>.*- mail .* 192\.0\.2\.66/s),
  })

  scene.memory.use(({ kind, zone }) =>
    kind === 'read' && zone === 'example.net.' ? { kind: 'refused', code: 'provider-failed', message: 'no permission' } : null,
  )
  expect(await drift()).toMatchObject({
    status: 1,
    summary: expect.stringMatching(/Not everything could be compared.*error\[.*no permission/s),
  })
  scene.memory.change('example.com', 'mail A 192.0.2.67')
  expect(await drift()).toMatchObject({
    status: 1,
    summary: expect.stringMatching(/Not everything could be compared.*1 zone of 1 differs.*no permission.*- mail .* 192\.0\.2\.67/s),
  })
  scene.write({ 'zonewright.yaml': 'providers: [' })
  expect(await drift()).toMatchObject({ status: 1, summary: expect.stringMatching(/Not everything could be compared.*error\[/s) })
})
