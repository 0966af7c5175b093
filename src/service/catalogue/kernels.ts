/** A kernel that an instance can be booted with. */
export interface Kernel {
  readonly id: string
  readonly label: string
  /** Of a kernel that stands for another, that one's. */
  readonly version: string
  readonly architecture: 'x86_64' | 'i386'
  readonly built: string
  /** True where a later one should be taken. */
  readonly deprecated: boolean
  readonly kvm: boolean
  readonly pvops: boolean
}

/** A series of releases: which there are, the day of the first, and days from each to the next. */
type Series = readonly [series: string, releases: string, first: string, days: number]

/** Oldest first. Releases are single or `from-to`. */
const SERIES: readonly Series[] = [
  ['2.6.32', '9 12 16 27', '2010-02-24', 61],
  ['2.6.35', '4-7', '2010-09-01', 34],
  ['2.6.38', '2-8', '2011-04-02', 18],
  ['3.0', '0 4 18', '2011-08-03', 61],
  ['3.1', '0 5 10', '2011-11-04', 39],
  ['3.2', '1 5 14', '2012-02-14', 24],
  ['3.4', '2 4 10', '2012-06-16', 30],
  ['3.7', '1 5 10', '2012-12-31', 26],
  ['3.9', '2 3', '2013-05-20', 12],
  ['3.11', '6 8', '2013-10-23', 24],
  ['3.12', '6 9', '2013-12-23', 37],
  ['3.14', '1-5', '2014-04-21', 19],
  ['3.15', '2-4', '2014-07-08', 12],
  ['3.16', '3 5 7', '2014-10-13', 33],
  ['3.18', '1 3 5', '2015-01-08', 20],
  ['3.19', '1', '2015-03-12', 1],
  ['4.0', '1 2 4 5', '2015-05-01', 17],
  ['4.1', '0 5', '2015-07-07', 41],
  ['4.4', '0 4', '2016-02-03', 49],
  ['4.5', '0 3 5', '2016-04-01', 39],
  ['4.6', '3 5', '2016-07-14', 34],
  ['4.7', '0 3', '2016-08-22', 35],
  ['4.8', '1 3 4 6', '2016-10-18', 16],
  ['4.9', '0 7 15 33 36 50 56 64 68', '2016-12-19', 66],
  ['4.14', '11 12 14 17 19 20 24', '2018-01-05', 11],
  ['4.15', '7 8 10 12 13 18', '2018-03-14', 12],
  ['4.16', '11', '2018-06-21', 1],
  ['4.17', '2 8 11 12 14 15 17', '2018-06-26', 14],
  ['4.18', '8 16', '2018-10-05', 44],
  ['4.19', '5 8', '2018-12-10', 25],
  ['4.20', '4', '2019-01-31', 1],
  ['5.0', '1 2 8', '2019-03-19', 23],
  ['5.1', '2 5 11 17', '2019-05-23', 26],
  ['5.2', '9', '2019-08-21', 1],
  ['5.3', '7 11 13', '2019-11-05', 18],
  ['5.4', '10', '2020-01-16', 1],
  ['5.6', '1 14', '2020-04-15', 56],
  ['5.8', '3', '2020-09-02', 1],
  ['5.9', '2 6', '2020-11-02', 9],
  ['5.10', '2 13', '2020-12-30', 50],
  ['5.11', '8 9 13', '2021-03-23', 12],
  ['5.12', '2 13', '2021-05-10', 57],
  ['5.13', '4 13', '2021-07-27', 36],
  ['5.14', '2 14 15 17', '2021-09-08', 24],
  ['5.15', '8 10 13-15 22 25-29 32 36-46 48 50 52-53 57-63 67-70', '2021-12-17', 8],
]

/** Deprecated are the kernels of series before this one. */
const CURRENT_SERIES = '4.9'

/** The first build numbers of both architectures: each release has the next. */
const FIRST_BUILD = { x86_64: 11, i386: 31 } as const

/** What stands for the latest, and what boots what the disk has. */
const ALIASES: readonly (readonly [id: string, label: string, architecture: Kernel['architecture'], pvops: boolean])[] = [
  ['linode/latest-64bit', 'Latest 64 bit', 'x86_64', true],
  ['linode/latest-32bit', 'Latest 32 bit', 'i386', true],
]

const LOADERS: readonly (readonly [id: string, label: string, built: string, deprecated: boolean])[] = [
  ['linode/grub2', 'GRUB 2', '2015-06-04', false],
  ['linode/grub-legacy', 'GRUB (Legacy)', '2014-12-01', true],
  ['linode/direct-disk', 'Direct Disk', '2015-06-04', false],
]

function kernels(): readonly Kernel[] {
  const current = SERIES.findIndex(([series]) => series === CURRENT_SERIES)
  const releases = SERIES.flatMap(([series, text, first, days], index) =>
    patchesOf(text).map((patch, number) => ({
      version: `${series}.${patch}`,
      built: `${dayAfter(first, number * days)}T13:50:24`,
      deprecated: index < current,
    })),
  )
  const built = releases.flatMap(({ version, ...rest }, number) =>
    (['x86_64', 'i386'] as const).map((architecture): Kernel => {
      const label = `${version}-${architecture === 'i386' ? 'x86' : architecture}-linode${FIRST_BUILD[architecture] + number}`
      return { id: `linode/${label}`, label, version, architecture, ...rest, kvm: true, pvops: true }
    }),
  )
  const aliases = ALIASES.map(([id, label, architecture, pvops]): Kernel => {
    const latest = built.findLast((kernel) => kernel.architecture === architecture) as Kernel
    return { ...latest, id, label: `${label} (${latest.label})`, pvops }
  })
  const loaders = LOADERS.map(
    ([id, label, day, deprecated]): Kernel => ({
      ...{ id, label, version: label, architecture: 'x86_64', built: `${day}T00:00:00`, deprecated },
      ...{ kvm: true, pvops: false },
    }),
  )
  return [...aliases, ...loaders, ...built.reverse()]
}

/** `8 13-15` is 8, 13, 14 and 15. */
const patchesOf = (text: string): number[] =>
  text.split(' ').flatMap((part) => {
    const [from = 0, to = from] = part.split('-').map(Number)
    return Array.from({ length: to - from + 1 }, (_, step) => from + step)
  })

const dayAfter = (day: string, days: number): string => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10)

/** Every kernel: the latest and the boot loaders first, then releases, the newest first. */
export const KERNELS: readonly Kernel[] = kernels()

const BY_ID: ReadonlyMap<string, Kernel> = new Map(KERNELS.map((kernel) => [kernel.id, kernel]))

/** The kernel of an id; null where there is none. */
export const findKernel = (id: string): Kernel | null => BY_ID.get(id) ?? null
