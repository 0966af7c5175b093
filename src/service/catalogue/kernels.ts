/** A kernel or boot loader that an instance can boot with. */
export interface Kernel {
  readonly id: string
  readonly label: string
  /** The version of Linux; for a boot loader, its name. */
  readonly version: string
  readonly architecture: 'x86_64' | 'i386'
  readonly built: string
  readonly deprecated: boolean
  readonly kvm: boolean
  readonly pvops: boolean
}

const ARCHITECTURES = ['x86_64', 'i386'] as const

/** The longterm series of Linux with their release days, the newest first. */
const SERIES = [
  ['5.15', '2021-10-31'],
  ['5.10', '2020-12-13'],
  ['5.4', '2019-11-24'],
  ['4.19', '2018-10-22'],
  ['4.14', '2017-11-12'],
  ['4.9', '2016-12-11'],
] as const

/** Patch releases listed per series: clients rely on more than 300 kernels (API, Kernel). */
const PATCHES = 26

/** The series whose support has ended. */
const DEPRECATED_SERIES = '4.9'

const ALIASES = [
  ['linode/latest-64bit', 'Latest 64 bit', 'x86_64'],
  ['linode/latest-32bit', 'Latest 32 bit', 'i386'],
] as const

const BOOT_LOADERS = [
  ['linode/grub2', 'GRUB 2', '2015-06-04', false],
  ['linode/grub-legacy', 'GRUB (Legacy)', '2014-12-01', true],
  ['linode/direct-disk', 'Direct Disk', '2015-06-04', false],
] as const

const RELEASES: readonly Kernel[] = SERIES.flatMap(([series, day]) =>
  Array.from({ length: PATCHES }, (_, index) => `${series}.${PATCHES - index}`).flatMap((version) =>
    ARCHITECTURES.map((architecture): Kernel => {
      const label = `${version}-${architecture}`
      const deprecated = series === DEPRECATED_SERIES
      return { id: `linode/${label}`, label, version, architecture, built: `${day}T00:00:00`, deprecated, kvm: true, pvops: true }
    }),
  ),
)

/** All kernels: the aliases of the latest release, the boot loaders, then the releases, the newest first. */
export const KERNELS: readonly Kernel[] = [
  ...ALIASES.map(([id, label, architecture]): Kernel => {
    const latest = RELEASES.find((kernel) => kernel.architecture === architecture) as Kernel
    return { ...latest, id, label: `${label} (${latest.label})` }
  }),
  ...BOOT_LOADERS.map(([id, label, day, deprecated]): Kernel => {
    const built = `${day}T00:00:00`
    return { id, label, version: label, architecture: 'x86_64', built, deprecated, kvm: true, pvops: false }
  }),
  ...RELEASES,
]

const BY_ID: ReadonlyMap<string, Kernel> = new Map(KERNELS.map((kernel) => [kernel.id, kernel]))

/** Returns the kernel with an id; null if there is none. */
export const findKernel = (id: string): Kernel | null => BY_ID.get(id) ?? null
