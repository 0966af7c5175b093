/** The first entry of `providers` in a new config. */
import { printText } from '../definition/yaml/print-yaml.ts'
import { STARTER_TYPES, starterOf } from '../providers/registry.ts'

/** The types of providers whose entry needs nothing but a token. */
export const FIRST_TYPES = STARTER_TYPES

/** The first entry of `providers`, in flow style, and its name. */
export interface FirstProvider {
  readonly name: string
  readonly entry: string
  /** The environment variable with the token; null for that of the service. */
  readonly variable: string | null
}

/**
 * The provider of a new config. `from` is the base URL of a service, the name of a preset, or a type of provider, with another address of its API as
 * `TYPE=URL`. `serviceVariable` is the environment variable with the token of a service.
 */
export function firstProvider(from: string, serviceVariable: string): FirstProvider {
  const [, type = '', url] = /^([a-z0-9]+)(?:=(.*))?$/s.exec(from) ?? []
  const starter = starterOf(type)
  if (starter === null) {
    const address = /^[a-z]+$/.test(from) ? `preset: ${from}` : `base_url: ${printText(from, 'flow')}`
    return { name: 'cloud', entry: `{type: cloud, ${address}, token: 'env:${serviceVariable}'}`, variable: null }
  }
  const settings = Object.entries(starter).map(([key, reference]) => `, ${key}: '${reference}'`)
  const address = url === undefined ? '' : `, base_url: ${printText(url, 'flow')}`
  const variable =
    Object.values(starter)
      .find((reference) => reference.startsWith('env:'))
      ?.slice('env:'.length) ?? null
  return { name: type, entry: `{type: ${type}${address}${settings.join('')}}`, variable }
}
