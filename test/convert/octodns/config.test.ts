import { describe, expect, test } from 'vitest'
import { printConvertedConfig } from '../../../src/convert/octodns/converted-config.ts'
import { convertTarget } from '../../../src/convert/octodns/octodns-provider.ts'
import { isOctodnsConfig, readOctodnsConfig } from '../../../src/convert/octodns/read-octodns-config.ts'
import { readYamlSource } from '../../../src/convert/octodns/yaml-sources.ts'
import type { UnsupportedFeature } from '../../../src/convert/unsupported-features.ts'
import { readYaml } from '../../../src/definition/yaml/read-yaml.ts'
import { anyCharacter, damagedText, fc, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'

/** Any character. fast-check's own arbitrary takes seconds to build. */

const CONFIG = `---
manager:
  max_workers: 2
  processors: [meta]
processors:
  meta: {class: octodns.processor.MetaProcessor}
providers:
  config:
    class: octodns.provider.yaml.YamlProvider
    directory: ./config   # from where octoDNS is started
    default_ttl: 600
    split_extension: .
    shared_filename: all.yaml
    escaped_semicolons: false
  old: {class: octodns.provider.yaml.SplitYamlProvider, directory: ./old, extension: .zone}
  &l linode: {class: octodns_linode.LinodeProvider, token: env/LINODE_TOKEN, page_size: 10}
  route53: {class: octodns_route53.Route53Provider, access_key_id: env/AWS_ACCESS_KEY_ID}
zones:
  example.com.:
    sources: [config]
    targets: [linode, route53]
    processors: [meta]
  alias.example.: {alias: example.com.}
  '*': {sources: [config], targets: [linode], glob: '*.example.org.'}
  '*-rest': {sources: [config, old], targets: route53}
  '*regex': {sources: [config], regex: '^a.*\\.(com|net)\\.$', processors: null}
  '*ahead': {sources: [config], regex: '^(?=a)'}
`

describe("octoDNS's configuration", () => {
  const config = readOctodnsConfig(CONFIG, 'production.yaml')

  test('is recognised as a configuration, not a zone', () => {
    expect(isOctodnsConfig(CONFIG)).toBe(true)
    expect(isOctodnsConfig("'': {type: A, value: 192.0.2.1}\n")).toBe(false)
    expect(isOctodnsConfig('providers: {type: A, value: 192.0.2.1}\n')).toBe(false)
    expect(isOctodnsConfig('\t{')).toBe(false)
  })

  test('is read with its zones and providers', () => {
    expect(config.diagnostics.map(({ severity, code, message }) => `${severity} ${code} ${message.split(' ')[0]}`)).toEqual([
      'warning import-aside manager.max_workers',
    ])
    expect(config.zones).toMatchObject([
      { name: 'example.com.', alias: null, sources: ['config'], targets: ['linode', 'route53'] },
      { name: 'alias.example.', alias: 'example.com.', sources: [], targets: [] },
      { name: null, pattern: expect.any(Function), targets: ['linode'] },
      { name: null, pattern: null, sources: ['config', 'old'], targets: ['route53'] },
      { name: null, pattern: expect.any(Function) },
    ])
    const takes = (i: number, names: readonly string[]): boolean[] => names.map((name) => config.zones[i]?.pattern?.(name) === true)
    expect(takes(2, ['a.example.org.', 'example.org.', 'b.a.example.org.'])).toEqual([true, false, true])
    expect(takes(4, ['a.com.', 'ab.net.', 'b.com.', 'a.org.'])).toEqual([true, true, false, false])
    expect([...config.providers.keys()]).toEqual(['config', 'old', 'linode', 'route53'])
  })

  test('is read with its processors, per zone and global', () => {
    expect(config.globalProcessors).toEqual({ before: ['meta'], after: [] })
    expect(config.processors.get('meta')).toMatchObject({ className: 'octodns.processor.MetaProcessor', settings: {} })
    expect(config.zones.map(({ processors }) => processors)).toEqual([['meta'], [], [], [], []])
  })

  test('is read with a report of everything else', () => {
    expect(config.dropped.map(({ zone, what }) => `${zone ?? ''} ${what}`.trim())).toEqual([
      'the zones of *ahead, which a regular expression selects',
    ])
  })

  test('determines how files are read by its YAML providers', () => {
    const dropped: UnsupportedFeature[] = []
    const sources = [...config.providers.values()].map((provider) => readYamlSource(provider, dropped))
    expect(sources).toEqual([
      {
        name: 'config',
        directory: './config',
        shown: { directory: './config', sharedFile: 'all.yaml' },
        defaultTtl: 600,
        splitExtension: '.',
        hasZoneFiles: true,
        sharedFile: 'all.yaml',
        replaces: false,
        ignoresMissing: false,
        escapesSemicolons: false,
      },
      {
        name: 'old',
        directory: './old',
        shown: { directory: './old', sharedFile: '' },
        defaultTtl: 3600,
        splitExtension: '.zone',
        hasZoneFiles: false,
        sharedFile: null,
        replaces: false,
        ignoresMissing: false,
        escapesSemicolons: true,
      },
      null,
      null,
    ])
    expect(dropped).toEqual([])
  })

  test('has targets only of classes, whose variables have valid names', () => {
    const at = { file: 'a', line: 1, column: 1 }
    const provider = { name: '1-a', className: 'octodns_linode.LinodeProvider', settings: { token: 'plain-secret' }, at }
    expect(convertTarget({ ...provider, className: 'not a class' }, [])).toBeNull()
    expect(convertTarget(provider, [])?.settings['token']).toBe('env:_1_A_TOKEN')
  })

  test.each([
    ['env/NAME is a variable', { directory: 'env/DIR', default_ttl: 'env/TTL/60' }, { directory: './there', defaultTtl: 60 }, []],
    ['is null if the environment does not have it', { directory: 'env/GONE' }, { directory: null }, []],
    ['no path is taken for a variable', { directory: './env/DIR' }, { directory: './env/DIR' }, []],
    ['booleans of YAML 1.1', { populate_should_replace: 'yes', ignore_missing_zones: 'on' }, { replaces: true, ignoresMissing: true }, []],
    ['a TTL that is none', { default_ttl: '1h' }, { defaultTtl: 3600 }, ['default_ttl of the provider a, which is not a TTL']],
    ['an unknown key', { surprise: 1 }, {}, ['surprise of the provider a']],
    ['keys of targets do nothing at a source', { strict_supports: false, apply_disabled: true, supports_root_ns: false }, {}, []],
  ])('%s', (_, settings, expected, named) => {
    const dropped: UnsupportedFeature[] = []
    const at = { file: 'a', line: 1, column: 1 }
    const provider = { name: 'a', className: 'octodns.provider.yaml.YamlProvider', settings, at }
    expect(readYamlSource(provider, dropped, { DIR: './there' })).toMatchObject(expected)
    expect(dropped.map(({ what }) => what)).toEqual(named)
  })

  test.each([
    ['env/A/secret-default', 'env:A', ['the default for the token of the provider a if A is not set']],
    ['vault/secret', 'env:A_TOKEN', ['the token of the provider a from the secret handler vault: set A_TOKEN in the environment']],
    ['plain/secret', 'env:A_TOKEN', ['the token of the provider a as plain text: set A_TOKEN in the environment']],
  ])('the token %s is carried as a reference', (token, reference, named) => {
    const dropped: UnsupportedFeature[] = []
    const provider = { name: 'a', className: 'octodns_linode.LinodeProvider', settings: { token }, at: { file: 'a', line: 1, column: 1 } }
    expect(convertTarget(provider, dropped, { secretHandlers: new Set(['vault']) })?.settings?.['token']).toBe(reference)
    expect(dropped.map(({ what }) => what)).toEqual(named)
    expect(JSON.stringify(dropped)).not.toContain('secret-default')
  })

  test('is converted to valid YAML for any names', () => {
    forAll(rounds(100), fc.array(fc.string({ unit: anyCharacter, maxLength: 12 }), { minLength: 1, maxLength: 4 }), (names) => {
      const distinct = [...new Set(names)]
      const targets = distinct.map((name) => ({ name, settings: { type: 'cloud' } }))
      const rules = [{ files: names, targets: distinct }]
      const text = printConvertedConfig({ from: names.join(''), defaultTtl: 60, splitExtension: names[0] ?? '.', targets, rules })
      const { root, diagnostics } = readYaml(text, { file: '' })
      expect(diagnostics).toEqual([])
      const providers = root?.kind === 'mapping' ? root.entries.find(({ key }) => key.text === 'providers')?.value : undefined
      expect(providers?.kind === 'mapping' && providers.entries.map(({ key }) => key.text)).toEqual(distinct)
    })
  })
})

const PIECES = [...'{ } [ ] * *a \n \t " ~ .. \u0000 #'.split(' '), ...['&a ', '<<: ', '!include x', ': ', '- ', "'", 'class: ', 'alias: ']]

test('malformed configurations are read, or reported with positions, within a time limit', () => {
  forAll(rounds(400), damagedText([CONFIG], PIECES, { maxLength: 6 }), (text) => {
    const value = readOctodnsConfig(text, 'production.yaml')
    for (const { at, message } of value.diagnostics) expect([at?.file, message.length < 1000]).toEqual(['production.yaml', true])
    const dropped: UnsupportedFeature[] = []
    for (const provider of value.providers.values()) if (readYamlSource(provider, dropped) === null) convertTarget(provider, dropped)
    expect(value.zones.length + value.diagnostics.length + value.dropped.length).toBeGreaterThan(0)
  })
})
