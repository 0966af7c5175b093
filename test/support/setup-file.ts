/** Runs before each test file, in its worker. */
import { afterAll } from 'vitest'
import { cleanUpFile } from './after-file.ts'

afterAll(cleanUpFile)
