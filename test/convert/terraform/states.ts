/** States of Terraform in the form of the schemas of its providers (docs/tasks/terraform.md). */

/** An address, the attributes that differ from the defaults of its type, and more of the resource. */
export type Resource = readonly [address: string, values: object, more?: object | undefined]

const DEFAULTS: Readonly<Record<string, object>> = {
  aws_route53_zone: { id: 'Z1', zone_id: 'Z1', name: 'example.com', vpc: [], comment: 'Managed by Terraform', force_destroy: false },
  aws_route53_record: {
    zone_id: 'Z1',
    type: 'A',
    ttl: null,
    records: null,
    alias: [],
    cidr_routing_policy: [],
    failover_routing_policy: [],
    geolocation_routing_policy: [],
    geoproximity_routing_policy: [],
    health_check_id: '',
    latency_routing_policy: [],
    multivalue_answer_routing_policy: null,
    set_identifier: '',
    weighted_routing_policy: [],
    timeouts: null,
  },
  cloudflare_zone: { id: 'zone1', name: 'example.com', account: { id: 'account1' }, paused: false },
  cloudflare_record: {
    id: 'r1',
    zone_id: 'zone1',
    comment: null,
    content: null,
    data: [],
    priority: null,
    proxied: false,
    tags: [],
    ttl: 1,
    value: null,
  },
  cloudflare_dns_record: {
    id: 'r1',
    zone_id: 'zone1',
    comment: null,
    content: null,
    data: null,
    meta: '{}',
    priority: null,
    proxied: false,
    settings: { flatten_cname: null, ipv4_only: null, ipv6_only: null },
    tags: [],
    ttl: 1,
  },
  google_dns_managed_zone: {
    id: 'projects/p/managedZones/main',
    name: 'main',
    project: 'p',
    dns_name: 'example.com.',
    visibility: 'public',
  },
  google_dns_record_set: { managed_zone: 'main', project: 'p', rrdatas: null, routing_policy: [], ttl: 300 },
  linode_domain: {
    id: '12',
    domain: 'example.com',
    type: 'master',
    soa_email: 'hostmaster@example.com',
    status: 'active',
    description: '',
    group: '',
    tags: [],
    axfr_ips: [],
    master_ips: [],
    ttl_sec: 0,
    retry_sec: 0,
    refresh_sec: 0,
    expire_sec: 0,
  },
  linode_domain_record: { id: 1, domain_id: 12, ttl_sec: 0, priority: 0, weight: 0, port: 0, protocol: null, service: null, tag: null },
}

/** What `show -json` prints of a state with these resources in the root module, and those of other modules below it. */
export function showJson(resources: readonly Resource[], program: 'terraform.io' | 'opentofu.org' = 'terraform.io'): string {
  const shown = resources.map(([address, values, more]) => {
    const isData = /(?:^|\.)data\./.test(address)
    const [, type = ''] = /([a-z0-9]+(?:_[a-z0-9]+)+)\.[\w-]+(?:\[.*\])?$/.exec(address) ?? []
    const provider = `registry.${program}/hashicorp/${type.slice(0, type.indexOf('_'))}`
    const common = { address, mode: isData ? 'data' : 'managed', type, provider_name: provider, schema_version: 0, sensitive_values: {} }
    return { ...common, values: { ...DEFAULTS[type], ...values }, ...more }
  })
  const isInModule = ({ address }: { readonly address: string }): boolean => address.startsWith('module.')
  const values = {
    root_module: {
      resources: shown.filter((one) => !isInModule(one)),
      child_modules: [{ address: 'module.m', child_modules: [{ address: 'module.m.module.n', resources: shown.filter(isInModule) }] }],
    },
  }
  return JSON.stringify({ format_version: '1.0', terraform_version: '1.11.4', values })
}
