/**
 * The hosted zones that alias records to AWS resources name (AWS General Reference, "Elastic Load Balancing endpoints" and "Amazon S3 endpoints"; Route 53 API
 * reference, `AliasTarget`). An alias to a name of its own hosted zone has the id of that zone.
 */
import { type DomainName, isAtOrBelow } from '../../dns/domain-name.ts'

/** Where an alias leads. */
export interface AliasZone {
  readonly hostedZoneId: string
  /** The record types of the aliases that make an ALIAS; null for those that the target has. */
  readonly types: readonly AddressType[] | null
}

export type AddressType = 'A' | 'AAAA'

export const BOTH_TYPES: readonly AddressType[] = ['A', 'AAAA']

/** By region: load balancers of the types application and classic, of the type network, and S3 websites. */
const REGIONS: Readonly<Record<string, readonly [application: string, network: string, website: string]>> = {
  'af-south-1': ['Z268VQBMOI5EKX', 'Z203XCE67M25HM', 'Z83WF9RJE8B12'],
  'ap-east-1': ['Z3DQVH9N71FHZ0', 'Z12Y7K3UBGUAD1', 'ZNB98KWMFR0R6'],
  'ap-northeast-1': ['Z14GRHDCWA56QT', 'Z31USIVHYNEOWT', 'Z2M4EHUR26P7ZW'],
  'ap-northeast-2': ['ZWKZPGTI48KDX', 'ZIBE1TIR4HY56', 'Z3W03O7B5YMIYP'],
  'ap-northeast-3': ['Z5LXEXXYW11ES', 'Z1GWIQ4HH19I5X', 'Z2YQB5RD63NC85'],
  'ap-south-1': ['ZP97RAFLXTNZK', 'ZVDDRBQ08TROA', 'Z11RGJOFQNVJUP'],
  'ap-south-2': ['Z0173938T07WNTVAEPZN', 'Z0711778386UTO08407HT', 'Z02976202B4EZMXIPMXF7'],
  'ap-southeast-1': ['Z1LMS91P8CMLE5', 'ZKVM4W9LS7TM', 'Z3O0J2DXBE1FTB'],
  'ap-southeast-2': ['Z1GM3OXH4ZPM65', 'ZCT6FZBF4DROD', 'Z1WCIGYICN2BYD'],
  'ap-southeast-3': ['Z08888821HLRG5A9ZRTER', 'Z01971771FYVNCOVWJU1G', 'Z01846753K324LI26A3VV'],
  'ca-central-1': ['ZQSVJUPU6J1EY', 'Z2EPGBW3API2WT', 'Z1QDHH18159H29'],
  'cn-north-1': ['Z1GDH35T77C1KE', 'Z3QFB96KMJ7ED6', 'Z5CN8UMXT92WN'],
  'cn-northwest-1': ['ZM7IZAIOVVDZF', 'ZQEIKTCZ8352D', 'Z282HJ1KT0DH03'],
  'eu-central-1': ['Z215JYRZR1TBD5', 'Z3F0SRJ5LGBH90', 'Z21DNDUVLTQW6Q'],
  'eu-central-2': ['Z06391101F2ZOEP8P5EB3', 'Z02239872DOALSIDCX66S', 'Z030506016YDQGETNASS'],
  'eu-north-1': ['Z23TAZ6LKFMNIO', 'Z1UDT6IFJ4EJM', 'Z3BAZG2TWCNX0D'],
  'eu-south-1': ['Z3ULH7SSC9OV64', 'Z23146JA1KNAFP', 'Z30OZKI7KPW7MI'],
  'eu-south-2': ['Z0956581394HF5D5LXGAP', 'Z1011216NVTVYADP1SSV', 'Z0081959F7139GRJC19J'],
  'eu-west-1': ['Z32O12XQLNTSW2', 'Z2IFOLAFXWLO4F', 'Z1BKCTXD74EZPE'],
  'eu-west-2': ['ZHURV8PSTC4K8', 'ZD4D7Y8KGAS4G', 'Z3GKZC51ZF0DB4'],
  'eu-west-3': ['Z3Q77PNBQS71R4', 'Z1CMS0P5QUZ6D5', 'Z3R1K369G5AVDG'],
  'me-central-1': ['Z08230872XQRWHG2XF6I', 'Z00282643NTTLPANJJG2P', 'Z06143092I8HRXZRUZROF'],
  'me-south-1': ['ZS929ML54UICD', 'Z3QSRYVP46NYYV', 'Z1MPMWCPA7YB62'],
  'sa-east-1': ['Z2P70J7HTTTPLU', 'ZTK26PT1VY4CU', 'Z7KQH4QJS55SO'],
  'us-east-1': ['Z35SXDOTRQ7X7K', 'Z26RNL4JYFTOTI', 'Z3AQBSTGFYJSTF'],
  'us-east-2': ['Z3AADJGX6KTTL2', 'ZLMOA37VPKANP', 'Z2O1EMRO9K5GLX'],
  'us-gov-east-1': ['Z166TLBEWOO7G0', 'Z1ZSMQQ6Q24QQ8', 'Z2NIFVYYW2VKV1'],
  'us-gov-west-1': ['Z33AYJ8TM3BH4J', 'ZMG1MZ2THAWF1', 'Z31GFT0UA1I2HV'],
  'us-west-1': ['Z368ELLRRE2KJ0', 'Z24FKFUX50B4VW', 'Z2F56UZL2M1ACD'],
  'us-west-2': ['Z1H1FL5HABSF5', 'Z18D5FSROUN65G', 'Z3BJ6K6RIION7M'],
}

const CLOUDFRONT: AliasZone = { hostedZoneId: 'Z2FDTNDATAQYW2', types: BOTH_TYPES }
const GLOBAL_ACCELERATOR: AliasZone = { hostedZoneId: 'Z2BJ6XQ5FK7U4H', types: BOTH_TYPES }

/** More suffixes with the id of their hosted zone, from the settings: `elasticbeanstalk.com.`. */
export type AliasZones = ReadonlyMap<DomainName, string>

/** The hosted zone of an alias target; null if it is not known. `zoneId`: the id of the zone itself, or '' if that does not matter. */
export function aliasZoneOf(target: DomainName, zone: DomainName, zoneId: string, more: AliasZones): AliasZone | null {
  if (isAtOrBelow(target, zone)) return { hostedZoneId: zoneId, types: null }
  for (const [suffix, hostedZoneId] of more) if (isAtOrBelow(target, suffix)) return { hostedZoneId, types: BOTH_TYPES }
  if (/\.cloudfront\.net\.$/.test(target)) return CLOUDFRONT
  if (/\.awsglobalaccelerator\.com\.$/.test(target)) return GLOBAL_ACCELERATOR
  const [, application, network, website] =
    /^(?:.+\.([a-z0-9-]+)\.elb|.+\.elb\.([a-z0-9-]+)|s3-website[.-]([a-z0-9-]+))\.amazonaws\.com(?:\.cn)?\.$/.exec(target) ?? []
  const region = application ?? network ?? website
  const ids = region === undefined || !Object.hasOwn(REGIONS, region) ? undefined : REGIONS[region]
  if (ids === undefined) return null
  if (application !== undefined) return { hostedZoneId: ids[0], types: BOTH_TYPES }
  // Websites of S3 have IPv4 addresses only.
  return network !== undefined ? { hostedZoneId: ids[1], types: BOTH_TYPES } : { hostedZoneId: ids[2], types: ['A'] }
}
