import { expect, test } from 'vitest'
import { folderWith } from '../definition/files.ts'
import { cli } from '../support/cli.ts'

test("import octodns writes a definition for octoDNS's file without content, which is an empty zone", async () => {
  const folder = folderWith({ 'in/example.com.yaml': '---\n', 'in/example.org.yaml': 'www: {type: A, value: 192.0.2.1}\n' })
  expect(await cli(['import', 'octodns', 'in', '-o', 'zones'], { cwd: folder })).toMatchObject({ status: 0 })
  const { status, stderr } = await cli(['validate', 'zones'], { cwd: folder })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '2 zones, 1 record in 2 files: no problems.\n' })
})
