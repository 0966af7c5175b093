/** docs/providers.md: the settings of each type of provider and what it supports, from its schema, its capabilities and `notes.ts`. */
import { readFileSync } from 'node:fs'
import type { Capabilities } from '../../src/plan/capabilities.ts'
import { CAPABILITY_SUBJECTS, type CapabilitySubject, describeCapabilities } from '../../src/report/describe-capabilities.ts'
import { PROVIDER_NOTES, type ProviderNotes, requestsOf } from './notes.ts'

/** The size of zone in the table of requests. */
const LARGE = 12_000

/** The page as Markdown. `types`: every type of provider with its capabilities. */
export function renderProvidersPage(types: readonly (readonly [type: string, capabilities: Capabilities])[]): string {
  const described = types.map(([type, capabilities]) => {
    const notes = PROVIDER_NOTES[type]
    if (notes === undefined) throw new Error(`scripts/providers-page/notes.ts has nothing about the provider type ${type}`)
    const facts = describeCapabilities(capabilities)
    return { type, notes, facts: { ...facts, conflict: notes.conflict ?? facts.conflict, newZones: notes.newZones ?? facts.newZones } }
  })
  const columns = (...subjects: readonly CapabilitySubject[]): string =>
    table(
      ['provider', ...subjects.map((subject) => CAPABILITY_SUBJECTS[subject])],
      described.map(({ type, facts }) => [link(type), ...subjects.map((subject) => facts[subject])]),
    )
  return `# Providers

Each type of provider with its settings and limits. The settings that every type has are in [the configuration](configuration.md#providers). This page is written by \`npm run update-providers-page\` from the capabilities that plans use, and a test checks it.
\`zonewright providers\` prints the same for the providers of your config, also for those from [packages](contributors/writing-a-provider.md).

## Choosing a provider

${table(
  ['your zones are', 'type', 'set it up'],
  described.flatMap(({ type, notes: { when, setup, variant } }) => [
    [when, link(type), page(setup)],
    ...(variant === undefined ? [] : [[variant.when, `${link(type)} ${variant.settings}`, page(variant.setup)]]),
  ]),
)}
## Requests and preconditions

${columns('call', 'whole', 'conflict', 'newZones')}
## Zone limits

${columns('limit', 'apexNs', 'soa')}
Types and TTLs are in the sections below.

## Requests per plan

For one zone that exists, measured by a test at real servers:

${table(
  ['provider', 'requests', `for ${LARGE.toLocaleString('en-US')} records`],
  described.flatMap(({ type, notes: { requests, variant } }) => [
    [link(type), requests.words, String(requestsOf(requests, LARGE))],
    ...(variant === undefined ? [] : [[`${link(type)} ${variant.settings}`, variant.requests, '']]),
  ]),
)}
## Evidence

The tests run at real servers where there are any. For a hosted service they run at our imitation of it, which must give the answers of every recorded exchange and work with unchanged clients of others. What a service
has changed since its exchanges were recorded, or what they do not show, is known from its documents alone.

${table(
  ['provider', 'judged by', 'exchanges recorded in'],
  described.map(({ type, notes: { judges, recorded } }) => [link(type), judges, recorded === undefined ? '–' : String(recorded)]),
)}
${described.map(section).join('\n')}`
}

function section({
  type,
  notes,
  facts,
}: {
  type: string
  notes: ProviderNotes
  facts: Readonly<Record<CapabilitySubject, string>>
}): string {
  const rows = Object.entries(CAPABILITY_SUBJECTS).map(([subject, label]) => [label, facts[subject as CapabilitySubject]])
  const remarks = notes.remarks.map((remark) => `- ${remark}\n`).join('')
  return `## ${type}

${notes.title}: [how to set it up](${notes.setup}).

${table(['', ''], [...rows, ['requests of a `plan`', notes.requests.words]])}
${remarks}
${table(['setting', 'meaning'], settingsOf(readSchema(type)))}`
}

interface Schema {
  readonly description?: string
  readonly enum?: readonly string[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}

const readSchema = (type: string): Schema =>
  JSON.parse(readFileSync(new URL(`../../src/providers/${type}/settings.schema.json`, import.meta.url), 'utf8'))

/** The settings that every type has, which docs/configuration.md describes. */
const COMMON: ReadonlySet<string> = new Set(['type', 'parallelism', 'timeout'])

/** Rows of settings, required ones in bold, those of an object below it. */
const settingsOf = ({ properties = {}, required = [] }: Schema, parent = ''): string[][] =>
  Object.entries(properties)
    .filter(([key]) => !COMMON.has(key))
    .flatMap(([key, schema]) => {
      const name = `\`${parent}${key}\``
      const choices = schema.enum === undefined ? '' : ` One of ${schema.enum.map((one) => `\`${one}\``).join(', ')}.`
      const row = [required.includes(key) && parent === '' ? `**${name}**` : name, `${schema.description ?? ''}${choices}`.trim()]
      return [row, ...settingsOf(schema, `${parent}${key}.`)]
    })

const page = (setup: string): string => `[${setup.replace(/#.*/, '')}](${setup})`

const link = (type: string): string => `[\`${type}\`](#${type})`

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  `${[header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n')}\n`
