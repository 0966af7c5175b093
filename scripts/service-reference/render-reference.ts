/** Renders the pages of `docs/service-reference/` from the declarations of the service's operations. */

import type { RequiredGrants } from '../../src/service/api/grants.ts'
import { ERROR_DESCRIPTIONS, errorStatuses, sectionOf } from '../../src/service/api/openapi.ts'
import type { Route } from '../../src/service/api/route.ts'
import { scopesOf } from '../../src/service/api/route.ts'
import { anchorOf, fieldTable, linkTo, type Records, type Schema } from './describe-schema.ts'

/** A file of the reference and its content. */
export interface Page {
  readonly file: string
  readonly text: string
}

const HEAD = '<!-- Made by `npm run update-reference` from the declarations in src/service/api. -->\n'

/** One page per section of the API, and an index page. */
export function renderReference(routes: readonly Route[]): readonly Page[] {
  const sections = new Map<string, Route[]>()
  for (const route of routes) {
    const section = sectionOf(route.path)
    const listed = sections.get(section)
    if (listed) listed.push(route)
    else sections.set(section, [route])
  }
  const pages = [...sections].map(([section, listed]) => ({ file: fileOf(section), text: pageOf(section, listed) }))
  return [{ file: 'README.md', text: indexOf(sections) }, ...pages]
}

const fileOf = (section: string): string => `${section.toLowerCase()}.md`

function indexOf(sections: ReadonlyMap<string, readonly Route[]>): string {
  const lists = [...sections].map(([section, routes]) => {
    const rows = routes.map((route) => {
      const name = nameOf(route)
      return `| [\`${name}\`](${fileOf(section)}#${anchorOf(name)}) | ${route.summary} | ${scopeText(route)} |`
    })
    return `## ${section}\n\n| operation | | scope |\n| --- | --- | --- |\n${rows.join('\n')}\n`
  })
  return `${HEAD}
# Reference of the service

Every operation with its scope, grants, fields and errors. Paths are relative to the base URL, which ends in \`/v4\`. What holds for all of
them, and what is behind the fields, is in [the service](../service.md). The same as OpenAPI 3.1: \`GET /v4/openapi.json\`.

| status | |
| --- | --- |
${Object.entries(ERROR_DESCRIPTIONS)
  .map(([status, meaning]) => `| ${status} | ${meaning} |`)
  .join('\n')}

${lists.join('\n')}`
}

function pageOf(section: string, routes: readonly Route[]): string {
  const records: Records = new Map()
  const operations = routes.map((route) => operationText(route, records))
  const told: string[] = []
  // Records may refer to further ones.
  for (const [title, schema] of records) told.push(`### ${title}\n\n${fieldTable(schema, records)}`)
  const tail = told.length === 0 ? '' : `\n## Objects\n\n${told.join('\n')}`
  return `${HEAD}\n# ${section}\n\n${operations.join('\n')}${tail}`
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`

function operationText(route: Route, records: Records): string {
  const { summary, body, filter, grants } = route
  const facts = [
    `- Scope: ${scopeText(route)}`,
    `- Grants: ${grantsText(grants)}`,
    ...(filter === undefined ? [] : [`- List, with \`page\` and \`page_size\`; \`X-Filter\` knows ${fieldsText(Object.keys(filter))}`]),
    ...(route.rate === undefined ? [] : [`- At most ${route.rate.requests} requests in ${route.rate.seconds} seconds`]),
    `- Answer: ${answerText(route, records)}`,
    `- Errors: ${errorStatuses(route).join(', ')}`,
  ]
  const request = body === undefined ? '' : `\nRequest:\n\n${fieldTable(body, records)}`
  return `## ${nameOf(route)}\n\n${summary}.\n\n${facts.join('\n')}\n${request}`
}

function scopeText(route: Route): string {
  const scopes = scopesOf(route).map((scope) => `\`${scope}\``)
  const needed = scopes.length === 0 ? 'none' : scopes.join(' and ')
  return route.open ? (scopes.length === 0 ? 'open to all' : `${needed}; open to all without a token`) : needed
}

function grantsText(grants: RequiredGrants | null): string {
  if (grants === null) return 'none'
  const parts = [
    ...(grants.unrestricted ? ['unrestricted users only'] : []),
    ...(grants.object ? [`\`${grants.object.permissions}\` on the ${grants.object.kind}`] : []),
    ...(grants.global ? [`\`${grants.global}\``] : []),
  ]
  return parts.join(' and ') || 'none'
}

function answerText({ response, noContent }: Route, records: Records): string {
  const schema = response as Schema
  const items = schema.properties?.data?.items
  const text =
    items?.title !== undefined
      ? `a page of ${linkTo(items, records)}`
      : schema.title !== undefined
        ? linkTo(schema, records)
        : items !== undefined
          ? 'a page of the list'
          : 'an empty object'
  return noContent === undefined ? text : `${text}; 204 without a body: ${noContent}`
}

const fieldsText = (fields: readonly string[]): string => fields.map((field) => `\`${field}\``).join(', ') || 'no field'
