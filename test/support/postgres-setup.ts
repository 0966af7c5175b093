/** Global setup of the project `postgres`: one server for all test files, with an empty database of the service to copy. */
import type { TestProject } from 'vitest/node'
import { openPostgres } from '../../src/service/store/postgres/open-postgres.ts'
import { startPostgres } from './postgres.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of the database to copy; empty in other projects. */
    postgresTemplate: string
  }
}

/** The database that tests copy with `create database … template`. */
const TEMPLATE = 'zonewright_template'

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres()
  await server.query('postgres', `create database ${TEMPLATE}`)
  const url = server.url(TEMPLATE)
  await (await openPostgres({ url, onError: () => undefined })).close()
  project.provide('postgresTemplate', url)
  return server.remove
}
