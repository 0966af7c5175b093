/** The host of a bucket. */
import type { BucketConfig } from '../../../definition/config/config.ts'

type Environment = Readonly<Record<string, string | undefined>>

const REGION = 'us-east-1'

/** Where the requests for a bucket go. With its name in the path, one host serves all buckets of a region. */
export const endpointOfBucket = ({ endpoint, region }: Pick<BucketConfig, 'endpoint' | 'region'>, env: Environment): URL =>
  endpoint ?? new URL(`https://s3.${regionOf({ region }, env)}.amazonaws.com`)

/** The region of the config, or that of the environment. */
export const regionOf = ({ region }: Pick<BucketConfig, 'region'>, { AWS_REGION: own, AWS_DEFAULT_REGION: usual }: Environment): string =>
  region ?? (/^[a-z0-9-]+$/.exec(own || usual || '')?.[0] || REGION)
