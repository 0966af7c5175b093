/** The repository of the tests with act as the interpreter of its workflows. */
import { actRunner, serveRelease } from '../support/act-runner.ts'
import { findForeignClient } from '../support/foreign-clients.ts'
import { openRepository, type Repository } from './repository.ts'

/** What act needs, and the jobs. */
export const ACT_TOOLS = [findForeignClient('act'), 'git', 'bash', 'curl', 'openssl', 'tar', 'sha256sum', 'unzip', 'zip']

export async function openActRepository(): Promise<Repository> {
  const release = await serveRelease()
  return openRepository('', { run: actRunner(release), release })
}
