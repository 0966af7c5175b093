/**
 * The whole path of a change: pull request, comment, merge, applied plan, a merge whose zone has moved, drift, issue. Told once by our interpreter of workflows,
 * and once by act.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { answer } from '../scripted/code-sites/code-site.ts'
import { describeWithTools, LONG_SERVERS } from '../support/skip.ts'
import { git } from '../support/workflow-runner.ts'
import { ACT_TOOLS, openActRepository } from './act-repository.ts'
import { commentsOn, openRepository, READ, type Repository, WRITE, zone } from './repository.ts'

const story = (open: () => Promise<Repository>) => (): void => {
  let repository: Repository
  let first: number
  const elsewhere = (text: string) => repository.scene.runWith({ ZONEWRIGHT_TOKEN: WRITE }, ...text.split(' '))
  const pushOf = (before: string, sha: string) => ({ name: 'push', payload: { before, after: sha }, sha, headSha: sha, refName: 'main' })

  beforeAll(async () => {
    repository = await open()
    await repository.applyMain()
  })

  test('a pull request gets a comment with its plan, and an artifact', async () => {
    repository.commit('one', { 'zones/example.com.yaml': zone('example.com', '192.0.2.71') })
    first = repository.open('one')
    expect(await repository.plan(first)).toMatchObject({ status: 0, summary: expect.stringContaining('192.0.2.71') })
    const byHand = 'actions/workflows/dns\\.yml">A run by hand</a>'
    const shown = new RegExp(`^<!-- zonewright:plan -->\n## DNS plan\n.*192\\.0\\.2\\.71.*${byHand}`, 's')
    expect(commentsOn(repository, first)).toEqual([expect.stringMatching(shown)])
    expect(repository.github.artifacts.map(({ name }) => name)).toEqual([`zonewright-plan-${git(repository.clone, 'rev-parse', 'one')}`])
    expect(repository.scene.proxy.requests.filter(({ headers }) => headers.authorization === `Bearer ${READ}`).length).toBeGreaterThan(0)
  })

  test('a second push updates the comment', async () => {
    repository.commit('one', { 'zones/example.com.yaml': zone('example.com', '192.0.2.72') })
    expect((await repository.plan(first)).status).toBe(0)
    const comments = commentsOn(repository, first)
    expect(comments).toEqual([expect.stringContaining('192.0.2.72')])
    expect(comments[0]).not.toContain('192.0.2.71')
  })

  test('a file in another layout and a definition with an error fail the job; the comment and annotations say so', async () => {
    repository.commit('bad', {
      'zones/example.org.yaml': zone('example.org', '192.0.2.999'),
      'zones/example.net.yaml': zone('example.net', '  192.0.2.2'),
      'zones/example.com.yaml': zone('example.com', '  192.0.2.3'),
    })
    const number = repository.open('bad')
    const planned = await repository.plan(number)
    expect(planned.status).toBe(1)
    expect(planned.output.match(/^::error file=zones\/example\.org\.yaml,line=4.*192\.0\.2\.999/gm)).toHaveLength(1)
    expect(planned.output).toMatch(/^::error file=zones\/example\.net\.yaml,line=1,title=fmt::/m)
    expect(commentsOn(repository, number)).toEqual([
      expect.stringMatching(
        /not valid.*layout:\*\* <code>zones\/example\.com\.yaml<\/code> and <code>zones\/example\.net\.yaml<\/code>\..*2\.999/s,
      ),
    ])
  })

  test('a plan that is longer than a comment may be is cut between zones; the summary has all of it', async () => {
    const records = Array.from({ length: 1000 }, (_, index) => `  x${1000 + index}: {type: TXT, value: ${'x'.repeat(80)}}\n`).join('')
    repository.commit('long', {
      'zones/example.net.yaml': zone('example.net', '192.0.2.2', records),
      'zones/example.org.yaml': zone('example.org', '192.0.2.33'),
    })
    const number = repository.open('long')
    const planned = await repository.plan(number)
    expect(planned.status).toBe(0)
    const [comment = '', ...more] = commentsOn(repository, number)
    expect(more).toEqual([])
    expect(comment.length).toBeLessThanOrEqual(65_536)
    expect(comment).toContain('192.0.2.33')
    expect(comment).toMatch(/1,000 more changes in 1 zone not shown here/)
    expect(comment).not.toContain('x1999')
    expect(comment.match(/<details>/g)).toHaveLength(comment.match(/<\/details>/g)?.length ?? 0)
    expect(planned.summary).toContain('x1999')
  })

  test('the squash merge applies exactly the reviewed plan, also if GitHub shows its run for the commit of the pull request', async () => {
    const headSha = git(repository.clone, 'rev-parse', 'one')
    for (const run of repository.github.runs) Object.assign(run, { headSha })
    const before = repository.scene.proxy.mutations().length
    expect(await repository.merge(first)).toMatchObject({ status: 0, summary: expect.stringContaining('Applied the reviewed plan') })
    const mutations = repository.scene.proxy.mutations().slice(before)
    expect(mutations).toHaveLength(1)
    expect(new Set(mutations.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${WRITE}`]))
    expect((await repository.drift()).status).toBe(0)
    expect(repository.github.issues).toEqual([])
    const [parent, head] = ['main^', 'main'].map((name) => git(repository.clone, 'rev-parse', name)) as [string, string]
    const again = await repository.job('dns.yml', 'apply', pushOf(parent, head))
    expect(again).toMatchObject({ status: 0, summary: expect.stringMatching(/nothing.*an earlier run has applied.*No changes/s) })
  })

  test('after a merge of two zones of which one has moved, the other is applied, and a new plan is shown', async () => {
    repository.commit('two', {
      'zones/example.net.yaml': zone('example.net', '192.0.2.82'),
      'zones/example.org.yaml': zone('example.org', '192.0.2.83'),
    })
    const number = repository.open('two')
    expect((await repository.plan(number)).status).toBe(0)
    repository.scene.write({
      'zones/example.com.yaml': zone('example.com', '192.0.2.72'),
      'zones/example.net.yaml': zone('example.net', '192.0.2.66'),
    })
    expect((await elsewhere('apply example.net --yes')).status).toBe(0)
    const before = repository.scene.proxy.mutations().length
    const merged = await repository.merge(number)
    expect(merged.status).toBe(3)
    expect(repository.scene.proxy.mutations().slice(before)).toHaveLength(1)
    expect(merged.summary).toMatch(/Applied the reviewed plan.*example\.net.*Planned again.*2\.66.*2\.82/s)
    expect(merged.output).toContain('nobody has reviewed')
  })

  test('the job of a merge that was reverted meanwhile does not apply its plan again', async () => {
    repository.commit('again', { 'zones/example.org.yaml': zone('example.org', '192.0.2.91') })
    const number = repository.open('again')
    expect((await repository.plan(number)).status).toBe(0)
    const before = git(repository.clone, 'rev-parse', 'main')
    expect((await repository.merge(number)).status).toBe(0)
    const after = git(repository.clone, 'rev-parse', 'main')
    await repository.push({ 'zones/example.org.yaml': zone('example.org', '192.0.2.83') })
    repository.scene.write({ 'zones/example.org.yaml': zone('example.org', '192.0.2.83') })
    expect((await elsewhere('apply example.org --yes')).status).toBe(0)
    const mutations = repository.scene.proxy.mutations().length
    const again = await repository.job('dns.yml', 'apply', pushOf(before, after))
    expect(again).toMatchObject({
      status: 3,
      output: expect.stringMatching(/definition of example\.org\. has changed.*later commits on main describe example\.org\./s),
      summary: expect.stringMatching(/^## Applied nothing of the reviewed plan/),
    })
    // A plan of the last commit, which does not undo the revert.
    expect(again.summary.replace(/.*## Planned again/s, '')).toMatch(/^(?!.*192\.0\.2\.91).*192\.0\.2\.82/s)
    expect(repository.scene.proxy.mutations()).toHaveLength(mutations)
  })

  test('a forced push that removes the commit before it is planned as a whole', async () => {
    const head = git(repository.clone, 'rev-parse', 'main')
    const pushed = await repository.job('dns.yml', 'apply', pushOf('d'.repeat(40), head))
    expect(pushed).toMatchObject({ status: 3, summary: expect.stringMatching(/Planned again[\s\S]*192\.0\.2\.82/) })
  })

  test('drift opens one issue, updates it, and closes it when the zones are as defined', async () => {
    for (let day = 0; day < 3; day += 1) expect((await repository.drift()).status).toBe(2)
    expect(repository.github.issues.map(({ state }) => state)).toEqual(['open'])
    expect(repository.github.issues[0]?.body).toMatch(/^<!-- zonewright:drift -->[\s\S]*1 zone of 3 differs[\s\S]*192\.0\.2\.66/)
    repository.scene.write({ 'zones/example.net.yaml': zone('example.net', '192.0.2.82') })
    expect((await elsewhere('apply example.net --yes')).status).toBe(0)
    expect((await repository.drift()).status).toBe(0)
    expect(repository.github.issues.map(({ state }) => state)).toEqual(['closed'])
    expect(repository.github.issues[0]?.body).toMatch(
      /All zones are as defined.*Repaired since the last run: <code>example\.net\. at cloud.*What differed before.*2\.66/s,
    )
    expect((await repository.drift()).status).toBe(0)
    expect(repository.github.issues).toHaveLength(1)
  })

  test('what the job of a push has left is planned and applied by a run that somebody starts', async () => {
    const page = 'https://github.example/team/dns/actions/workflows/dns.yml'
    // In another layout: that of files which a pull request leaves alone does not matter here, nor in the checks below.
    expect(await repository.push({ 'zones/example.org.yaml': zone('example.org', '  192.0.2.84') })).toMatchObject({
      status: 3,
      output: expect.stringMatching(new RegExp(`no single pull request put.*start a run by hand for main: ${page}\n`, 's')),
      summary: expect.stringContaining(`<a href="${page}">`),
    })
    const before = repository.scene.proxy.mutations().length
    // Only a fork cannot keep a large plan.
    repository.github.fault = () => {
      for (const one of repository.github.artifacts) Object.assign(one, { size: 2 ** 26 })
      return null
    }
    expect(await repository.byHand()).toMatchObject({ status: 0, summary: expect.stringMatching(/^## Applied the reviewed plan.*2\.84/s) })
    expect(repository.scene.proxy.mutations()).toHaveLength(before + 1)
    repository.github.fault = () => null
    expect((await repository.byHand()).status).toBe(0)
    // The first job plans only main.
    expect((await repository.byHand('one')).status).toBeNull()
    expect(repository.scene.proxy.mutations()).toHaveLength(before + 1)
  })

  describe('a merge queue', () => {
    let numbers: number[]
    const mutations = (): number => repository.scene.proxy.mutations().length

    beforeAll(async () => {
      numbers = ['com', 'net'].map((name) => {
        repository.commit(`queued-${name}`, { [`zones/example.${name}.yaml`]: zone(`example.${name}`, '192.0.2.101') })
        return repository.open(`queued-${name}`)
      })
      for (const number of numbers) expect((await repository.plan(number)).status).toBe(0)
    })

    test('gets the check "plan" for a group, without a secret and a comment', async () => {
      const before = [repository.scene.proxy.requests.length, repository.github.comments.length]
      expect((await repository.group('queued-com', 'check')).status).toBe(0)
      expect(await repository.group('queued-com', 'offline-plan')).toMatchObject({ status: 0, summary: expect.stringContaining('2.101') })
      expect([repository.scene.proxy.requests.length, repository.github.comments.length]).toEqual(before)
    })

    test('pushes several pull requests at once: the plan of each is applied, even if GitHub does not know them at first', async () => {
      const before = mutations()
      let asked = 0
      repository.github.fault = ({ path }) => {
        if (!path.endsWith('/pulls')) return null
        asked += 1
        return asked === 1 ? answer(200, []) : null
      }
      expect(await repository.merge(...numbers)).toMatchObject({ status: 0, output: expect.not.stringContaining('Found no') })
      repository.github.fault = () => null
      expect(mutations()).toBe(before + 2)
      expect((await repository.drift()).status).toBe(0)
    })

    test('pushes one without a plan: the other is applied, and a plan of the rest is shown', async () => {
      const before = mutations()
      const more = ['com', 'net'].map((name) => {
        repository.commit(`next-${name}`, { [`zones/example.${name}.yaml`]: zone(`example.${name}`, '192.0.2.102') })
        return repository.open(`next-${name}`)
      })
      expect((await repository.plan(more[0] as number)).status).toBe(0)
      expect(await repository.merge(...more)).toMatchObject({
        status: 3,
        summary: expect.stringMatching(/## Applied the reviewed plan.*example\.com.*## Planned again.*example\.net/s),
      })
      expect(mutations()).toBe(before + 1)
    })
  })

  test('warnings about what changes are in the comment, and others are not', async () => {
    // In octoDNS's layout, a target without the final dot is only a warning, one for the whole file.
    const undotted = ['r1', 'r2'].map((name) => `${name}: {type: CNAME, value: host.example.edu}\n`).join('')
    const www = 'www: {type: CNAME, value: example.com.}\nx-old: {type: CNAME, value: gone.example.com.}\n'
    const old = `'': {type: A, value: 192.0.2.1}\n${undotted}${www}`
    await repository.push({ 'zones/example.com.yaml': old })
    await repository.applyMain()
    repository.commit('warned', { 'zones/example.com.yaml': `${old}y-new: {type: CNAME, value: lost.example.com.}\n` })
    const number = repository.open('warned')
    expect((await repository.plan(number)).status).toBe(0)
    const [comment = ''] = commentsOn(repository, number)
    expect(comment.match(/warning\[target-nonexistent\] \S+/g)).toEqual(['warning[target-nonexistent] y-new.example.com.'])
    expect(comment.match(/warning\[target-relative\]/g)).toHaveLength(1)
  })

  test('a conflict with the base replaces the comment', async () => {
    repository.commit('conflict', { 'zones/example.org.yaml': zone('example.org', '192.0.2.41') })
    const number = repository.open('conflict')
    expect((await repository.plan(number)).status).toBe(0)
    await repository.push({ 'zones/example.org.yaml': zone('example.org', '192.0.2.42') })
    expect((await repository.plan(number)).status).toBe(1)
    expect(commentsOn(repository, number)).toEqual([
      expect.stringMatching(/^(?!.*2\.41).*conflicts with <code>main<\/code>.*nothing is planned/s),
    ])
  })
}

describeWithTools(['git', 'bash', 'curl', 'unzip', 'zip'], 'from pull request to merge', story(openRepository))
describeWithTools(ACT_TOOLS, 'from pull request to merge, with act', story(openActRepository), LONG_SERVERS)
