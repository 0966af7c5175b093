/** Runs before each test file, in its worker. */
import { afterAll } from 'vitest'
import { endFile } from './file-end.ts'

afterAll(endFile)
