/** Where credentials come from, what doctor finds, and that secrets and responses of strangers do no harm. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startScriptedServer } from '../../scripted/scripted-server.ts'
import { startProgram } from '../../support/built-program.ts'
import { expectEnd } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { APPLY, PLAN } from '../scripted-scene.ts'
import { changesIn, KEY, type Route53Scene, startRoute53Scene } from './scene.ts'

const WWW = '  www: {type: A, value: 192.0.2.1}\n'
const NONE = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }

/** Runs the program itself, whose environment the SDK reads. */
async function runProgram({ folder }: Route53Scene, args: readonly string[], env: Readonly<Record<string, string>>) {
  const program = await startProgram(args, { cwd: folder, env: { AWS_EC2_METADATA_DISABLED: 'true', ...env } })
  const { status } = await program.ended
  return { status, output: program.stdout() + program.stderr() }
}

describe('credentials', () => {
  test('of the settings', async () => {
    const settings = ', access_key_id: env:KEY_ID, secret_access_key: env:KEY_SECRET'
    const scene = await startRoute53Scene({ settings, definition: WWW })
    expect(await scene.run(APPLY, { ...NONE, KEY_ID: KEY.id, KEY_SECRET: KEY.secret })).toMatchObject({ status: 0 })
    expect(scene.held()).toHaveLength(1)
  })

  test.each(['AWS_ACCESS_KEY_ID', 'AWS_SESSION_TOKEN'])('with a line break in %s are an error', async (variable) => {
    const scene = await startRoute53Scene({ definition: WWW })
    const { status, stderr } = await scene.run(PLAN, { [variable]: 'secret\nsession' })
    expect([status, stderr]).toEqual([1, expect.stringContaining('no AWS credentials: a key or the session token has a line break')])
    expect(stderr).not.toContain('session\n')
  })

  test('of a profile, which takes precedence over the keys of the environment', async () => {
    const scene = await startRoute53Scene({ definition: WWW, settings: ', profile: dns' })
    const file = join(temporaryDirectory(), 'credentials')
    writeFileSync(file, `[dns]\naws_access_key_id = ${KEY.id}\naws_secret_access_key = ${KEY.secret}\n`)
    const env = { AWS_SHARED_CREDENTIALS_FILE: file, AWS_CONFIG_FILE: file, AWS_ACCESS_KEY_ID: 'AKIAW', AWS_SECRET_ACCESS_KEY: 'wrong' }
    expect(await runProgram(scene, APPLY, env)).toMatchObject({ status: 0 })
    expect(scene.held()).toHaveLength(1)
  })

  test('of a container, with a session token that never appears', { tags: ['long'] }, async () => {
    const token = 'session-token-of-the-container-0123456789'
    const expires = new Date(Date.now() + 3_600_000).toISOString()
    const metadata = await startScriptedServer(() => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ AccessKeyId: KEY.id, SecretAccessKey: KEY.secret, Token: token, Expiration: expires }),
    }))
    const refuse = ({ headers }: { headers: Readonly<Record<string, string | undefined>> }) => ({
      status: 403,
      headers: { 'content-type': 'text/xml' },
      body: `<ErrorResponse><Error><Code>AccessDenied</Code><Message>token ${headers['x-amz-security-token']}</Message></Error></ErrorResponse>`,
    })
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${metadata.origin}/role` }
    const scene = await startRoute53Scene({ definition: WWW })
    expect(await runProgram(scene, APPLY, env)).toMatchObject({ status: 0 })
    const echo = await startRoute53Scene({ definition: WWW, respond: refuse })
    const { status, output } = await runProgram(echo, PLAN, env)
    expect([status, output]).toEqual([1, expect.stringContaining('AccessDenied')])
    expect(output).not.toContain(token)
  })

  test('of a web identity: the token service must be an allowed host', { tags: ['long'] }, async () => {
    const sts = await startScriptedServer(() => ({
      status: 200,
      headers: { 'content-type': 'text/xml' },
      body:
        '<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>' +
        `<AccessKeyId>${KEY.id}</AccessKeyId><SecretAccessKey>${KEY.secret}</SecretAccessKey><SessionToken>abcdefghij</SessionToken>` +
        '<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>',
    }))
    const scene = await startRoute53Scene({ definition: WWW })
    const file = join(scene.folder, 'web-identity')
    writeFileSync(file, 'an.oidc.token')
    const role = { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/dns' }
    const env = { ...role, AWS_ENDPOINT_URL_STS: sts.origin, AWS_REGION: 'us-east-1' }
    expect(await runProgram(scene, APPLY, env)).toMatchObject({ status: 0 })
    expect(sts.requests).toHaveLength(1)
    const hosts = new URL(scene.server.origin).host
    const refused = await runProgram(scene, PLAN, { ...env, ZONEWRIGHT_ALLOWED_HOSTS: hosts })
    expect([refused.status, refused.output]).toEqual([1, expect.stringContaining(`${new URL(sts.origin).host} is not among the hosts`)])
    expect(sts.requests).toHaveLength(1)
  })

  test('that are missing', async () => {
    const scene = await startRoute53Scene({ definition: WWW })
    const file = join(scene.folder, 'none')
    const { status, output } = await runProgram(scene, PLAN, { AWS_SHARED_CREDENTIALS_FILE: file, AWS_CONFIG_FILE: file })
    expect([status, output]).toEqual([1, expect.stringContaining('no AWS credentials')])
    expect(output).toContain('set AWS_ACCESS_KEY_ID')
    expect(scene.server.requests).toEqual([])
  })
})

describe('doctor', () => {
  test('tries a change that changes nothing', async () => {
    const scene = await startRoute53Scene({ definition: WWW })
    expectEnd(await scene.run(['doctor']), 0, { out: 'example.com.: the credentials may read and change it' })
    expect(scene.held()).toEqual([])
  })

  test('finds a missing permission and a missing zone', async () => {
    const scene = await startRoute53Scene({ definition: WWW, denied: ['ChangeResourceRecordSets'] })
    expectEnd(await scene.run(['doctor']), 1, { out: 'not authorized to perform: route53:ChangeResourceRecordSets' })
    const without = await startRoute53Scene({ definition: WWW, zones: [] })
    expect((await without.run(['doctor'])).stdout).toContain('an apply would create example.com.')
  })

  test.each([
    ['an unknown key', { AWS_ACCESS_KEY_ID: 'AKIAUNKNOWN' }, 'InvalidClientTokenId'],
    ['a wrong secret', { AWS_SECRET_ACCESS_KEY: 'a-wrong-secret-access-key' }, 'SignatureDoesNotMatch'],
  ])('finds %s', async (_, env, message) => {
    const scene = await startRoute53Scene({ definition: WWW })
    const doctor = expectEnd(await scene.run(['doctor'], env), 1, { out: message })
    expect(doctor.stdout + doctor.stderr).not.toContain('a-wrong-secret')
    const plan = expectEnd(await scene.run(PLAN, env), 1, { err: message })
    expect(plan.stdout + plan.stderr).not.toContain('a-wrong-secret')
  })
})

describe('responses that are not of the API', () => {
  const page = (set: string, more = ''): string =>
    `<ListResourceRecordSetsResponse><ResourceRecordSets>${set}</ResourceRecordSets>${more}</ListResourceRecordSetsResponse>`
  const SET =
    '<ResourceRecordSet><Name>a.example.com.</Name><Type>A</Type><TTL>1</TTL><ResourceRecords><ResourceRecord><Value>192.0.2.1</Value></ResourceRecord></ResourceRecords></ResourceRecordSet>'

  test.each<readonly [string, string, RegExp]>([
    ['HTML', '<html><body>sign in<br></body></html>', /response/],
    ['no list', '<ListResourceRecordSetsResponse></ListResourceRecordSetsResponse>', /ResourceRecordSets is not a list/],
    ['a name that is none', page(SET.replace('a.example', 'a..example')), /a record set is named/],
    ['a set twice', page(SET + SET), /a\.example\.com\. A is listed twice/],
    [
      'a page without end',
      page(SET, '<IsTruncated>true</IsTruncated><NextRecordName>a.example.com.</NextRecordName><NextRecordType>A</NextRecordType>'),
      /the list has no end/,
    ],
    ['entities', `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]>${page(SET.replace('192.0.2.1', '&a;'))}`, /./],
  ])('%s', async (_, body, message) => {
    const respond = ({ path }: { path: string }) =>
      path.endsWith('/rrset') ? { status: 200, headers: { 'content-type': 'text/xml' }, body } : undefined
    const scene = await startRoute53Scene({ definition: WWW, respond })
    const plan = await scene.run(PLAN)
    expect(plan.status).not.toBe(0)
    expect(plan.stderr + plan.stdout).toMatch(message)
    expect(changesIn(scene.server)).toBe(0)
  })
})

test('the settings are checked without the SDK', async () => {
  const scene = await startRoute53Scene({ definition: WWW, settings: ', zone_ids: {"a..b": Z1}, vpc: {id: vpc-0, region: eu-west-1}' })
  mkdirSync(join(scene.folder, 'empty'))
  const { status, stdout, stderr } = await scene.run(['validate'])
  expect([status, stdout + stderr]).toEqual([1, expect.stringContaining('set zone_type: private')])
  expect(stdout + stderr).toContain(`providers.aws.zone_ids: "a..b." has two dots in a row`)
})
