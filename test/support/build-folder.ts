/** Global setup: a folder beside the packages for the programs that the workers build, removed at the end of the run. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Absolute path. Programs built in it find the packages. */
    buildFolder: string
  }
}

const BELOW = fileURLToPath(new URL('../../node_modules/.zonewright-test', import.meta.url))

export function setup(project: TestProject): () => void {
  mkdirSync(BELOW, { recursive: true })
  const folder = mkdtempSync(join(BELOW, 'build-'))
  project.provide('buildFolder', folder)
  return () => rmSync(folder, { recursive: true, force: true })
}
