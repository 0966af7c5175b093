/** `cutover` after a kill, beside another run, and with other options than the run before; with a clock that the test moves. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, expectEnd } from '../support/cli.ts'
import { TEST_KEY } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'
import { dig, nsupdate } from '../support/tools.ts'
import { apexNs, NEW, openMove, parentZone, stateFile, stateOf } from './cutover-scene.ts'

const firstState = (folder: string): string => {
  const path = join(folder, '.zonewright/cutovers')
  const name = existsSync(path) ? readdirSync(path).find((one) => /^[^.].*\.json$/.test(one)) : undefined
  return name === undefined ? '' : readFileSync(join(path, name), 'utf8')
}
describeWithTools(['named', 'dig', 'nsupdate'], 'cutover, resumed', () => {
  test('a run that was killed after it lowered the TTLs: the next one waits out the previous ones', async () => {
    const move = await openMove()
    // The first state on the disk, which is there while the TTLs are lowered.
    let during = ''
    const watching = setInterval(() => {
      during ||= firstState(move.folder)
    }, 1)
    expect((await move.cutover(0, ...NEW)).status).toBe(2)
    clearInterval(watching)
    expect(JSON.parse(during)).toMatchObject({ step: 'lower' })
    writeFileSync(stateFile(move), during)
    expectEnd(await move.cutover(10, ...NEW), 2, { err: 'Safe to go on after 2026-11-24 00:00:10Z' })
    expect(await apexNs(move.former)).toEqual([expect.stringMatching(/\s300\s/), expect.stringMatching(/\s300\s/)])
  })

  test('two runs at once: the second one goes on from the state that the first one leaves', async () => {
    const move = await openMove()
    const both = await Promise.all([move.cutover(0, ...NEW, '--wait', '20'), move.cutover(5, ...NEW, '--wait', '20')])
    expect(both.map(({ status }) => status)).toEqual([2, 2])
    expect(stateOf(move)).toMatchObject({ step: 'copy', formerTtl: 86_400 })
  })

  test('the names of the new servers need not be repeated', async () => {
    const move = await openMove()
    expect((await move.cutover(0, ...NEW)).status).toBe(2)
    expectEnd(await move.cutover(90_000), 2, { err: '+ ns7.example.net.\n  + ns8.example.net.' })
  })

  test('a new provider with the name servers of the previous one is refused: the parent would show no difference', async () => {
    const move = await openMove('files')
    expect((await move.cutover(0)).status).toBe(2)
    const copied = expectEnd(await move.cutover(90_000), 1, { err: 'name the servers of example.test. at files with --apex-ns' })
    expect(copied.stderr).not.toContain('delegates example.test. to files')
    expect(stateOf(move).step).toBe('copy')
  })

  test('a change at the previous provider after the copy is reported once the parent has changed', async () => {
    const move = await openMove()
    expect((await move.cutover(0, ...NEW)).status).toBe(2)
    expect((await move.cutover(90_000)).stderr).toContain('+ ns7.example.net.')
    move.parent.replaceZone('test', parentZone('ns7.example.net', 'ns8.example.net').replace('. 1 ', '. 2 '))
    const delegation = { port: move.parent.port, name: 'example.test', type: 'NS', options: ['+noall', '+authority'] }
    await expect.poll(async () => (await dig(delegation)).join()).toContain('ns7.example.net.')
    const late = 'zone example.test.\nupdate add late.example.test. 600 A 192.0.2.9\n'
    expect(await nsupdate(move.former.port, late, TEST_KEY)).toMatchObject({ status: 0 })
    const { stderr: seen } = await move.cutover(90_100)
    expect(seen).toContain('example.test. has changed at former since it was copied')
    expect(seen).toContain('late.example.test. A')
  })

  test('a state that cannot be read may be that of a move: the zone is not changed', async () => {
    const move = await openMove()
    expect((await move.cutover(0, ...NEW)).status).toBe(2)
    writeFileSync(stateFile(move), '{')
    expectEnd(
      await cli(['copy', 'example.test', '--from', 'former', '--to', 'own', '--yes', '--no-color'], {
        cwd: move.folder,
        env: { LAB_KEY: TEST_KEY.secret },
      }),
      1,
      { err: /journal-failed\] .*is not valid/, out: '' },
    )
  })

  test('--abort changes no TTL if the parent delegates the zone to the new provider already', async () => {
    const move = await openMove()
    expect((await move.cutover(0, ...NEW)).status).toBe(2)
    expect((await move.cutover(90_000)).stderr).toContain('+ ns7.example.net.')
    move.parent.replaceZone('test', parentZone('ns7.example.net', 'ns8.example.net').replace('. 1 ', '. 2 '))
    const delegation = { port: move.parent.port, name: 'example.test', type: 'NS', options: ['+noall', '+authority'] }
    await expect.poll(async () => (await dig(delegation)).join()).toContain('ns7.example.net.')
    expectEnd(await move.cutover(90_100, '--abort'), 0, { err: 'the parent delegates it to own' })
    expect(await apexNs(move.former)).toEqual([expect.stringMatching(/\s300\s/), expect.stringMatching(/\s300\s/)])
  })

  test('--format json prints one document, whatever a run does', async () => {
    const move = await openMove()
    for (const seconds of [0, 10, 90_000, 90_010]) {
      const { stdout } = await move.cutover(seconds, ...NEW, '--format', 'json')
      expect(JSON.parse(stdout)).toMatchObject({ format: 'zonewright-plan' })
    }
    const other = await openMove()
    writeFileSync(join(other.folder, 'zonewright.yaml'), 'providers: {}\n')
    const { stdout } = await other.cutover(0, '--format', 'json')
    const { zones, diagnostics } = JSON.parse(stdout)
    expect([zones, diagnostics.map(({ code }: { code: string }) => code)]).toEqual([[], ['provider-unknown', 'provider-unknown']])
  })
})
