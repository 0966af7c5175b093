import { expect, test } from 'vitest'
import { PUBLIC_IMAGES } from '../../../src/service/catalogue/public-images.ts'
import { readPublicImages } from '../../../src/service/index.ts'
import { startForTest } from '../harness.ts'

const FILE = `
own1.0: { label: Own 1, vendor: Own, size: 30000, created: '2026-01-31T09:00:00' }
arch: { label: Arch of ours, vendor: Arch, size: 900, created: '2026-01-31T09:00:00Z', eol: '2030-01-31T00:00:00', deprecated: true }
`
const { images, diagnostics } = readPublicImages(FILE, 'images.yaml')

test('an installation has the images of its file, which can replace those of the program', async () => {
  expect(diagnostics).toEqual([])
  const { client } = await startForTest({ publicImages: images ?? [] })
  const { data, results } = await client.ok('GET', '/images')
  expect(results).toBe(PUBLIC_IMAGES.length + 1)
  expect(data.at(-1)).toMatchObject({
    id: 'public/own1.0',
    label: 'Own 1',
    eol: null,
    deprecated: false,
    status: 'available',
    is_public: true,
  })
  const arch = await client.ok('GET', '/images/linode/arch')
  expect(arch).toMatchObject({ id: 'linode/arch', label: 'Arch of ours', size: 900, deprecated: true, created: '2026-01-31T09:00:00' })
  expect(await client.problems('DELETE', '/images/public/own1.0')).toEqual(['A public image cannot be deleted.'])

  const deploy = { region: 'us-east', type: 'g6-standard-1', image: 'linode/own1.0', root_pass: 'correct horse 9' }
  expect(await client.ok('POST', '/linode/instances', deploy)).toMatchObject({ image: 'linode/own1.0' })
  expect(await client.problems('POST', '/linode/instances', { ...deploy, type: 'g6-nanode-1' })).toEqual([
    'type: The image needs 30000 MB, and the type has 25600 MB.',
  ])
  const script = await client.ok('POST', '/compute/scripts', { label: 'own', images: ['public/own1.0'], script: '#!/bin/sh' })
  await client.ok('PUT', `/compute/scripts/${script.id}`, { images: ['public/own1.0', 'public/arch'] })
})

const GOOD = "label: L, vendor: V, size: 1, created: '2026-01-31T09:00:00'"

test.each([
  ['no mapping', '[own1]', ['1:1 images must be a mapping with their names as keys']],
  ['a missing field', 'own1: {label: L, vendor: V, size: 1}', ['1:7 own1.created is required']],
  ['an unknown field', `own1: {${GOOD}, url: x}`, ['1:75 Unknown field']],
  ['two wrong values', `own1: {${GOOD.replace('size: 1', 'size: 0')}, deprecated: 1}`, ['size', 'deprecated']],
  ['a time that is none', `own1: {${GOOD}, eol: '2026-02-30T00:00:00'}`, ['1:75 not a time such as 2030-01-31T09:00:00']],
  ['a name with a slash', `public/own1: {${GOOD}}`, ['the name of an image must have']],
])('a file with %s is refused', (_name, text, expected) => {
  const { images: none, diagnostics: found } = readPublicImages(text, 'images.yaml')
  expect(none).toBeNull()
  expect(found.map(({ code, message, at }) => (code === 'images-invalid' ? `${at?.line}:${at?.column} ${message}` : code))).toEqual(
    expected.map((part) => expect.stringContaining(part)),
  )
})
