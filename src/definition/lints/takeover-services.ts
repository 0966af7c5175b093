/**
 * Services that give names under a common suffix to anyone, again after their owner has released them, and that do not ask for a proof of ownership of the
 * domains that point there. The list is short: names whose owner is checked, or that are random or the same for all customers, are left out.
 */

export interface TakeoverService {
  /** Names below these are given to customers. */
  readonly suffixes: readonly string[]
  readonly service: string
  /** The label before the name of a record where a TXT record proves to the service who owns the name. */
  readonly proof?: string
  readonly source: string
}

const AZURE = 'https://learn.microsoft.com/azure/security/fundamentals/subdomain-takeover'
const COMMUNITY = 'https://github.com/EdOverflow/can-i-take-over-xyz'

export const TAKEOVER_SERVICES: readonly TakeoverService[] = [
  { service: 'Azure App Service', suffixes: ['azurewebsites.net'], proof: 'asuid', source: AZURE },
  { service: 'Azure Cloud Services', suffixes: ['cloudapp.net', 'cloudapp.azure.com'], source: AZURE },
  { service: 'Azure Traffic Manager', suffixes: ['trafficmanager.net'], source: AZURE },
  { service: 'Azure CDN', suffixes: ['azureedge.net'], source: AZURE },
  { service: 'Azure API Management', suffixes: ['azure-api.net'], source: AZURE },
  { service: 'Azure Container Instances', suffixes: ['azurecontainer.io'], source: AZURE },
  { service: 'Azure Blob Storage', suffixes: ['blob.core.windows.net', 'web.core.windows.net'], source: AZURE },
  { service: 'AWS Elastic Beanstalk', suffixes: ['elasticbeanstalk.com'], source: `${COMMUNITY}/issues/194` },
  { service: 'Bitbucket Cloud', suffixes: ['bitbucket.io'], source: COMMUNITY },
  { service: 'Ghost', suffixes: ['ghost.io'], source: `${COMMUNITY}/issues/89` },
  { service: 'Help Scout', suffixes: ['helpscoutdocs.com'], source: COMMUNITY },
  { service: 'Helpjuice', suffixes: ['helpjuice.com'], source: COMMUNITY },
  { service: 'ngrok', suffixes: ['ngrok.io'], source: `${COMMUNITY}/issues/92` },
  { service: 'Pantheon', suffixes: ['pantheonsite.io'], source: `${COMMUNITY}/issues/24` },
  { service: 'ReadMe', suffixes: ['readme.io'], source: `${COMMUNITY}/issues/41` },
  { service: 'Surge', suffixes: ['surge.sh'], source: COMMUNITY },
  { service: 'UptimeRobot', suffixes: ['stats.uptimerobot.com'], source: `${COMMUNITY}/issues/45` },
  { service: 'WordPress.com', suffixes: ['wordpress.com'], source: `${COMMUNITY}/pull/176` },
  { service: 'YouTrack Cloud', suffixes: ['youtrack.cloud'], source: COMMUNITY },
]

/** Buckets are found by the name that a client asks for, so the bucket has the name of the record. */
const S3: TakeoverService = { service: 'Amazon S3', suffixes: [], source: `${COMMUNITY}/issues/36` }

const BUCKET = /(?:^|\.)s3(?:-website|\.dualstack)?(?:[.-][a-z0-9-]{2,30})?\.amazonaws\.com\.$/

const BY_SUFFIX: ReadonlyMap<string, TakeoverService> = new Map(
  TAKEOVER_SERVICES.flatMap((one) => one.suffixes.map((suffix) => [`${suffix}.`, one] as const)),
)

/** Default names of Azure App Service with a hash of the owner, which nobody else can get (same page of Microsoft, "unique default hostname"). */
const UNIQUE_NAME = /-[a-z0-9]{16}\.[a-z0-9]+-[0-9]{2}\.azurewebsites\.net\.$/

/** The service that gives out a name; null if none of the list does. */
export function takeoverService(name: string): TakeoverService | null {
  for (let dot = name.indexOf('.'); dot !== -1 && dot < name.length - 1; dot = name.indexOf('.', dot + 1)) {
    const service = BY_SUFFIX.get(name.slice(dot + 1))
    if (service !== undefined) return UNIQUE_NAME.test(name) ? null : service
  }
  return BUCKET.test(name) ? S3 : null
}
