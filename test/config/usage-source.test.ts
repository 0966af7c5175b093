import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'

const PLACE = { file: 'zonewright.yaml', folder: '/srv/dns', cwd: '/srv' }
const read = (text: string) => readConfig(`${text}\n`, PLACE)
const messages = (text: string): string[] => read(text).diagnostics.map(({ message, at }) => `${at?.line}:${at?.column} ${message}`)

describe('usage', () => {
  test('names files relative to the config, and addresses; by default a name is in use for a day', () => {
    const { config } = read('usage: {source: [usage.csv, "https://ns1.example.net/usage?key=x"]}')
    expect(config?.usage.inUse).toBe(86_400)
    expect(config?.usage.sources).toMatchObject([
      { path: '/srv/dns/usage.csv', shown: 'dns/usage.csv' },
      { path: null, shown: 'https://ns1.example.net/usage' },
    ])
    expect(read('usage: {source: u.csv, in_use: 7d}').config?.usage).toMatchObject({ inUse: 604_800, sources: [{ shown: 'dns/u.csv' }] })
    expect(read('').config?.usage).toEqual({ sources: [], inUse: 86_400 })
  })

  test.each([
    ['usage: {source: "ftp://ns1.example.net/usage"}', '1:17 usage.source: an address begins with https:// or http://'],
    ['usage: {source: [a, "https://u:secret@ns1.example.net/"]}', '1:21 usage.source: an address cannot have a user name or password'],
    ['usage: {in_use: soon}', '1:17 usage.in_use: "soon" is not a TTL: use seconds or a number with s, m, h, d or w, such as 300 or 1h'],
    ['usage: {in_use: 0}', '1:17 usage.in_use: must be more than 0'],
  ])('%s is an error with its place', (text, message) => expect(messages(text)).toEqual([message]))
})

test('allow takes the name that may be deleted although it is in use', () => {
  expect(read('zones: [{allow: [deletes, in-use, "in-use:Bücher.example"]}]').config?.zoneRules[0]?.allow).toEqual([
    'deletes',
    'in-use',
    'in-use:xn--bcher-kva.example.',
  ])
  expect(messages('zones: [{allow: ["in-use:a..b"]}]')[0]).toMatch(/^1:18 allow: "in-use:a\.\.b": /)
})
