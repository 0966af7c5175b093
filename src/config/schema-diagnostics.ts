import type { Diagnostic, SourcePosition } from '../base/diagnostic.ts'
import { type SchemaError, TYPE_NAMES } from '../base/json-schema.ts'
import { didYouMean } from '../base/nearest-word.ts'
import type { YamlNode } from '../definition/yaml/yaml-node.ts'
import { keyPosition, nodeAt, pointerSteps, positionAt } from '../definition/yaml/yaml-node.ts'
import { parseTtl } from '../dns/ttl.ts'

/** The diagnostics for the errors of the schema validator, with their positions in the file. */
export function schemaDiagnostics(root: YamlNode, errors: readonly SchemaError[]): Diagnostic[] {
  // The validator reports a bad name twice, and the errors within an `if`, an `anyOf` and a `oneOf` once more for the whole.
  return errors
    .filter((error) => error.propertyName === undefined && error.keyword !== 'if' && !/\/(?:anyOf|oneOf)\/[0-9]+\//.test(error.schemaPath))
    .filter((error) => error.keyword !== 'oneOf' || nodeAt(root, pointerSteps(error.instancePath))?.kind === 'mapping')
    .map((error) => {
      const path = pointerSteps(error.instancePath)
      const what = path.length === 0 ? 'the file' : `"${path.join('.')}"`
      const at = positionAt(root, path)
      switch (error.keyword) {
        case 'additionalProperties': {
          const key = String(error.params['additionalProperty'])
          const node = nodeAt(root, path)
          const known = Object.keys(error.parentSchema?.['properties'] ?? {})
          return {
            severity: 'error',
            code: 'schema-unknown-key',
            message: `unknown key "${[...path, key].join('.')}"`,
            at: (node?.kind === 'mapping' && keyPosition(node, key)) || at,
            hint: didYouMean(key, known) ?? `the keys allowed here are ${known.join(', ')}`,
          }
        }
        case 'required':
          return {
            severity: 'error',
            code: 'schema-missing-key',
            message: `${what} needs the key "${String(error.params['missingProperty'])}"`,
            at,
            hint: hasKey(root, path, 'class')
              ? '"class" belongs to octoDNS: import its configuration with "zonewright import octodns FILE"'
              : formHint([String(error.params['missingProperty'])], error),
          }
        case 'type':
          return {
            severity: 'error',
            code: 'schema-type',
            message: `${what} must be ${typeNames(error.params['type'])}${path.at(-1) === 'timeout' ? ' of seconds' : ''}${actualText(root, path, error)}`,
            at,
            hint: typeHint(root, path, error),
          }
        case 'anyOf':
          return {
            severity: 'error',
            code: 'schema-missing-key',
            message: `${what} needs the key ${alternativeKeys(error)}`,
            at,
            hint: formHint(branchesOf(error).flat(), error),
          }
        case 'oneOf': {
          const isMissing = error.params['passingSchemas'] === null
          return {
            severity: 'error',
            code: isMissing ? 'schema-missing-key' : 'schema-value',
            message: `${what} ${isMissing ? 'needs' : 'can only have'} the key ${alternativeKeys(error)}`,
            at,
          }
        }
        case 'enum':
          if (path[0] === 'providers' && path.length === 3 && path[2] === 'type') return unknownType(root, path, error, at)
          return {
            severity: 'error',
            code: 'schema-value',
            message: `${what} must be one of ${listed(error.params['allowedValues'])}${actualText(root, path, error)}`,
            at,
            hint: suggestion(root, path, error.params['allowedValues']),
          }
        case 'pattern':
          if (error.params['pattern'] !== '@') break
          return {
            severity: 'error',
            code: 'schema-value',
            message: `${what} is not a mail address`,
            at,
            hint: 'such as hostmaster@example.com',
          }
        case 'minLength':
          return {
            severity: 'error',
            code: 'schema-value',
            message: error.params['limit'] === 1 ? `${what} is empty` : `${what} is too short`,
            at,
          }
        case 'propertyNames':
          return {
            severity: 'error',
            code: 'schema-value',
            message: `"${String(error.params['propertyName'])}" is not a valid name`,
            at: keyPlaceAt(root, path, String(error.params['propertyName'])) ?? at,
            hint: 'use letters, digits, hyphens, underscores and dots',
          }
      }
      return { severity: 'error', code: 'schema-value', message: `${what} ${error.message ?? 'is not allowed'}`, at }
    })
}

/** The keys of which one is required: `"a" or "b"`. Every `anyOf` and `oneOf` of the schema is such a list. */
function alternativeKeys(error: SchemaError): string {
  return branchesOf(error)
    .map((required) => `"${required.join('" and "')}"`)
    .join(', or ')
    .replace(/^("[^"]*"), or (?="[^"]*"$)/, '$1 or ')
}

const branchesOf = ({ keyword, parentSchema }: SchemaError): (readonly string[])[] =>
  (parentSchema as Readonly<Record<string, { readonly required: readonly string[] }[]>>)[keyword]?.map(({ required }) => required) ?? []

/** How the values of keys are written. */
const FORMS: Readonly<Record<string, string>> = {
  token: 'env:NAME or file:PATH',
  base_url: 'https://…',
  directory: 'PATH',
  server: '192.0.2.53',
  reload: '"rndc reload {zone}"',
}

type Choice = { readonly enum?: readonly string[] }

/** How keys that are missing, or the one whose value has the wrong type, are written; undefined if that is not known of all. */
function formHint(keys: readonly string[], { parentSchema }: SchemaError): string | undefined {
  const properties = parentSchema?.['properties'] as Readonly<Record<string, Choice & { readonly else?: Choice }>> | undefined
  const forms = keys.map((key) => {
    const choices = properties?.[key]?.enum ?? properties?.[key]?.else?.enum
    return FORMS[key] ?? (choices && `${choices.length > 1 ? 'one of ' : ''}${choices.join(', ')}`)
  })
  return forms.includes(undefined) ? undefined : `write ${keys.map((key, i) => `${key}: ${forms[i]}`).join(', or ')}`
}

function unknownType(root: YamlNode, path: readonly string[], { params }: SchemaError, at: SourcePosition): Diagnostic {
  const node = nodeAt(root, path)
  const type = node?.kind === 'scalar' ? node.text : ''
  const types = (params['allowedValues'] as readonly string[]).map(String)
  return {
    severity: 'error',
    code: 'provider-unknown',
    message: `${path.slice(0, 2).join('.')}: ${type === '' ? 'the provider has no valid type' : `there is no provider type ${JSON.stringify(type)}`}`,
    at,
    hint: didYouMean(type, types) ?? `the types are ${types.join(', ')}`,
  }
}

function hasKey(root: YamlNode, path: readonly string[], key: string): boolean {
  const node = nodeAt(root, path)
  return node?.kind === 'mapping' && keyPosition(node, key) !== undefined
}

const typeNames = (type: unknown): string =>
  [type]
    .flat()
    .map((one) => TYPE_NAMES[String(one)] ?? String(one))
    .join(' or ')

function typeHint(root: YamlNode, path: readonly string[], error: SchemaError): string | undefined {
  const { type } = error.params
  if (type === 'string') return 'put quotes around a number that should be text'
  const keys = Object.keys(error.parentSchema?.['properties'] ?? {})
  if (type === 'object') return keys.length === 0 ? undefined : `its keys are ${keys.join(', ')}`
  const node = nodeAt(root, path)
  const ttl = node?.kind === 'scalar' && path.at(-1) === 'timeout' ? parseTtl(node.text) : null
  if (ttl?.ok) return `write ${ttl.value}`
  if (type === 'array' && node?.kind === 'mapping') return `write ${path.at(-1)}: [{${node.entries[0]?.key.text}: …}]`
  const number = type === 'number' && node?.kind === 'scalar' ? /^([0-9.]+)%$/.exec(node.text)?.[1] : undefined
  return number === undefined ? formHint([path.at(-1) ?? ''], error) : `write ${number}`
}

/** What is in place of a number, list or mapping. What should be text may be a secret. */
function actualText(root: YamlNode, path: readonly string[], { params }: SchemaError): string {
  if ([params['type']].flat().includes('string')) return ''
  const node = nodeAt(root, path)
  if (node !== undefined && node.kind !== 'scalar') return `, not ${node.kind === 'mapping' ? 'keys with values' : 'a list'}`
  return node?.kind === 'scalar' && /^[\w.%-]{1,12}$/.test(node.text) ? `, not ${JSON.stringify(node.text)}` : ''
}

const listed = (values: unknown): string => (Array.isArray(values) ? values.map(String).join(', ') : '')

function suggestion(root: YamlNode, path: readonly string[], allowed: unknown): string | undefined {
  const node = nodeAt(root, path)
  return node?.kind === 'scalar' && Array.isArray(allowed) ? didYouMean(node.text, allowed.map(String)) : undefined
}

function keyPlaceAt(root: YamlNode, path: readonly string[], key: string): Diagnostic['at'] {
  const node = nodeAt(root, path)
  return node?.kind === 'mapping' ? keyPosition(node, key) : undefined
}
