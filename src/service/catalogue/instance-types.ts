/** The resources of an instance, in the form of the API. */
export interface InstanceType {
  readonly id: string
  readonly label: string
  /** `nanode`, `standard`, `highmem`, `dedicated` or `gpu`. */
  readonly class: string
  readonly vcpus: number
  /** MB. */
  readonly memory: number
  /** MB. */
  readonly disk: number
  /** GB per month. */
  readonly transfer: number
  readonly gpus: number
  /** Mbit/s. */
  readonly network_out: number
  readonly price: Price
  readonly addons: { readonly backups: { readonly price: Price } }
  readonly successor: null
}

/** US dollars, as in the price list of the hosting service of 2023. This service charges nothing. */
interface Price {
  readonly hourly: number
  readonly monthly: number
}

type Row = readonly [
  ...[id: string, label: string, vcpus: number, memory: number, disk: number, transfer: number],
  ...[network: number, price: number, backups: number, gpus?: number],
]

/** Memory, disk and transfer as in `InstanceType`; the price of a month, and that of its backups. */
const ROWS: readonly Row[] = [
  ['g6-nanode-1', 'Nanode 1GB', 1, 1024, 25_600, 1000, 1000, 5, 2],
  ['g6-standard-1', 'Linode 2GB', 1, 2048, 51_200, 2000, 2000, 12, 2.5],
  ['g6-standard-2', 'Linode 4GB', 2, 4096, 81_920, 4000, 4000, 24, 5],
  ['g6-standard-4', 'Linode 8GB', 4, 8192, 163_840, 5000, 5000, 48, 10],
  ['g6-standard-6', 'Linode 16GB', 6, 16_384, 327_680, 8000, 6000, 96, 20],
  ['g6-standard-8', 'Linode 32GB', 8, 32_768, 655_360, 16_000, 7000, 192, 40],
  ['g6-standard-16', 'Linode 64GB', 16, 65_536, 1_310_720, 20_000, 9000, 384, 80],
  ['g6-standard-20', 'Linode 96GB', 20, 98_304, 1_966_080, 20_000, 10_000, 576, 120],
  ['g6-standard-24', 'Linode 128GB', 24, 131_072, 2_621_440, 20_000, 11_000, 768, 160],
  ['g6-standard-32', 'Linode 192GB', 32, 196_608, 3_932_160, 20_000, 12_000, 1152, 240],
  ['g7-highmem-1', 'Linode 24GB', 2, 24_576, 20_480, 5000, 5000, 60, 5],
  ['g7-highmem-2', 'Linode 48GB', 2, 49_152, 40_960, 6000, 6000, 120, 10],
  ['g7-highmem-4', 'Linode 90GB', 4, 92_160, 92_160, 7000, 7000, 240, 20],
  ['g7-highmem-8', 'Linode 150GB', 8, 153_600, 204_800, 8000, 8000, 480, 40],
  ['g7-highmem-16', 'Linode 300GB', 16, 307_200, 348_160, 9000, 9000, 960, 80],
  ['g6-dedicated-2', 'Dedicated 4GB', 2, 4096, 81_920, 4000, 4000, 36, 5],
  ['g6-dedicated-4', 'Dedicated 8GB', 4, 8192, 163_840, 5000, 5000, 72, 10],
  ['g6-dedicated-8', 'Dedicated 16GB', 8, 16_384, 327_680, 6000, 6000, 144, 20],
  ['g6-dedicated-16', 'Dedicated 32GB', 16, 32_768, 655_360, 7000, 7000, 288, 40],
  ['g6-dedicated-32', 'Dedicated 64GB', 32, 65_536, 1_310_720, 8000, 8000, 576, 80],
  ['g6-dedicated-48', 'Dedicated 96GB', 48, 98_304, 1_966_080, 9000, 9000, 864, 120],
  ['g6-dedicated-50', 'Dedicated 128GB', 50, 131_072, 2_560_000, 10_000, 10_000, 1152, 160],
  ['g6-dedicated-56', 'Dedicated 256GB', 56, 262_144, 5_120_000, 11_000, 11_000, 2304, 200],
  ['g6-dedicated-64', 'Dedicated 512GB', 64, 524_288, 7_372_800, 12_000, 12_000, 4608, 240],
  ['g1-gpu-rtx6000-1', 'Dedicated 32GB + RTX6000 GPU x1', 8, 32_768, 655_360, 16_000, 10_000, 1000, 40, 1],
  ['g1-gpu-rtx6000-2', 'Dedicated 64GB + RTX6000 GPU x2', 16, 65_536, 1_310_720, 20_000, 10_000, 2000, 80, 2],
  ['g1-gpu-rtx6000-3', 'Dedicated 96GB + RTX6000 GPU x3', 20, 98_304, 1_966_080, 20_000, 10_000, 3000, 120, 3],
  ['g1-gpu-rtx6000-4', 'Dedicated 128GB + RTX6000 GPU x4', 24, 131_072, 2_621_440, 20_000, 10_000, 4000, 160, 4],
]

/** An hour costs 0.15 % of a month, rounded to the digits of the price list. */
const priceOf = (monthly: number, digits: number): Price => ({ hourly: Number((monthly * 0.0015 + 1e-9).toFixed(digits)), monthly })

/** All instance types. */
export const INSTANCE_TYPES: readonly InstanceType[] = ROWS.map(
  ([id, label, vcpus, memory, disk, transfer, network, price, backups, gpus = 0]) => ({
    ...{ id, label, class: id.split('-')[1] as string, vcpus, memory, disk, transfer, gpus, network_out: network },
    price: priceOf(price, 4),
    addons: { backups: { price: priceOf(backups, 3) } },
    successor: null,
  }),
)

const BY_ID: ReadonlyMap<string, InstanceType> = new Map(INSTANCE_TYPES.map((type) => [type.id, type]))

/** Returns the type with an id; null if there is none. */
export const findInstanceType = (id: string): InstanceType | null => BY_ID.get(id) ?? null
