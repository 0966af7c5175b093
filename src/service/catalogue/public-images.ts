import { Ajv } from 'ajv'
import IMAGES from '../../../schemas/service/public-images.json' with { type: 'json' }
import type { Diagnostic } from '../../base/diagnostic.ts'
import { toJsonValue } from '../../definition/yaml/plain-scalars.ts'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import { nodeAt, parseTimestamps, type ReportProblem, reasonOf, stepsOf } from '../seed/seed.ts'

/** An image that every account can deploy. */
export interface PublicImage {
  /** Begins with `public/`. */
  readonly id: string
  readonly label: string
  readonly vendor: string
  /** The smallest disk that it fits on, in MB. */
  readonly size: number
  /** True after the vendor's support has ended. */
  readonly deprecated: boolean
  /** The end of the vendor's support; null if none is planned. */
  readonly eol: string | null
  readonly created: string
}

type Row = readonly [
  name: string,
  label: string,
  vendor: string,
  size: number,
  created: string,
  eol: string | null,
  deprecated?: 'deprecated',
]

/** Name, label, vendor, size in MB, day of creation, end of life. */
const ROWS: readonly Row[] = [
  ['almalinux8', 'AlmaLinux 8', 'AlmaLinux', 1200, '2021-05-25', '2029-03-01'],
  ['almalinux9', 'AlmaLinux 9', 'AlmaLinux', 1100, '2022-05-27', '2032-05-31'],
  ['alpine3.13', 'Alpine 3.13', 'Alpine', 250, '2021-01-21', '2022-11-01', 'deprecated'],
  ['alpine3.14', 'Alpine 3.14', 'Alpine', 250, '2021-07-13', '2023-05-01'],
  ['alpine3.15', 'Alpine 3.15', 'Alpine', 250, '2021-12-01', '2023-11-01'],
  ['alpine3.16', 'Alpine 3.16', 'Alpine', 300, '2022-05-31', '2024-05-23'],
  ['alpine3.17', 'Alpine 3.17', 'Alpine', 300, '2022-12-08', '2024-11-22'],
  ['alpine3.18', 'Alpine 3.18', 'Alpine', 400, '2023-05-09', '2025-05-09'],
  ['alpine3.19', 'Alpine 3.19', 'Alpine', 400, '2023-12-07', '2025-11-01'],
  ['alpine3.20', 'Alpine 3.20', 'Alpine', 400, '2024-05-22', '2026-04-01'],
  ['alpine3.21', 'Alpine 3.21', 'Alpine', 400, '2024-12-05', '2026-11-01'],
  ['alpine3.22', 'Alpine 3.22', 'Alpine', 400, '2025-05-30', '2027-05-01'],
  ['arch', 'Arch Linux', 'Arch', 1500, '2016-06-13', null],
  ['centos7', 'CentOS 7', 'CentOS', 1500, '2014-07-08', '2024-07-01'],
  ['centos8', 'CentOS 8', 'CentOS', 1500, '2019-10-07', '2021-12-31', 'deprecated'],
  ['centos-stream8', 'CentOS Stream 8', 'CentOS', 1300, '2021-02-23', '2024-05-31'],
  ['centos-stream9', 'CentOS Stream 9', 'CentOS', 1100, '2021-12-09', '2027-05-31'],
  ['debian9', 'Debian 9', 'Debian', 1100, '2017-06-16', '2022-06-30', 'deprecated'],
  ['debian10', 'Debian 10', 'Debian', 1500, '2019-07-11', '2024-06-30'],
  ['debian11', 'Debian 11', 'Debian', 1300, '2021-08-16', '2026-07-01'],
  ['debian12', 'Debian 12', 'Debian', 1300, '2023-03-15', '2028-06-30'],
  ['debian13', 'Debian 13', 'Debian', 1500, '2025-08-09', '2030-06-30'],
  ['fedora35', 'Fedora 35', 'Fedora', 1500, '2021-11-08', '2022-12-07', 'deprecated'],
  ['fedora36', 'Fedora 36', 'Fedora', 1400, '2022-05-10', '2023-05-24'],
  ['fedora37', 'Fedora 37', 'Fedora', 1600, '2022-12-09', '2023-12-15'],
  ['gentoo', 'Gentoo', 'Gentoo', 6300, '2016-06-13', null],
  ['kali', 'Kali Linux', 'Kali', 1500, '2022-07-08', null],
  ['opensuse15.3', 'openSUSE Leap 15.3', 'openSUSE', 1500, '2021-06-10', '2022-12-31', 'deprecated'],
  ['opensuse15.4', 'openSUSE Leap 15.4', 'openSUSE', 1500, '2022-06-08', '2023-11-30'],
  ['rocky8', 'Rocky Linux 8', 'Rocky', 1200, '2021-07-01', '2029-05-31'],
  ['rocky9', 'Rocky Linux 9', 'Rocky', 1100, '2022-07-15', '2032-05-31'],
  ['slackware14.2', 'Slackware 14.2', 'Slackware', 6000, '2016-10-13', '2024-01-01'],
  ['slackware15.0', 'Slackware 15.0', 'Slackware', 7500, '2022-03-23', null],
  ['ubuntu16.04lts', 'Ubuntu 16.04 LTS', 'Ubuntu', 2700, '2016-07-22', '2021-04-30', 'deprecated'],
  ['ubuntu18.04', 'Ubuntu 18.04 LTS', 'Ubuntu', 2700, '2018-04-30', '2023-06-01'],
  ['ubuntu20.04', 'Ubuntu 20.04 LTS', 'Ubuntu', 2700, '2020-05-20', '2025-04-01'],
  ['ubuntu21.10', 'Ubuntu 21.10', 'Ubuntu', 2900, '2021-10-14', '2022-07-14', 'deprecated'],
  ['ubuntu22.04', 'Ubuntu 22.04 LTS', 'Ubuntu', 3000, '2022-04-22', '2027-04-01'],
  ['ubuntu22.10', 'Ubuntu 22.10', 'Ubuntu', 3100, '2022-10-26', '2023-07-20'],
  ['ubuntu24.04', 'Ubuntu 24.04 LTS', 'Ubuntu', 3500, '2024-04-25', '2029-05-31'],
]

/** The public images that every installation has. Deprecated ones can be deployed, too. */
export const PUBLIC_IMAGES: readonly PublicImage[] = ROWS.map(([name, label, vendor, size, created, eol, deprecated]) => ({
  id: `public/${name}`,
  label,
  vendor,
  size,
  deprecated: deprecated !== undefined,
  eol: eol && `${eol}T04:00:00`,
  created: `${created}T00:00:00`,
}))

const BY_ID: ReadonlyMap<string, PublicImage> = new Map(PUBLIC_IMAGES.map((image) => [image.id, image]))

/** Returns the image of every installation with an id; null if there is none. */
export const findPublicImage = (id: string): PublicImage | null => BY_ID.get(id) ?? null

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
