/** A project at a scripted GitLab with the pipeline that `init` writes, and a service with its zones. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { ciFiles } from '../../src/cli/init/ci-files.ts'
import { cloudNeeds } from '../../src/cli/init/ci-needs.ts'
import { NO_RELEASE, type Release } from '../../src/cli/init/release.ts'
import { openFileScene, type ServiceScene } from '../cli/service-scene.ts'
import { createScriptedGitlab } from '../scripted/code-sites/gitlab.ts'
import { startScriptedServer } from '../scripted/scripted-server.ts'
import type { PipelineScene } from '../support/pipeline-runner.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { git } from '../support/workflow-runner.ts'
import { READ, SEED, WRITE, zone } from './repository.ts'

const BOT = 'glpat-0123456789abcdef'

export interface Project extends PipelineScene {
  readonly scene: ServiceScene
  readonly clone: string
  /** The text of the pipeline. */
  readonly pipeline: string
  /** Commits files on a branch, which begins at main or where `from` says, and pushes it. Returns the commit. */
  commit(files: Readonly<Record<string, string>>, branch?: string, from?: string): string
}

export async function openProject(release: Release = NO_RELEASE): Promise<Project> {
  const scene = await openFileScene({ seed: SEED })
  const gitlab = createScriptedGitlab(42, { [BOT]: 'project_42_bot_1' })
  const { origin: api } = await startScriptedServer(gitlab.service)
  const [bare, clone] = [temporaryDirectory(), temporaryDirectory()]
  git(bare, 'init', '-q', '--bare', '.')
  git(clone, 'clone', '-q', bare, '.')
  git(clone, 'checkout', '-q', '-b', 'main')
  const { proxy, service } = scene
  const hosts = [api, proxy.origin].map((origin) => new URL(origin).host)
  const dns = `${service.dnsAddress?.host}:${service.dnsAddress?.port}`
  const pipeline = ciFiles('gitlab', release, [...hosts, dns], cloudNeeds('ZONEWRIGHT_TOKEN'))[0]?.text ?? ''
  const variables: PipelineScene['variables'] = [
    { name: 'ZONEWRIGHT_TOKEN', value: WRITE, isProtected: true, scope: 'dns' },
    { name: 'ZONEWRIGHT_READ_TOKEN', value: READ },
    { name: 'ZONEWRIGHT_GITLAB_TOKEN', value: BOT },
    { name: 'ZONEWRIGHT_PLAN_KEY', value: '0f'.repeat(32) },
  ]
  const commit: Project['commit'] = (files, branch = 'main', from = 'main') => {
    if (branch !== 'main') git(clone, 'checkout', '-q', '-b', branch, from)
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(clone, path)), { recursive: true })
      writeFileSync(join(clone, path), text)
    }
    git(clone, 'add', '-A')
    git(clone, 'commit', '-q', '-m', 'change')
    git(clone, 'push', '-q', 'origin', branch)
    const sha = git(clone, 'rev-parse', 'HEAD')
    git(clone, 'checkout', '-q', 'main')
    return sha
  }
  const zones = { 'zones/example.com.yaml': zone('example.com', '192.0.2.1'), 'zones/example.net.yaml': zone('example.net', '192.0.2.2') }
  commit({ 'zonewright.yaml': scene.config(), '.gitlab-ci.yml': pipeline, ...zones })
  scene.write(zones)
  expect((await scene.runWith({ ZONEWRIGHT_TOKEN: WRITE }, 'apply', '--yes')).status).toBe(0)
  return { scene, gitlab, api, bare, clone, pipeline, variables, commit }
}
