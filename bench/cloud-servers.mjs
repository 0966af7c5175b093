/** The scripted Cloud DNS and Azure DNS of the tests, for Zonewright over HTTP and for octoDNS over HTTPS under the names of the services. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const TESTS = resolve(import.meta.dirname, '../test/scripted')
const PROJECT = 'test-project'
const SUBSCRIPTION = '11111111-1111-4111-8111-111111111111'
const TENANT = '22222222-2222-4222-8222-222222222222'
const CLIENT = '33333333-3333-4333-8333-333333333333'
const SECRET = 'secret-of-the-application'

/** Loads a module of the tests, which is TypeScript. */
async function load(file, folder) {
  const outfile = join(folder, `${file.replace(/\W/g, '-')}.mjs`)
  await build({ entryPoints: [join(TESTS, file)], outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' })
  return import(pathToFileURL(outfile).href)
}

/** A certificate for these names that signs itself. */
function certificate(folder, hosts) {
  const [key, cert] = [join(folder, 'tls.key'), join(folder, 'tls.pem')]
  const names = ['-subj', '/CN=bench', '-addext', `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(',')}`]
  const make = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2', ...names]
  execFileSync('openssl', make, { stdio: 'ignore' })
  return { file: cert, cert: readFileSync(cert), key: readFileSync(key) }
}

/** Starts a service on two sockets. `count` returns the requests so far. */
async function serve(service, folder, hosts) {
  let requests = 0
  const answer = async (incoming, outgoing) => {
    const chunks = []
    for await (const chunk of incoming) chunks.push(chunk)
    const url = new URL(incoming.url, 'http://scripted')
    const body = Buffer.concat(chunks).toString('utf8')
    requests += 1
    const {
      status,
      headers,
      body: text,
    } = service({ ...incoming, method: incoming.method, headers: incoming.headers, path: url.pathname, query: url.searchParams, body })
    outgoing.writeHead(status, headers).end(text)
  }
  const tls = certificate(folder, hosts)
  const [plain, secure] = [createServer(answer), createTlsServer(tls, answer)]
  for (const server of [plain, secure]) await new Promise((done) => server.listen(0, '127.0.0.1', done))
  // Python runs this file when it starts: the names of the service lead to the socket.
  const python = join(folder, 'python')
  mkdirSync(python)
  writeFileSync(join(python, 'sitecustomize.py'), 'import direct_to\n')
  return {
    origin: `http://127.0.0.1:${plain.address().port}`,
    count: () => requests,
    env: {
      SERVER: `https://127.0.0.1:${secure.address().port}`,
      HOSTS: hosts.join(','),
      REQUESTS_CA_BUNDLE: tls.file,
      PYTHONPATH: `${python}:${join(TESTS, 'clients')}`,
      BENCH_KEY: SECRET,
    },
    async stop() {
      for (const server of [plain, secure]) {
        server.closeAllConnections()
        await new Promise((done) => server.close(done))
      }
    },
  }
}

async function openGoogle(folder, zone) {
  const [{ createGoogle }, { createTestAccount }] = await Promise.all([
    load('google/service.ts', folder),
    load('google/account.ts', folder),
  ])
  const { account, keyFile } = createTestAccount()
  const key = join(folder, 'key.json')
  writeFileSync(key, keyFile)
  const { service } = createGoogle({
    project: PROJECT,
    token: 'none',
    account,
    zones: [{ id: '1', name: 'bench', dnsName: `${zone}.` }],
    pageSize: 1000,
  })
  const running = await serve(service, folder, [
    'oauth2.googleapis.com',
    'www.googleapis.com',
    'content.googleapis.com',
    'dns.googleapis.com',
  ])
  return {
    ...running,
    own: `{type: google, base_url: '${running.origin}', token_url: '${running.origin}/token', credentials: 'file:${key}'}`,
    octodns: `{class: octodns_googlecloud.GoogleCloudProvider, project: ${PROJECT}, credentials_file: '${key}'}`,
  }
}

async function openAzure(folder, zone) {
  const { createAzure } = await load('azure/service.ts', folder)
  const application = { tenant: TENANT, clientId: CLIENT, clientSecret: SECRET }
  const { service } = createAzure({
    subscription: SUBSCRIPTION,
    resourceGroup: 'dns',
    token: 'none',
    application,
    zones: [{ name: zone }],
    pageSize: 500,
  })
  const running = await serve(service, folder, ['login.microsoftonline.com', 'management.azure.com'])
  const names = `subscription: ${SUBSCRIPTION}, resource_group: dns, tenant: ${TENANT}, client_id: ${CLIENT}`
  const signIn = `${running.origin}/${TENANT}/oauth2/v2.0/token`
  return {
    ...running,
    own: `{type: azure, base_url: '${running.origin}', token_url: '${signIn}', ${names}, client_secret: 'env:BENCH_KEY'}`,
    octodns: `{class: octodns_azure.AzureProvider, client_id: ${CLIENT}, key: env/BENCH_KEY, directory_id: ${TENANT}, sub_id: ${SUBSCRIPTION}, resource_group: dns}`,
  }
}

export const CLOUDS = [
  { title: 'Google Cloud DNS, scripted', open: openGoogle },
  { title: 'Azure DNS, scripted', open: openAzure },
]
