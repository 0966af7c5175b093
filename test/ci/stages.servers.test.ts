/** The recipe of docs/tasks/ci.md for two stages at GitLab: the pipeline that the page shows, with the jobs that `init` writes beside it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { cli, expectEnd } from '../support/cli.ts'
import { runPipeline } from '../support/pipeline-runner.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { git } from '../support/workflow-runner.ts'
import { openProject } from './project.ts'
import { READ, WRITE, zone } from './repository.ts'

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/tasks/ci.md'), 'utf8')
const [, RECIPE = ''] = /^## Staging before production\n.*?^```yaml\n(.*?)^```/ms.exec(PAGE) ?? []
const STAGING = 'staging/zones/staging.example.com.yaml'
const PRODUCTION = 'production/zones/example.com.yaml'

describeWithTools(['git', 'bash'], 'two stages at GitLab', () => {
  test('are planned in two notes, and production is applied only after staging', async () => {
    const project = await openProject()
    const { scene, clone, gitlab } = project
    const config = scene.config()
    const files = {
      '.gitlab-ci.yml': RECIPE,
      'staging/zonewright.yaml': config,
      'production/zonewright.yaml': config,
      [STAGING]: zone('staging.example.com', '192.0.2.1'),
      [PRODUCTION]: zone('example.com', '192.0.2.1'),
    }
    const folder = temporaryDirectory()
    for (const [path, text] of Object.entries({ ...files, '.git/HEAD': '' })) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    expectEnd(await cli(['init', '--ci', 'gitlab'], { cwd: join(folder, 'production'), env: {} }), 0)
    expect(readFileSync(join(folder, '.gitlab-ci.yml'), 'utf8')).toBe(RECIPE)
    const jobs = readFileSync(join(folder, '.gitlab/zonewright.yml'), 'utf8')
    expect((await scene.runWith({ ZONEWRIGHT_TOKEN: WRITE }, 'apply', '--yes')).status).toBe(0)
    project.commit({ ...files, '.gitlab/zonewright.yml': jobs })
    const variables = [
      ...project.variables,
      { name: 'ZONEWRIGHT_TOKEN', value: WRITE, isProtected: true, scope: 'dns-staging' } as const,
      { name: 'STAGING_READ_TOKEN', value: READ },
    ]
    /** The jobs of a merge request with these files and of its merge. */
    const land = async (changes: Readonly<Record<string, string>>, meanwhile?: () => Promise<unknown>): Promise<string[]> => {
      const number = gitlab.nextId()
      const head = project.commit(changes, `change-${number}`)
      const pull = {
        number,
        head,
        headOwner: 'team',
        headBranch: `change-${number}`,
        base: 'main',
        state: 'open' as const,
        mergeCommit: null,
      }
      gitlab.pulls.push(pull)
      git(clone, 'push', '-q', 'origin', `${head}:refs/merge-requests/${number}/head`)
      const before = git(clone, 'rev-parse', 'main')
      const run = async (
        source: 'push' | 'merge_request_event',
        sha: string,
        more: Readonly<Record<string, string>>,
      ): Promise<string[]> => {
        await scene.service.flush()
        const ran = await runPipeline({ ...project, variables }, { source, sha, variables: more })
        return [...ran.jobs].map(([name, { status }]) => `${name} ${status}`)
      }
      const planned = await run('merge_request_event', head, {
        CI_MERGE_REQUEST_IID: String(number),
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
        CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '42',
        CI_MERGE_REQUEST_DIFF_BASE_SHA: before,
        CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
      })
      await meanwhile?.()
      git(clone, 'merge', '-q', '--no-ff', `change-${number}`)
      git(clone, 'push', '-q', 'origin', 'main')
      const sha = git(clone, 'rev-parse', 'main')
      Object.assign(gitlab.pulls.at(-1) ?? {}, { state: 'merged', mergeCommit: sha })
      return [...planned, ...(await run('push', sha, { CI_COMMIT_BRANCH: 'main', CI_COMMIT_BEFORE_SHA: before }))]
    }
    const plans = ['dns:check 0', 'dns:plan 0', 'staging:plan 0']
    const changed = (address: string) => ({ [STAGING]: zone('staging.example.com', address), [PRODUCTION]: zone('example.com', address) })
    expect(await land(changed('192.0.2.7'))).toEqual([...plans, 'staging:apply 0', 'dns:apply 0'])
    const notes = gitlab.comments.map(({ body }) => /<!-- zonewright:(.*?) -->/.exec(body)?.[1])
    expect(notes.sort()).toEqual(['plan', 'staging'])
    // Somebody else changes staging after the review.
    const other = async () => {
      scene.write({ 'zones/staging.example.com.yaml': zone('staging.example.com', '192.0.2.99') })
      expect((await scene.runWith({ ZONEWRIGHT_TOKEN: WRITE }, 'apply', 'staging.example.com', '--yes')).status).toBe(0)
    }
    expect(await land(changed('192.0.2.8'), other)).toEqual([...plans, 'staging:apply 3'])
  })
})
