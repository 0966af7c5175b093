/** Of every project: a folder beside the packages for the programs that its workers build, gone at the end of the run. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Absolute path. What is built in it finds the packages. */
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
