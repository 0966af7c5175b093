/** What operators get besides the program: the alert rules and the systemd unit of `examples/service`. */
import { spawnSync } from 'node:child_process'
import { chownSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import { startProgram } from '../support/built-program.ts'
import { describeWithRight, describeWithTools } from '../support/skip.ts'
import { runTool } from '../support/tools.ts'
import { during, LOOPBACK, temporaryDirectory } from './harness.ts'

const example = (name: string): string => readFileSync(fileURLToPath(new URL(`../../examples/service/${name}`, import.meta.url)), 'utf8')

test('the alert rules name metrics that the service has, with their labels', async () => {
  const { groups } = load(example('zonewright.rules.yml')) as {
    groups: { rules: { alert: string; expr: string; annotations: object }[] }[]
  }
  const rules = groups.flatMap((group) => group.rules)
  expect(rules.length).toBeGreaterThan(4)
  await during({ dns: LOOPBACK, observability: LOOPBACK }, async (client, service) => {
    await client.ok('GET', '/domains')
    const page = await (await fetch(`${service.observabilityUrl}/metrics`)).text()
    for (const { alert, expr, annotations } of rules) {
      const names = (expr.match(/zonewright_\w+/g) ?? []).map((name) => [alert, name])
      for (const [, name] of names)
        expect([alert, name, page.includes(`\n${name}`) || page.includes(`# TYPE ${name} `)]).toEqual([alert, name, true])
      expect(names.length > 0 || expr.startsWith('up{')).toBe(true)
      expect(annotations).toHaveProperty('summary')
    }
    const state = async (path: string) => (await fetch(service.observabilityUrl + path)).status
    expect([await state('/healthz'), await state('/readyz')]).toEqual([200, 200])
  })
})

describeWithTools(['systemd-analyze'], 'the systemd unit', () => {
  const verify = (text: string) => {
    const file = join(temporaryDirectory(), 'zonewright.service')
    writeFileSync(file, text.replace('/usr/bin/zonewright', process.execPath))
    return runTool('systemd-analyze', ['verify', '--man=no', file])
  }

  test('is valid, and runs as an unprivileged user with one capability', async () => {
    const unit = example('zonewright.service')
    expect(await verify(unit)).toMatchObject({ status: 0, stderr: '' })
    for (const line of ['DynamicUser=yes', 'NoNewPrivileges=yes', 'CapabilityBoundingSet=CAP_NET_BIND_SERVICE'])
      expect(unit).toContain(`\n${line}\n`)
    expect((await verify(unit.replace('DynamicUser=yes', 'DynamicUsers=yes'))).stderr).toContain('DynamicUsers')
  })
})

const USER = 65_534
const CAP_NET_BIND_SERVICE = 10
const RIGHTS = ['--inh-caps=', '--ambient-caps=', '--bounding-set='].map((option) => `${option}-all,+net_bind_service`)
const AS_UNIT = ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', '--no-new-privs', ...RIGHTS]
/** Not in a container without these rights, nor in a checkout that others may not read. */
const canRun = spawnSync('setpriv', [...AS_UNIT.slice(1), 'test', '-r', import.meta.filename, '-a', '-x', process.execPath]).status === 0

describeWithRight(canRun, 'root, and a checkout that others may read', 'the service with the rights of the unit', () => {
  test('answers on a port below 1024, and has no other right', async () => {
    const data = temporaryDirectory()
    chownSync(data, USER, USER)
    const words = ['serve', '--data', data, '--listen', '127.0.0.1:0', '--dns', '127.0.0.53:953']
    const service = await startProgram(words, { cwd: data, before: AS_UNIT })
    await service.until('"listening"')
    const state = readFileSync(`/proc/${service.pid}/status`, 'utf8')
    expect(state).toContain(`\nUid:\t${[USER, USER, USER, USER].join('\t')}\n`)
    for (const set of ['CapEff', 'CapBnd'])
      expect(Number.parseInt(new RegExp(`^${set}:\\t(\\w+)$`, 'm').exec(state)?.[1] ?? '', 16)).toBe(2 ** CAP_NET_BIND_SERVICE)
    const { stdout } = await runTool('dig', ['@127.0.0.53', '-p', '953', '+time=2', 'example.com', 'SOA'])
    expect(stdout).toContain('status: REFUSED')
    service.kill('SIGTERM')
    expect(await service.ended).toMatchObject({ status: 0 })
  })
})
