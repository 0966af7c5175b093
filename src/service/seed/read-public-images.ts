/** Reads the file with the public images that an installation has in addition. */
import { Ajv } from 'ajv'
import IMAGES from '../../../schemas/service/public-images.json' with { type: 'json' }
import { toJsonValue } from '../../definition/yaml/plain-scalars.ts'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { PublicImage } from '../catalogue/public-images.ts'
import { nodeAt, parseTimestamps, type ReportProblem, reasonOf, stepsOf } from './seed-problems.ts'

type Entry = Pick<PublicImage, 'label' | 'vendor' | 'size' | 'created'> & Partial<Pick<PublicImage, 'eol' | 'deprecated'>>

/**
 * Reads a file of images (YAML or JSON), a mapping from names to their fields. Reports all errors together with their positions; `images` is
 * null if there are any.
 */
export function readPublicImages(
  text: string,
  file: string,
): { readonly images: readonly PublicImage[] | null; readonly diagnostics: readonly Diagnostic[] } {
  const { root, diagnostics } = readYaml(text, { file })
  if (root === null || diagnostics.some(({ severity }) => severity === 'error')) return { images: null, diagnostics }
  const problems: Diagnostic[] = []
  const report: ReportProblem = (path, message) =>
    void problems.push({ severity: 'error', code: 'images-invalid', message, at: nodeAt(root, path).at })
  const document = toJsonValue(root)
  const validate = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true }).compile(IMAGES)
  if (!validate(document)) {
    for (const error of validate.errors ?? []) report(stepsOf(error), reasonOf(error, 'images must be a mapping with their names as keys'))
    return { images: null, diagnostics: [...diagnostics, ...problems] }
  }
  const images = Object.entries(document as Readonly<Record<string, Entry>>).map(([name, entry]): PublicImage => {
    if (!/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name))
      report([name], 'the name of an image must have small letters, digits, dots, hyphens and underscores')
    const { created = '', eol = null } = parseTimestamps(entry, ['created', 'eol'], (path, message) => report([name, ...path], message))
    return { id: `public/${name}`, ...entry, deprecated: entry.deprecated ?? false, created, eol }
  })
  return { images: problems.length === 0 ? images : null, diagnostics: [...diagnostics, ...problems] }
}
