/** The client library of the hosting service's own web front end, unchanged except for the address. */
import * as library from '@linode/api-v4'
import { describe, expect, test } from 'vitest'
import { startForTest } from '../harness.ts'
import { directTo } from './direct-to.ts'

const {
  cloneDomain,
  createDomain,
  createDomainRecord,
  createPersonalAccessToken,
  createTag,
  deleteDomain,
  deleteDomainRecord,
  deletePersonalAccessToken,
  deleteTag,
  getDNSZoneFile,
  getDomain,
  getDomainRecord,
  getDomainRecords,
  getDomains,
  getMyGrants,
  getPersonalAccessToken,
  getPersonalAccessTokens,
  getProfile,
  getTags,
  updateDomain,
  updateDomainRecord,
  updatePersonalAccessToken,
  updateProfile,
  // biome-ignore lint/suspicious/noExplicitAny: the package's declarations name their files without extension, so that none is found
} = library as any

const { service } = await startForTest()
let token = service.token as string
directTo(service.baseUrl, () => token)

/** The errors of a request; null if it succeeds. */
const problemsOf = async (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => null,
    (error) => error.response?.data.errors ?? error,
  )

describe('@linode/api-v4', () => {
  test('creates, lists, filters, changes, clones and deletes domains', async () => {
    const domain = await createDomain({ domain: 'client.example', type: 'master', soa_email: 'hostmaster@example.com', tags: ['blue'] })
    expect(domain).toMatchObject({ domain: 'client.example', status: 'active', tags: ['blue'], ttl_sec: 0 })
    expect(await getDomain(domain.id)).toEqual(domain)
    const page = await getDomains(
      { page: 1, page_size: 25 },
      { domain: { '+contains': 'client' }, '+order_by': 'domain', '+order': 'desc' },
    )
    expect(page).toEqual({ data: [domain], page: 1, pages: 1, results: 1 })
    expect((await getDomains({}, { tags: 'red' })).data).toEqual([])
    const changed = await updateDomain(domain.id, { domain: 'client.example', ttl_sec: 3600, axfr_ips: ['192.0.2.53'], tags: ['red'] })
    expect(changed).toMatchObject({ ttl_sec: 3600, axfr_ips: ['192.0.2.53'], tags: ['red'] })
    const clone = await cloneDomain(domain.id, { domain: 'clone.example' })
    expect(clone).toMatchObject({ domain: 'clone.example', ttl_sec: 3600 })
    expect(await deleteDomain(clone.id)).toEqual({})
    expect(await problemsOf(getDomain(clone.id))).toMatchObject([{ reason: 'Not found' }])
    expect(await problemsOf(createDomain({ domain: 'client.example', type: 'master', soa_email: 'hostmaster@example.com' }))).toEqual([
      { field: 'domain', reason: 'DNS zone already exists.' },
    ])
    await deleteDomain(domain.id)
  })

  test('creates, lists, changes and deletes records of every type, and reads the zone file', async () => {
    const { id } = await createDomain({ domain: 'records.example', type: 'master', soa_email: 'hostmaster@example.com' })
    const records = [
      await createDomainRecord(id, { type: 'A', name: 'www', target: '192.0.2.1', ttl_sec: 300 }),
      await createDomainRecord(id, { type: 'AAAA', name: 'www', target: '2001:db8::1' }),
      await createDomainRecord(id, { type: 'MX', name: '', target: 'mail.example.net', priority: 10 }),
      await createDomainRecord(id, { type: 'CNAME', name: 'alias', target: 'www.records.example' }),
      await createDomainRecord(id, { type: 'TXT', name: '', target: 'v=spf1 -all' }),
      await createDomainRecord(id, { type: 'NS', name: 'sub', target: 'ns.example.net' }),
      await createDomainRecord(id, { type: 'CAA', name: '', tag: 'issue', target: 'ca.example.net' }),
      await createDomainRecord(id, {
        type: 'SRV',
        service: 'sip',
        protocol: 'tcp',
        target: 'sip.example.net',
        priority: 1,
        weight: 2,
        port: 5060,
      }),
    ]
    expect(records.at(-1)).toMatchObject({ name: '_sip._tcp', service: 'sip', protocol: 'tcp', port: 5060 })
    expect((await getDomainRecords(id)).data).toEqual(records)
    const [first] = records as [(typeof records)[number]]
    expect(await getDomainRecord(id, first.id)).toEqual(first)
    expect(await updateDomainRecord(id, first.id, { target: '192.0.2.2' })).toMatchObject({
      name: 'www',
      target: '192.0.2.2',
      ttl_sec: 300,
    })
    await service.flush()
    const { zone_file: lines } = await getDNSZoneFile(id)
    expect(lines[0]).toBe(`; records.example [${id}]`)
    expect((lines as string[]).some((line) => /^www\s+300\s+(IN\s+)?A\s+192\.0\.2\.2$/.test(line))).toBe(true)
    expect(await deleteDomainRecord(id, first.id)).toEqual({})
    expect((await getDomainRecords(id)).results).toBe(records.length - 1)
    await deleteDomain(id)
  })

  test('creates tags, lists and deletes them', async () => {
    const domain = await createDomain({ domain: 'tagged.example', type: 'master', soa_email: 'hostmaster@example.com' })
    expect(await createTag({ label: 'green', domains: [domain.id] })).toEqual({ label: 'green' })
    expect((await getDomain(domain.id)).tags).toEqual(['green'])
    expect((await getTags()).data).toEqual([{ label: 'green' }])
    expect(await deleteTag('green')).toEqual({})
    expect((await getDomain(domain.id)).tags).toEqual([])
    await deleteDomain(domain.id)
  })

  test('reads and changes the profile', async () => {
    const profile = await getProfile()
    expect(profile).toMatchObject({ username: 'admin', restricted: false })
    expect(await updateProfile({ email_notifications: !profile.email_notifications })).toEqual({
      ...profile,
      email_notifications: !profile.email_notifications,
    })
    // An unrestricted user has none: 204 without a body.
    expect(await getMyGrants()).toBeFalsy()
  })

  test('creates tokens, uses, renames and revokes them', async () => {
    const created = await createPersonalAccessToken({ label: 'reader', scopes: 'domains:read_only', expiry: '2999-12-12T05:00:00' })
    expect(created).toMatchObject({ label: 'reader', scopes: 'domains:read_only', token: expect.stringMatching(/^[0-9a-f]{64}$/) })
    const listed = (await getPersonalAccessTokens()).data.find(({ id }: { id: number }) => id === created.id)
    expect(listed?.token).toBe(created.token?.slice(0, 16))
    expect(await getPersonalAccessToken(created.id)).toEqual(listed)
    expect(await updatePersonalAccessToken(created.id, { label: 'renamed' })).toMatchObject({ label: 'renamed' })
    const administrator = token
    token = created.token as string
    expect((await getDomains()).results).toBe(0)
    expect(await problemsOf(createDomain({ domain: 'no.example', type: 'master', soa_email: 'hostmaster@example.com' }))).toMatchObject([
      { reason: 'Your OAuth token is not authorized to use this endpoint.' },
    ])
    token = administrator
    expect(await deletePersonalAccessToken(created.id)).toEqual({})
    token = created.token as string
    expect(await problemsOf(getDomains())).toMatchObject([{ reason: 'Invalid Token' }])
    token = administrator
  })
})
